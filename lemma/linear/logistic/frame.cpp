// lemma/linear/logistic/frame.cpp: the first look at the rows.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/math/column_moments.hpp>

namespace lemma::logit {
namespace {

constexpr double kLargestFactor = 1e150;  // its square is still a number
constexpr double kFarOff = 1e3;           // mean over deviation from which on columns are centred before use
constexpr double kSmallUnit = 1e-70, kLargeUnit = 1e70;
constexpr Index kRowsAtOnce = 16'384;
constexpr double kNoSpread = 1e-14;  // deviation over mean that is rounding

double xlogx(double x) { return x > 0 ? x * std::log(x) : 0.0; }

struct Response {
  bool of_classes;
  double count[2] = {0, 0};                   // weight of the rows of each class
  double weight = 0, sum = 0, saturated = 0;  // of proportions
  double least = 0, greatest = 1;

  void accumulate(const Block& block) { accumulate(block, block.rows()); }
  void accumulate(const Block& block, Index rows) {
    for (Index i = 0; i < rows; ++i) {
      const double w = block.weight_of(i);
      weight += w;
      if (of_classes) {
        count[block.label[static_cast<std::size_t>(i)]] += w;
        continue;
      }
      const double y = block.y[static_cast<std::size_t>(i)];
      sum += w * y;
      saturated -= w * (xlogx(y) + xlogx(1 - y));
      least = std::min(least, y);
      greatest = std::max(greatest, y);
    }
  }
  void merge(const Response& other) {
    for (const int k : {0, 1}) count[k] += other.count[k];
    weight += other.weight;
    sum += other.sum;
    saturated += other.saturated;
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

struct FirstLook {
  Response response;
  ColumnMoments columns;
  void accumulate(const Block& block) {
    response.accumulate(block);
    columns.accumulate(block);
  }
  void merge(const FirstLook& other) {
    response.merge(other.response);
    columns.merge(other.columns);
  }
};

void take_response(Frame& frame, const Logistic& spec, const Rows& rows, const Response& response) {
  frame.rows_weight = response.weight;
  if (!(response.weight > 0)) throw Error("logistic: all weights are 0, so there are no rows to learn from");
  if (!frame.of_classes) {
    if (!(response.least >= 0 && response.greatest <= 1))
      throw Error(fmt::format(
          "logistic: {} is {:.6g} somewhere; a response must be one of two classes, or a proportion "
          "from 0 to 1; use factor({}) for classes that are written as numbers",
          rows.target.empty() ? "the response" : "'" + rows.target + "'",
          response.least < 0 ? response.least : response.greatest, rows.target.empty() ? "y" : rows.target));
    frame.mass = response.weight;
    frame.response = response.sum;
    frame.saturated = response.saturated;
    return;
  }
  const auto factors =
      class_factors(Logistic::name, spec.class_weights, {response.count[0], response.count[1]}, rows.classes);
  for (const int k : {0, 1}) frame.class_factor[k] = factors[static_cast<std::size_t>(k)];
  frame.response = frame.class_factor[1] * response.count[1];
  frame.mass = frame.class_factor[0] * response.count[0] + frame.response;
}

/// As below; `sparse`: columns are not moved, so that zeros stay zeros.
void take_columns(Frame& frame, const Vector& mean, const Vector& deviation, bool standardize, bool sparse) {
  const Index p = mean.size();
  frame.mean = frame.intercept && !sparse ? mean : Vector::Zero(p);
  frame.inverse_scale = Vector::Zero(p);
  frame.factor = Vector::Ones(p);
  for (Index j = 0; j < p; ++j) {
    const double spread = deviation(j);
    if (!(spread > kNoSpread * std::abs(mean(j)))) continue;
    frame.inverse_scale(j) = 1 / spread;
    if (!standardize) frame.factor(j) = std::min(1 / spread, kLargestFactor);
    if (!sparse)
      frame.prepare =
          frame.prepare || std::abs(mean(j)) > kFarOff * spread || spread < kSmallUnit || spread > kLargeUnit;
  }
}

/// Means and standard deviations of columns that are mostly 0, about the mean: Σ w x² / n − mean² loses nothing that
/// matters to a scale.
void sparse_moments(const Csr& x, const Rows& rows, Vector& mean, Vector& deviation) {
  Vector sum = Vector::Zero(x.width), weight_of_entries = sum, centred = sum;
  BlockBuffer buffer;
  std::vector<double> weight;
  if (rows.has_weights) {
    for (Index first = 0; first < x.rows(); first += kRowsAtOnce) {
      const Block block = rows.outcome(first, std::min(kRowsAtOnce, x.rows() - first), buffer);
      weight.insert(weight.end(), block.weight.begin(), block.weight.end());
    }
  }
  const auto weight_of = [&](Index i) { return weight.empty() ? 1.0 : weight[static_cast<std::size_t>(i)]; };
  double n = 0;
  const auto each = [&](auto&& visit) {
    for (Index i = 0; i < x.rows(); ++i)
      for (auto k = static_cast<std::size_t>(x.start[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(x.start[static_cast<std::size_t>(i) + 1]); ++k)
        visit(weight_of(i), x.column[k], x.value[k]);
  };
  for (Index i = 0; i < x.rows(); ++i) n += weight_of(i);
  each([&](double w, std::int32_t j, double v) {
    sum(j) += w * v;
    weight_of_entries(j) += w;
  });
  mean = sum / n;
  each([&](double w, std::int32_t j, double v) { centred(j) += w * (v - mean(j)) * (v - mean(j)); });
  deviation = ((centred.array() + (n - weight_of_entries.array()).max(0.0) * mean.array().square()) / n).sqrt();
}

}  // namespace

Vector Frame::users(const Vector& beta) const {
  Vector out(beta.size());
  out.tail(width()) = beta.tail(width()).cwiseProduct(inverse_scale);
  out(0) = intercept ? beta(0) - mean.dot(out.tail(width())) : 0.0;
  return out;
}

Vector Frame::inner(const Vector& coefficients) const {
  Vector out(coefficients.size());
  for (Index j = 0; j < width(); ++j) out(j + 1) = inverse_scale(j) > 0 ? coefficients(j + 1) / inverse_scale(j) : 0.0;
  out(0) = intercept ? coefficients(0) + mean.dot(coefficients.tail(width())) : 0.0;
  return out;
}

void take_columns(Frame& frame, std::string_view method, const Rows& rows, const ColumnMoments& columns,
                  bool standardize, const Execution& execution) {
  const double n = frame.rows_weight;
  const Vector deviation = columns.deviation() * (n > 1 ? std::sqrt((n - 1) / n) : 0.0);
  const bool whole = (columns.weight().array() == n).all() && columns.mean().allFinite() && deviation.allFinite();
  if (!whole) {
    require_finite(rows, execution);
    for (Index j = 0; j < rows.width(); ++j)
      if (!std::isfinite(deviation(j)) || !std::isfinite(columns.mean()(j)))
        throw Error(fmt::format(
            "{}: the values of '{}' are so large that their spread is not finite; divide them by a constant", method,
            rows.features[static_cast<std::size_t>(j)]));
  }
  take_columns(frame, columns.mean(), deviation, standardize, false);
}

Frame update_frame(const LogisticModel& model, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution);
  Frame frame;
  frame.intercept = model.spec.intercept;
  frame.of_classes = model.of_classes;
  require(frame.of_classes == !rows.classes.empty(),
          "logistic: the model and the rows do not have the same kind of response");
  for (const int k : {0, 1}) frame.class_factor[k] = model.class_factors(k);
  frame.mean = Vector::Zero(rows.width());
  frame.inverse_scale = frame.factor = Vector::Ones(rows.width());
  const Response response = scan(rows, Response{frame.of_classes}, execution);
  frame.rows_weight = response.weight;
  frame.saturated = response.saturated;
  frame.response = frame.of_classes ? frame.class_factor[1] * response.count[1] : response.sum;
  frame.mass = frame.of_classes ? frame.class_factor[0] * response.count[0] + frame.response : response.weight;
  if (!(response.weight > 0)) throw Error("logistic: all weights are 0, so there are no rows to learn from");
  if (!(response.least >= 0 && response.greatest <= 1))
    throw Error(fmt::format("logistic: a response is {:.6g}; a proportion must be from 0 to 1",
                            response.least < 0 ? response.least : response.greatest));
  return frame;
}

Frame learn_frame(const Logistic& spec, const Rows& rows, const Execution& execution) {
  Frame frame;
  frame.intercept = spec.intercept;
  frame.of_classes = !rows.classes.empty();
  if (rows.has_weights || rows.has_offset || !frame.of_classes) require_finite(rows, execution.part(0, 0.3));
  if (const Csr* x = rows.sparse()) {
    for (const double v : x->value)
      if (!std::isfinite(v)) require_finite(rows, execution);
    Response response{frame.of_classes};
    BlockBuffer buffer;
    for (Index first = 0; first < rows.count(); first += kRowsAtOnce) {
      const Index size = std::min(kRowsAtOnce, rows.count() - first);
      response.accumulate(rows.outcome(first, size, buffer), size);
    }
    take_response(frame, spec, rows, response);
    Vector mean = Vector::Zero(x->width), deviation = Vector::Ones(x->width);
    if (spec.standardize) sparse_moments(*x, rows, mean, deviation);  // else they are taken as they are
    take_columns(frame, mean, deviation, spec.standardize, true);
    return frame;
  }
  const FirstLook look =
      scan(rows, FirstLook{Response{frame.of_classes}, ColumnMoments(rows.width())}, execution.part(0.3, 1));
  take_response(frame, spec, rows, look.response);
  take_columns(frame, Logistic::name, rows, look.columns, spec.standardize, execution);
  return frame;
}

}  // namespace lemma::logit
