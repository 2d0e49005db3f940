// lemma/select/embedded.cpp
#include <lemma/select/embedded.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/linear/lasso.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/validate/judge.hpp>
#include <limits>
#include <numeric>
#include <set>

namespace lemma {
namespace {

/// The first λ of a path with a coefficient, for each column.
Vector entries_of(const Vector& lambda, const Matrix& coefficients) {
  Vector out = Vector::Zero(coefficients.cols());
  for (Index l = coefficients.rows(); l-- > 0;)
    for (Index j = 0; j < out.size(); ++j)
      if (coefficients(l, j) != 0) out(j) = lambda(l);
  return out;
}

double loss_of(const AnyModel& model, const Rows& rows) {
  JudgeOptions how;
  how.execution.threads = 1;
  const Judgement found = judge(model, rows, how);
  const Measure* loss = find_measure(found.measures, found.task == Task::classification ? "error" : "mse");
  require(loss != nullptr, "the model predicts neither numbers nor classes, so its columns cannot be judged by errors");
  return loss->value;
}

/// The rows with other numbers in x.
MemoryRows with_columns(const Matrix& x, const Rows& from, const BlockBuffer& outcome) {
  MemoryRows out(x);
  if (!from.classes.empty()) out.labels(outcome.label, from.classes);
  else out.response(outcome.y);
  if (from.has_weights) out.weights(outcome.weight);
  if (from.has_offset) out.offset(outcome.offset);
  out.features = from.features;
  out.levels = from.levels;
  out.target = from.target;
  return out;
}

/// All that rows have besides x.
BlockBuffer outcomes_of(const Rows& rows) {
  BlockBuffer out, buffer;
  const auto append = [](auto& into, const auto& from) { into.insert(into.end(), from.begin(), from.end()); };
  for (Index first = 0, size = block_rows(rows); first < rows.count(); first += size) {
    const Block block = rows.outcome(first, std::min(size, rows.count() - first), buffer);
    append(out.y, block.y);
    append(out.label, block.label);
    append(out.weight, block.weight);
    append(out.offset, block.offset);
  }
  return out;
}

}  // namespace

PathEntries path_entries(const Rows& rows, int lambdas, const FitOptions& options) {
  PathEntries out;
  if (rows.classes.empty()) {
    const LassoModel model = fit(Valid<Lasso>(Lasso{.path_length = lambdas}), rows, options);
    out.lambda = entries_of(model.lambda.of, model.coefficients.of);
    const Vector slopes = model.slopes();
    for (Index j = 0; j < slopes.size(); ++j)
      if (slopes(j) != 0) out.chosen.push_back(j);
    return out;
  }
  if (rows.classes.size() != 2)
    throw Error(fmt::format("the path of the lasso is for numbers or two classes, and '{}' has {}", rows.target,
                            rows.classes.size()));
  Logistic spec;
  spec.penalty = Penalty::l1;
  spec.lambda.reset();
  const LogisticModel model = fit(Valid<Logistic>(spec), rows, options);
  out.lambda = entries_of(model.lambda.of, model.coefficients.of);
  for (Index j = 0; j < out.lambda.size(); ++j)
    if (out.lambda(j) > 0) out.chosen.push_back(j);
  return out;
}

Importance permutation_importance(const AnyModel& model, const Rows& rows, int repeats, std::uint64_t seed,
                                  const Execution& execution) {
  require(repeats >= 1, "a column must be shuffled at least once");
  require(rows.count() >= 2, "one row cannot be shuffled");
  const Matrix x = gather(rows, execution);
  const BlockBuffer outcome = outcomes_of(rows);
  Importance out{loss_of(model, with_columns(x, rows, outcome)), Vector::Zero(x.cols()), Vector::Zero(x.cols())};
  parallel_for(x.cols(), execution, [&](Index j) {
    Matrix changed = x;
    Vector rises(repeats);
    for (int r = 0; r < repeats; ++r) {
      RandomStream random = RandomStream(seed, static_cast<std::uint64_t>(j)).split(static_cast<std::uint64_t>(r));
      const auto order = permutation(random, x.rows());
      for (Index i = 0; i < x.rows(); ++i) changed(i, j) = x(order[at(i)], j);
      rises(r) = loss_of(model, with_columns(changed, rows, outcome)) - out.loss;
    }
    out.mean(j) = rises.mean();
    if (repeats > 1) out.deviation(j) = std::sqrt((rises.array() - out.mean(j)).square().sum() / (repeats - 1));
  });
  return out;
}

std::optional<double> Stability::false_bound(double tau) const {
  if (!(tau > 0.5) || sample != StabilitySample::half) return {};
  return mean_size * mean_size / ((2 * tau - 1) * static_cast<double>(share.size()));
}

Stability stability(const Rows& rows, const Selector& select, int samples, StabilitySample sample, std::uint64_t seed,
                    const Execution& execution) {
  require(samples >= 1, "there must be at least one sample");
  require(rows.count() >= 4, "there are too few rows to draw samples from");
  std::vector<std::vector<Index>> found(static_cast<std::size_t>(samples));
  parallel_for(samples, execution, [&](Index s) {
    RandomStream random(seed, static_cast<std::uint64_t>(s));
    std::vector<Index> which;
    if (sample == StabilitySample::half) which = sample_without_replacement(random, rows.count(), rows.count() / 2);
    else
      for (Index i = 0; i < rows.count(); ++i) which.push_back(random.below(rows.count()));
    std::sort(which.begin(), which.end());
    found[at(s)] = select(SelectedRows(rows, std::move(which)), random.split(1).bits());
  });
  Stability out;
  out.sample = sample;
  out.share = Vector::Zero(rows.width());
  for (const auto& columns : found)
    for (const Index j : columns) out.share(j) += 1;
  out.share /= samples;
  out.mean_size = out.share.sum();
  return out;
}

namespace {

/// Columns centred and of unit length; Error where one has no spread.
Matrix unit_columns(const Rows& rows, const Execution& execution) {
  Matrix x = gather(rows, execution);
  for (Index j = 0; j < x.cols(); ++j) {
    x.col(j).array() -= x.col(j).mean();
    const double length = x.col(j).norm();
    if (!(length > 1e-12))
      throw Error(fmt::format("knockoffs: '{}' has no spread; leave it out", rows.features[at(j)]));
    x.col(j) /= length;
  }
  return x;
}

/// An orthonormal basis of p random directions that are orthogonal to the columns (and to 1).
Matrix beside(const Matrix& x, std::uint64_t seed) {
  const Index n = x.rows(), p = x.cols();
  Matrix basis(n, 2 * p + 1);
  basis.col(0).setConstant(1);
  basis.middleCols(1, p) = x;
  basis.rightCols(p) = normal_matrix(n, p, seed, 0x4b0c);
  for (Index j = 0; j < basis.cols(); ++j) {
    for (int twice = 0; twice < 2; ++twice)  // once is not enough where columns are nearly dependent
      for (Index k = 0; k < j; ++k) basis.col(j) -= basis.col(k).dot(basis.col(j)) * basis.col(k);
    basis.col(j).normalize();
  }
  return basis.rightCols(p);
}

}  // namespace

Knockoffs knockoffs(const Rows& rows, double q, const FitOptions& options) {
  require(q > 0 && q < 1, "knockoffs: the share of false columns must be above 0 and below 1");
  if (!rows.classes.empty()) throw Error(fmt::format("knockoffs are for numbers, and '{}' is classes", rows.target));
  require(!rows.has_weights && !rows.has_offset && !rows.has_precision, "knockoffs take no weights and no offset");
  const Index n = rows.count(), p = rows.width();
  if (n < 2 * p + 2)
    throw Error(fmt::format("knockoffs of {} columns need {} rows at least, and there are {}", p, 2 * p + 2, n));
  require_finite(rows, options.execution());
  const Matrix x = unit_columns(rows, options.execution());
  const Matrix correlation = gram(x);
  const auto r = cholesky(correlation);
  const double least = symmetric_eigen(correlation).values.minCoeff();
  require(r.has_value() && least > 1e-10, "knockoffs: columns depend on each other; leave some out");
  const double s = std::min(1.0, 2 * least) * (1 - 1e-9);
  // X̃ = X (I − s Σ⁻¹) + U C,  C'C = 2 s I − s² Σ⁻¹
  const Matrix inverse = solve_upper(*r, solve_upper_transposed(*r, Matrix::Identity(p, p)));
  const auto c = cholesky(2 * s * Matrix::Identity(p, p) - s * s * inverse + 1e-12 * Matrix::Identity(p, p));
  require(c.has_value(), "knockoffs: columns depend on each other too much; leave some out");
  Matrix both(n, 2 * p);
  both.leftCols(p) = x;
  both.rightCols(p) = x - s * multiply(x, inverse) + multiply(beside(x, options.seed), *c);
  const std::vector<double> y = outcomes_of(rows).y;
  MemoryRows doubled(both);
  doubled.response(y);
  Lasso spec{.path_length = 400, .standardize = false};
  spec.tolerance = 1e-7;
  const LassoModel model = fit(Valid<Lasso>(spec), doubled, options);
  const Vector entry = entries_of(model.lambda.of, model.coefficients.of);
  Knockoffs out;
  out.separation = s;
  out.w.resize(p);
  for (Index j = 0; j < p; ++j) {
    const double own = entry(j), copy = entry(p + j);
    out.w(j) = own == copy ? 0.0 : own > copy ? own : -copy;
  }
  out.threshold = std::numeric_limits<double>::infinity();
  std::set<double> sizes;
  for (const double w : out.w)
    if (w != 0) sizes.insert(std::abs(w));
  for (const double t : sizes) {
    const double below = 1 + static_cast<double>((out.w.array() <= -t).count());
    const double above = std::max(1.0, static_cast<double>((out.w.array() >= t).count()));
    if (below / above > q) continue;
    out.threshold = t;
    break;
  }
  for (Index j = 0; j < p; ++j)
    if (out.w(j) >= out.threshold) out.chosen.push_back(j);
  return out;
}

}  // namespace lemma
