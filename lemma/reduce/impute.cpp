// lemma/reduce/impute.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/reduce/impute.hpp>
#include <lemma/reduce/impute/order.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-9;

void require_weights(const Rows& rows, const Execution& execution) {
  for_each_block(rows, execution, [](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      if (const double w = block.weight_of(i); !(w >= 0 && std::isfinite(w)))
        throw Error(
            fmt::format("the weight is {} in row {}; it must be finite and at least 0", w, block.first + i + 1));
  });
}

/// An Error for a column without any value, or with an infinite one.
void require_values(const Rows& rows, const ColumnMoments& moments) {
  for (Index j = 0; j < rows.width(); ++j) {
    const auto& name = rows.features[static_cast<std::size_t>(j)];
    if (moments.weight()(j) == 0)
      throw Error(fmt::format("impute: '{}' has no value at all; leave the column out", name));
    if (!std::isfinite(moments.least()(j)) || !std::isfinite(moments.greatest()(j)))
      throw Error(fmt::format("impute: '{}' holds an infinite value; every value must be finite or missing", name));
  }
}

double sum_of_weights(const Rows& rows, const Execution& execution) {
  struct Weight {
    double sum = 0;
    void accumulate(const Block& block) {
      for (Index i = 0; i < block.rows(); ++i) sum += block.weight_of(i);
    }
    void merge(const Weight& other) { sum += other.sum; }
  };
  return scan(rows, Weight(), execution).sum;
}

/// About each fill: Σ w (x − fill), Σ w |x − fill|, and the weight below, above and at it. Also whether the map does its work.
struct Balance {
  const ImputeModel* model;
  Vector deviation, distance, below, above, at;
  bool filled = true;

  explicit Balance(const ImputeModel& m)
      : model(&m),
        deviation(Vector::Zero(m.width())),
        distance(deviation),
        below(deviation),
        above(deviation),
        at(deviation) {}
  void accumulate(const Block& block) {
    const Matrix z = model->transform(block.x);
    for (Index i = 0; i < z.rows(); ++i)
      for (Index j = 0; j < z.cols(); ++j) {
        const double x = block.x(i, j), w = block.weight_of(i), d = x - model->fill(j);
        filled = filled && (std::isnan(x) ? z(i, j) == model->fill(j) : z(i, j) == x);
        if (std::isnan(x)) continue;
        deviation(j) += w * d;
        distance(j) += w * std::abs(d);
        (d < 0 ? below : d > 0 ? above : at)(j) += w;
      }
  }
  void merge(const Balance& other) {
    deviation += other.deviation;
    distance += other.distance;
    below += other.below;
    above += other.above;
    at += other.at;
    filled = filled && other.filled;
  }
};

double fill_error(Fill with, const Balance& balance, const std::vector<Mode>& modes, Index j) {
  const double present = balance.below(j) + balance.above(j) + balance.at(j), fill = std::abs(balance.model->fill(j));
  if (with == Fill::mean) {
    const double unit = balance.distance(j) + present * fill;
    return unit > 0 ? std::abs(balance.deviation(j)) / unit : 0;
  }
  if (with == Fill::median) return std::max(0.0, std::max(balance.below(j), balance.above(j)) / present - 0.5);
  return (modes[static_cast<std::size_t>(j)].weight - balance.at(j)) / present;
}

}  // namespace

void ImputeModel::check() const {
  require(fill.size() == missing.size(), "impute: fill and missing differ in length");
  require(fill.allFinite(), "impute: a fill is not finite");
}

Matrix ImputeModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix z = x;
  for (Index i = 0; i < z.rows(); ++i)
    for (Index j = 0; j < z.cols(); ++j)
      if (std::isnan(z(i, j))) z(i, j) = fill(j);
  return z;
}

std::string ImputeModel::summary(const Names& names) const {
  std::vector<std::string> features, fills, counts;
  for (Index j = 0; j < width(); ++j) {
    features.push_back(static_cast<std::size_t>(j) < names.features.size() ? names.features[static_cast<std::size_t>(j)]
                                                                           : fmt::format("x{}", j + 1));
    fills.push_back(format_significant(fill(j), 5));
    counts.push_back(format_significant(missing(j), 10));
  }
  TextTable table;
  table.words("Column", features)
      .right("Missing", counts)
      .right(fmt::format("Filled with the {}", name_of(spec.with)), fills);
  return table.str();
}

ImputeModel fit(const Valid<Impute>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  if (rows.has_weights) require_weights(rows, execution);
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution.part(0, 0.2, "means of the columns"));
  require_values(rows, moments);
  ImputeModel model;
  model.spec = *spec;
  model.missing = (sum_of_weights(rows, execution) - moments.weight().array()).max(0.0).matrix();
  if (spec->with == Fill::mean) model.fill = moments.mean();
  if (spec->with == Fill::median) model.fill = medians(rows, moments.weight(), execution.part(0.2, 0.9, "medians"));
  if (spec->with == Fill::mode) {
    model.fill.resize(rows.width());
    const auto found = modes(rows, execution.part(0.2, 0.9, "modes"));
    for (Index j = 0; j < rows.width(); ++j) model.fill(j) = found[static_cast<std::size_t>(j)].value;
  }
  model.certificate = certify(model, rows, execution.part(0.9, 1, "certificate"));
  return model;
}

Certificate certify(const ImputeModel& model, const Rows& rows, const Execution& execution) {
  const auto balance = scan(rows, Balance(model), execution);
  const auto found = model.spec.with == Fill::mode ? modes(rows, execution) : std::vector<Mode>();
  double worst = balance.filled ? 0 : 1;
  const Vector present = balance.below + balance.above + balance.at;
  const double n = sum_of_weights(rows, execution);
  for (Index j = 0; j < model.width(); ++j) {
    const double lacking = std::abs(n - present(j) - model.missing(j)) / n;
    worst += fill_error(model.spec.with, balance, found, j) + lacking;
  }
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "fill values found again";
  out.value = worst;
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message =
      out.holds()
          ? fmt::format(
                "Nothing is missing after the map, and each fill is its column's {} (off by {:.1e}, allowed {:.0e}).",
                name_of(model.spec.with), worst, out.tolerance)
          : fmt::format("A fill is not the {} of its column: off by {:.1e} (allowed {:.0e}).", name_of(model.spec.with),
                        worst, out.tolerance);
  return out;
}

template const Method& method_of<Impute>();

}  // namespace lemma
