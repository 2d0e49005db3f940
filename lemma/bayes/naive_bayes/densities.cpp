// lemma/bayes/naive_bayes/densities.cpp: what a value says of a class, with and without the zeros of the rows.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/naive_bayes/parts.hpp>
#include <lemma/math/special.hpp>
#include <numbers>

namespace lemma {
namespace naive_bayes {
namespace {

[[noreturn]] void fail_negative(Index row, Index column, double value) {
  throw Error(fmt::format("naive_bayes: column {} holds counts and is {:g} in row {}", column + 1, value, row + 1));
}

}  // namespace

Values joined(Values values) {
  std::sort(values.begin(), values.end());
  Values out;
  for (const auto& [v, w] : values)
    if (!out.empty() && out.back().first == v) out.back().second += w;
    else out.emplace_back(v, w);
  return out;
}

double bandwidth_of(const Values& values) {
  if (values.empty()) return 0;
  double n = 0, mean = 0, squares = 0;
  for (const auto& [v, w] : values) n += w;
  for (const auto& [v, w] : values) mean += w / n * v;
  for (const auto& [v, w] : values) squares += w * (v - mean) * (v - mean);
  const auto quantile = [&](double p) {  // type 7 of the copies
    const double place = (n - 1) * p, below = std::floor(place);
    const auto value_at = [&](double copy) {
      double end = 0;
      for (const auto& [v, w] : values)
        if ((end += w) > copy) return v;
      return values.back().first;
    };
    const double low = value_at(below), high = value_at(below + 1);
    return low + (place - below) * (high - low);
  };
  const double deviation = std::sqrt(squares / (n - 1));
  double size = std::min(deviation, (quantile(0.75) - quantile(0.25)) / 1.34);
  if (!(size > 0)) size = deviation;
  if (!(size > 0)) size = std::abs(values[0].first);
  if (!(size > 0)) size = 1;
  return 0.9 * size * std::pow(n, -0.2);
}

std::vector<Values> values_of(const NaiveBayesModel& model, const Layout& layout) {
  std::vector<Values> out(at(model.class_count() * layout.densities));
  Index i = 0;
  for (std::size_t which = 0; which < out.size(); ++which)
    for (int c = 0; c < model.value_counts[which]; ++c, ++i)
      out[which].emplace_back(model.values(i), model.value_weights(i));
  return out;
}

void keep(NaiveBayesModel& model, const std::vector<Values>& values) {
  Index all = 0;
  model.value_counts.clear();
  for (const Values& each : values) {
    model.value_counts.push_back(static_cast<int>(each.size()));
    all += std::ssize(each);
  }
  model.values.resize(all);
  model.value_weights.resize(all);
  Index i = 0;
  for (const Values& each : values)
    for (const auto& [v, w] : each) {
      model.values(i) = v;
      model.value_weights(i++) = w;
    }
}

Densities::Densities(const NaiveBayesModel& model) : model_(model), layout_(model.spec.kinds, model.levels), first_{0} {
  for (const int count : model.value_counts) first_.push_back(first_.back() + count);
}

/// log (1/nh) Σ w φ((x − v) / h), with the nearest value taken out of the sum, so that nothing is lost far from all; values that
/// add less than 1e-30 of it are passed over.
double Densities::of_values(Index k, Index j, double x) const {
  const auto which = at(k * layout_.densities + layout_.place[at(j)]);
  const double *begin = model_.values.data() + first_[which], *end = model_.values.data() + first_[which + 1];
  const double h = model_.deviations(k, j);
  const double* next = std::lower_bound(begin, end, x);
  double nearest = HUGE_VAL;
  if (next != end) nearest = *next - x;
  if (next != begin) nearest = std::min(nearest, x - next[-1]);
  const double least = std::min(nearest / h, 1e150);
  const double reach = h * std::sqrt(least * least + 140);
  double sum = 0;
  for (const double* v = std::lower_bound(begin, end, x - reach); v != end && *v <= x + reach; ++v) {
    const double z = std::min(std::abs(x - *v) / h, 1e150);
    sum += model_.value_weights(v - model_.values.data()) * std::exp(-0.5 * (z - least) * (z + least));
  }
  return std::log(sum / model_.known(k, j)) - 0.5 * least * least - std::log(h) - 0.5 * std::log(2 * std::numbers::pi);
}

double Densities::operator()(Index k, Index j, double x) const {
  if (std::isnan(x)) return 0;
  const double parameter = model_.parameters(k, j);
  switch (layout_.kind[at(j)]) {
    case ColumnKind::gaussian: {
      const double sd = model_.deviations(k, j), z = (x - parameter) / sd;
      return -0.5 * std::log(2 * std::numbers::pi) - std::log(sd) - 0.5 * z * z;
    }
    case ColumnKind::density: return of_values(k, j, x);
    case ColumnKind::bernoulli: return x > 0 ? std::log(parameter) : std::log1p(-parameter);
    case ColumnKind::categorical:
      if (!(x >= 0 && x < layout_.levels[at(j)])) return 0;  // a level that was never seen
      return std::log(model_.level_probabilities(k, layout_.start[at(j)] + static_cast<Index>(x)));
    case ColumnKind::poisson: return x * std::log(parameter) - parameter - log_gamma(x + 1);
    case ColumnKind::multinomial: return x == 0 ? 0 : x * std::log(parameter);
    case ColumnKind::complement: return x == 0 ? 0 : -x * std::log(parameter);
  }
  return 0;
}

void Densities::check(const MatrixView& x) const {
  for (Index j = 0; j < layout_.columns(); ++j)
    if (layout_.counts(j))
      for (Index i = 0; i < x.rows(); ++i)
        if (x(i, j) < 0) fail_negative(i, j, x(i, j));
}

void Densities::check(const Csr& x) const {
  for (Index i = 0; i < x.rows(); ++i)
    for (auto e = at(x.start[at(i)]); e < at(x.start[at(i) + 1]); ++e)
      if (x.value[e] < 0 && layout_.counts(x.column[e])) fail_negative(i, x.column[e], x.value[e]);
}

namespace {

/// δ_k of rows without their zeros: of columns that are mostly 0 what all zeros would say, once, and what each entry changes.
/// Zeros of gaussian, density and categorical columns are looked at one by one: far from 0 their log densities are so large that a
/// difference of two has no digits.
class SparseDecision {
 public:
  SparseDecision(const NaiveBayesModel& model, const Densities& log_density)
      : log_density_(log_density), at_zero_(model.prior.array().log()) {
    const Layout& layout = log_density.layout();
    const Index classes = model.class_count();
    factor_ = Matrix::Zero(layout.columns(), classes);
    place_.assign(at(layout.columns()), -1);
    for (Index j = 0; j < layout.columns(); ++j) {
      const bool one_by_one = layout.is(j, ColumnKind::gaussian) || layout.is(j, ColumnKind::density) ||
                              layout.is(j, ColumnKind::categorical);
      if (one_by_one) {
        place_[at(j)] = std::ssize(one_by_one_);
        one_by_one_.push_back(j);
        continue;
      }
      for (Index k = 0; k < classes; ++k) {
        const double nothing = log_density(k, j, 0);
        at_zero_(k) += nothing;
        if (!layout.is(j, ColumnKind::poisson)) factor_(j, k) = log_density(k, j, 1) - nothing;
      }
    }
  }

