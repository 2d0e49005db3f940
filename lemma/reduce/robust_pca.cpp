// lemma/reduce/robust_pca.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/reduce/robust_pca.hpp>
#include <lemma/reduce/shared/telling.hpp>
#include <map>

namespace lemma {
namespace {

constexpr double kCarries = 1e-10;  // beside the largest singular value

/// A tall or wide matrix by the shorter of its sides.
Svd svd_of(const Matrix& a) {
  if (a.rows() >= a.cols()) return thin_svd(a);
  Svd turned = thin_svd(Matrix(a.transpose()));
  return {std::move(turned.v), std::move(turned.s), std::move(turned.u)};
}

Matrix shrunk(const Matrix& a, double by) {
  return a.unaryExpr([by](double v) { return v > by ? v - by : v < -by ? v + by : 0.0; });
}

/// ‖A‖₂ by the eigenvalues of the smaller Gram matrix.
double spectral_norm(const Matrix& a, const Execution& execution) {
  const Matrix squares = a.rows() >= a.cols() ? gram(a, execution) : outer_gram(a, execution);
  return std::sqrt(std::max(0.0, symmetric_eigen(squares, 1).values(0)));
}

/// What the objective is, what it cannot be below, and how far L + S is from X: all in units of the objective or of ‖X‖.
struct Gap {
  double objective, gap, residual;
};
Gap gap_of(const Matrix& x, const Matrix& low, const Matrix& errors, const Matrix& dual, double nuclear, double lambda,
           const Execution& execution) {
  const double objective = nuclear + lambda * (x - low).cwiseAbs().sum();
  const double beyond = std::max({1.0, spectral_norm(dual, execution), dual.cwiseAbs().maxCoeff() / lambda});
  const double below = dual.cwiseProduct(x).sum() / beyond;
  return {objective, (objective - below) / objective, (x - low - errors).norm() / x.norm()};
}

struct Split {
  Svd low;
  Matrix errors, dual;
  long long rounds = 0;
  bool converged = false;
};

Split split(const Matrix& x, double lambda, double tolerance, int most, const Execution& execution) {
  constexpr int kEvery = 10;  // rounds between looks at the gap
  const double norm = x.norm();
  double mu = static_cast<double>(x.size()) / (4 * x.cwiseAbs().sum());
  Split out;
  out.errors = Matrix::Zero(x.rows(), x.cols());
  out.dual = Matrix::Zero(x.rows(), x.cols());
  for (int round = 1; round <= most; ++round) {
    if (execution.cancelled()) throw Cancelled();
    Svd svd = svd_of(x - out.errors + out.dual / mu);
    Index rank = 0;
    while (rank < svd.s.size() && svd.s(rank) > 1 / mu) ++rank;
    out.low = {svd.u.leftCols(rank), (svd.s.head(rank).array() - 1 / mu).matrix(), svd.v.leftCols(rank)};
    const Matrix low = out.low.u * out.low.s.asDiagonal() * out.low.v.transpose(), before = out.errors;
    out.errors = shrunk(x - low + out.dual / mu, lambda / mu);
    const Matrix left = x - low - out.errors;
    out.dual += mu * left;
    out.rounds = round;
    const double primal = left.norm() / norm,
                 moved = mu * (out.errors - before).norm() / std::max(1.0, out.dual.norm());
    execution.report(std::min(0.95, std::log(std::max(primal, tolerance)) / std::log(tolerance)),
                     "low rank and errors");
    if (round % kEvery == 0 && primal <= tolerance) {
      const Gap gap = gap_of(x, low, out.errors, out.dual, out.low.s.sum(), lambda, execution.part(0, 0));
      out.converged = gap.gap <= tolerance;
      if (out.converged) break;
    }
    // Both sides of the optimality conditions are to fall together; changes of mu end, so that the rounds converge.
    if (round % kEvery == 0 && round <= 300) {
      if (primal > 10 * moved) mu *= 2;
      else if (moved > 10 * primal) mu /= 2;
    }
  }
  return out;
}

Certificate certificate_of(const RobustPcaModel& model, const Matrix& x, Comparison& same, const Execution& execution) {
  const Matrix low = model.low_rank();
  const Svd svd = svd_of(low);
  const double lambda = *model.spec.lambda, first = std::max(svd.s(0), 1e-300);
  const Gap gap = gap_of(x, low, model.errors, model.dual, svd.s.sum(), lambda, execution);
  for (Index k = 0; k < model.rank; ++k) same.entry("singular_values", k, model.singular_values(k), svd.s(k), first);
  if (model.rank < svd.s.size()) same.number("rank", svd.s(model.rank), 0, first);
  same.number("loadings",
              (model.loadings.transpose() * model.loadings - Matrix::Identity(model.rank, model.rank)).norm(), 0, 1);
  same.number("error_count", static_cast<double>(model.error_count),
              static_cast<double>((model.errors.array() != 0).count()), 1);
  same.relative("objective", model.objective, gap.objective, 1e-8);
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "gap to the dual";
  out.value = std::max(gap.gap, gap.residual);
  out.tolerance = 2 * model.spec.tolerance;
  out.stopped = out.holds() ? "converged" : "iteration limit";
  out.message =
      out.holds()
          ? fmt::format(
                "No matrices with this sum have an objective below ours by more than {:.1e} of it, and theirs is the "
                "rows to {:.1e} (allowed {:.0e}).",
                std::max(gap.gap, 0.0), gap.residual, out.tolerance)
          : fmt::format(
                "The objective may be {:.1e} of itself above the least, and L + S is {:.1e} from the rows (allowed "
                "{:.0e}); raise --max_iterations.",
                gap.gap, gap.residual, out.tolerance);
  return out;
}

Matrix rows_of(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.5));
  scan(rows, ColumnSizes(rows.width()), execution.part(0, 0)).require_usable(RobustPca::name, rows);
  Matrix x = gather(rows, execution.part(0.5, 1));
  if (!(x.norm() > 0)) throw Error("robust_pca: all numbers are 0: there is nothing to split");
  return x;
}