  void row(const Csr& x, Index i, Eigen::Ref<Matrix> out) const {
    const Layout& layout = log_density_.layout();
    std::vector<double> shown(one_by_one_.size(), 0.0);
    Vector sum = at_zero_;
    for (auto e = at(x.start[at(i)]); e < at(x.start[at(i) + 1]); ++e) {
      const Index j = x.column[e];
      const double v = x.value[e];
      if (place_[at(j)] >= 0) {
        shown[at(place_[at(j)])] = v;
      } else if (std::isnan(v)) {
        for (Index k = 0; k < sum.size(); ++k) sum(k) -= log_density_(k, j, 0);
      } else if (layout.is(j, ColumnKind::poisson)) {
        for (Index k = 0; k < sum.size(); ++k) sum(k) += log_density_(k, j, v) - log_density_(k, j, 0);
      } else {
        const double times = layout.is(j, ColumnKind::bernoulli) ? (v > 0 ? 1 : 0) : v;
        for (Index k = 0; k < sum.size(); ++k) sum(k) += times * factor_(j, k);
      }
    }
    for (std::size_t c = 0; c < one_by_one_.size(); ++c)
      for (Index k = 0; k < sum.size(); ++k) sum(k) += log_density_(k, one_by_one_[c], shown[c]);
    out.row(i) = sum.transpose();
  }

 private:
  const Densities& log_density_;
  Vector at_zero_;
  Matrix factor_;  // a row for each column: what an entry of 1 changes
  std::vector<Index> one_by_one_, place_;
};

}  // namespace
}  // namespace naive_bayes

Matrix NaiveBayesModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  const naive_bayes::Densities log_density(*this);
  log_density.check(x);
  Matrix out(x.rows(), class_count());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index k = 0; k < class_count(); ++k) {
      double sum = std::log(prior(k));
      for (Index j = 0; j < width(); ++j) sum += log_density(k, j, x(i, j));
      out(i, k) = sum;
    }
  return out;
}

Matrix NaiveBayesModel::decision(const Csr& x, const Execution& execution) const {
  require_width(*this, x.width);
  const naive_bayes::Densities log_density(*this);
  log_density.check(x);
  const naive_bayes::SparseDecision decide(*this, log_density);
  Matrix out(x.rows(), class_count());
  constexpr Index kTogether = 256;
  parallel_for((x.rows() + kTogether - 1) / kTogether, execution, [&](Index piece) {
    for (Index i = piece * kTogether; i < std::min((piece + 1) * kTogether, x.rows()); ++i) decide.row(x, i, out);
  });
  return out;
}

template <>
std::optional<Prediction> SpecModel<NaiveBayes, NaiveBayesModel>::predict_sparse(const Csr& x,
                                                                                 const PredictOptions& options,
                                                                                 const Execution& execution) const {
  if (!asks_for_planes_alone(options, true)) return {};
  Matrix delta = model_.decision(x, execution);
  Prediction out;
  if (options.asks(kClassPart)) out.add(kClassPart, greatest_class(delta));
  if (options.asks(kDecisionPart)) out.add(kDecisionPart, delta);
  if (options.asks(kProbabilitiesPart)) {
    softmax_rows(delta);
    out.add(kProbabilitiesPart, std::move(delta));
  }
  return out;
}

}  // namespace lemma