std::vector<double> prints_of(const Matrix& x) {
  std::vector<double> out;
  for (Index i = 0; i < x.rows(); ++i)
    out.push_back(static_cast<double>(hash_numbers({x.row(i).data(), at(x.cols())}) >> 12));
  return out;
}

/// The rows in the order of the fit; as they come when they are not its rows.
Matrix in_order_of_fit(const Matrix& x, const std::vector<double>& prints) {
  std::multimap<double, Index> places;
  const std::vector<double> given = prints_of(x);
  for (std::size_t i = 0; i < given.size(); ++i) places.emplace(given[i], static_cast<Index>(i));
  Matrix out(x.rows(), x.cols());
  for (std::size_t i = 0; i < prints.size(); ++i) {
    const auto found = places.find(prints[i]);
    if (found == places.end()) return x;
    out.row(static_cast<Index>(i)) = x.row(found->second);
    places.erase(found);
  }
  return out;
}

}  // namespace

Matrix RobustPcaModel::low_rank() const { return scores * loadings.transpose(); }

void RobustPcaModel::check() const {
  require(rank >= 1 && singular_values.size() == rank && loadings.cols() == rank && scores.cols() == rank &&
              loadings.rows() == errors.cols() && scores.rows() == errors.rows() && dual.rows() == errors.rows() &&
              dual.cols() == errors.cols() && errors.size() > 0 && static_cast<Index>(prints.size()) == errors.rows(),
          "robust_pca: the parts do not fit together");
  require(singular_values.allFinite() && loadings.allFinite() && scores.allFinite() && errors.allFinite() &&
              dual.allFinite() && std::isfinite(objective) && objective > 0 && error_count >= 0,
          "robust_pca: a number is not usable");
  require(spec.lambda.has_value(), "robust_pca: there is no lambda");
}

std::string RobustPcaModel::summary(const Names& names) const {
  const Index shown = std::min<Index>(rank, 8);
  std::string out =
      fmt::format("Rank {}; {} of {} entries are errors ({} %); lambda {}\n\n", rank, error_count, errors.size(),
                  format_fixed(100.0 * static_cast<double>(error_count) / static_cast<double>(errors.size()), 1),
                  format_significant(*spec.lambda, 4));
  std::vector<std::string> features;
  std::vector<double> sizes;
  for (Index j = 0; j < std::min<Index>(width(), 20); ++j) {
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
    sizes.push_back(errors.col(j).cwiseAbs().maxCoeff());
  }
  TextTable table;
  table.words("", features);
  for (Index k = 0; k < shown; ++k) {
    std::vector<std::string> cells;
    for (Index j = 0; j < static_cast<Index>(features.size()); ++j) cells.push_back(format_fixed(loadings(j, k), 4));
    table.right(fmt::format("PC{}", k + 1), cells);
  }
  table.numbers("largest error", sizes);
  return out + table.str();
}

RobustPcaModel fit(const Valid<RobustPca>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Matrix x = rows_of(rows, execution.part(0, 0.05));
  RobustPcaModel model;
  model.spec = *spec;
  const double lambda = spec->lambda.value_or(1 / std::sqrt(static_cast<double>(std::max(x.rows(), x.cols()))));
  model.spec.lambda = lambda;
  const double unit = x.cwiseAbs().maxCoeff();
  Split found = split(x / unit, lambda, spec->tolerance, spec->max_iterations, execution.part(0.05, 0.95));
  Index rank = 0;
  while (rank < found.low.s.size() && found.low.s(rank) > kCarries * found.low.s(0)) ++rank;
  if (rank == 0)
    throw Error(fmt::format(
        "robust_pca: with lambda {:g} all of the rows are errors and nothing is of low rank; take a larger lambda",
        lambda));
  model.rank = rank;
  model.singular_values = unit * found.low.s.head(rank);
  model.loadings = found.low.v.leftCols(rank);
  Matrix turned = model.loadings;
  turn_columns(turned);
  Matrix left = found.low.u.leftCols(rank);
  for (Index k = 0; k < rank; ++k)
    if (turned.col(k).dot(model.loadings.col(k)) < 0) left.col(k) *= -1;
  model.loadings = turned;
  model.scores = left * model.singular_values.asDiagonal();
  model.errors = unit * found.errors;
  model.error_count = (model.errors.array() != 0).count();
  model.dual = found.dual;
  model.prints = prints_of(x);
  model.objective = model.singular_values.sum() + lambda * (x - model.low_rank()).cwiseAbs().sum();
  Comparison same;
  model.certificate = certificate_of(model, x, same, execution.part(0.95, 1));
  model.certificate.iterations = found.rounds;
  return model;
}

Certificate certify(const RobustPcaModel& model, const Rows& rows, const Execution& execution) {
  const Matrix x = rows_of(rows, execution.part(0, 0.2));
  if (x.rows() != model.errors.rows())
    throw Error(fmt::format("robust_pca: the model was fitted on {} and is given {}",
                            count_of(model.errors.rows(), "row"), count_of(x.rows(), "row")));
  Comparison same;
  Certificate out = certificate_of(model, in_order_of_fit(x, model.prints), same, execution.part(0.2, 1));
  report_told(same, out);
  return out;
}

template const Method& method_of<RobustPca>();

}  // namespace lemma
