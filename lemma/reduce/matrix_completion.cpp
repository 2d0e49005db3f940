// lemma/reduce/matrix_completion.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/finite_or_missing.hpp>
#include <lemma/reduce/matrix_completion.hpp>
#include <lemma/reduce/matrix_completion/solve.hpp>

namespace lemma {
namespace {

constexpr double kOnTheWay = 1e-3;  // gap at which lambdas are compared
constexpr int kSweeps = 30;         // and sweeps there, at most
constexpr double kResidual = 1e2;   // tolerances of the objective in that of the residual
constexpr int kPatience = 3;        // lambdas without a smaller error after which the way down ends

struct Entries {
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};
/// What is known of a row, less the centre.
Entries known_of(const MatrixView& x, Index i, const Vector& centre) {
  Entries out;
  for (Index j = 0; j < x.cols(); ++j)
    if (!std::isnan(x(i, j))) {
      out.columns.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(x(i, j) - centre(j));
    }
  return out;
}

/// The rows with what is missing as NaN; an Error where a row, a column or all of them tell nothing.
Matrix rows_of(const Rows& rows, const Execution& execution) {
  require_finite_or_missing(MatrixCompletion::name, rows, execution);
  scan(rows, ColumnSizes(rows.width()), execution).require_usable(MatrixCompletion::name, rows);
  Matrix x = gather(rows, execution);
  std::vector<bool> met(at(x.cols()));
  for (Index i = 0; i < x.rows(); ++i) {
    bool any = false;
    for (Index j = 0; j < x.cols(); ++j)
      if (!std::isnan(x(i, j))) any = met[at(j)] = true;
    if (!any)
      throw Error(fmt::format(
          "matrix_completion: row {} has no value at all, and nothing tells what it is like; leave the row out",
          i + 1));
  }
  for (Index j = 0; j < x.cols(); ++j)
    if (!met[at(j)])
      throw Error(
          fmt::format("matrix_completion: '{}' has no value at all; leave the column out", rows.features[at(j)]));
  return x;
}

Csr entries_of(const Matrix& x, const Vector& centre, const auto& keeps) {
  Csr out{{0}, {}, {}, x.cols()};
  for (Index i = 0; i < x.rows(); ++i) {
    const Entries row = known_of(x, i, centre);
    for (std::size_t k = 0; k < row.columns.size(); ++k)
      if (keeps(i, row.columns[k])) {
        out.column.push_back(row.columns[k]);
        out.value.push_back(row.values[k]);
      }
    out.start.push_back(static_cast<Index>(out.column.size()));
  }
  return out;
}

/// Which known places are left out. A row's own numbers decide for it, so that the order of the rows does not; no row and no column
/// loses all that it has.
Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> left_out(const Matrix& x, double share, std::uint64_t seed) {
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> out(x.rows(), x.cols());
  out.setConstant(false);
  for (Index i = 0; i < x.rows(); ++i) {
    RandomStream stream(seed, hash_numbers({x.row(i).data(), at(x.cols())}));
    Index kept = (x.row(i).array() == x.row(i).array()).count();
    for (Index j = 0; j < x.cols(); ++j) {
      const bool drawn = stream.uniform() < share;
      if (drawn && !std::isnan(x(i, j)) && kept > 1) out(i, j) = true, --kept;
    }
  }
  for (Index j = 0; j < x.cols(); ++j) {
    bool kept = false;
    for (Index i = 0; i < x.rows(); ++i) kept = kept || (!std::isnan(x(i, j)) && !out(i, j));
    if (!kept) out.col(j).setConstant(false);
  }
  return out;
}

double lambda_at(int step, double first, const MatrixCompletion& spec) {
  return first * std::pow(spec.path_ratio, static_cast<double>(step) / (spec.path_length - 1));
}

/// Down the path on what is not left out, until the error on the rest has not fallen for a while. Z ends where the error was least.
LowRank walk(const Matrix& x, double first, std::uint64_t seed, MatrixCompletionModel& model,
             const Execution& execution) {
  const auto out = left_out(x, model.spec.held_out, seed);
  if (!out.any()) {
    model.lambda = lambda_at(model.spec.path_length - 1, first, model.spec);
    model.warnings.push_back(
        "There are too few known values to leave some out: lambda is the last of the path, by no rule; give --lambda.");
    return {};
  }
  const Known known(entries_of(x, model.centre, [&](Index i, Index j) { return !out(i, j); }));
  const Csr asked = entries_of(x, model.centre, [&](Index i, Index j) { return out(i, j); });
  std::vector<double> lambdas, errors;
  LowRank z, best;
  int since = 0;
  for (int step = 1; step < model.spec.path_length && since < kPatience; ++step) {
    const double lambda = lambda_at(step, first, model.spec);
    solve(known, lambda, kOnTheWay, std::min(kSweeps, model.spec.max_iterations), z,
          execution.part((step - 1.0) / model.spec.path_length, static_cast<double>(step) / model.spec.path_length));
    double squares = 0;
    for (const double v : residuals(asked, z.a, z.b, execution.part(0, 0)).value) squares += v * v;
    lambdas.push_back(lambda);
    errors.push_back(std::sqrt(squares / static_cast<double>(asked.value.size())));
    ++since;
    if (errors.back() <= *std::min_element(errors.begin(), errors.end())) best = z, since = 0, model.lambda = lambda;
  }
  model.path_lambda = Eigen::Map<Vector>(lambdas.data(), static_cast<Index>(lambdas.size()));
  model.path_error = Eigen::Map<Vector>(errors.data(), static_cast<Index>(errors.size()));
  return best;
}

/// From the model's factor alone: scores of each row by its ridge regression, and what is left of it.
struct Found {
  const MatrixCompletionModel* model;
  Matrix b, squares_of_scores, squares_of_residuals;
  double squares = 0, with_x = 0, known = 0;

  explicit Found(const MatrixCompletionModel& m)
      : model(&m),
        b(m.factor()),
        squares_of_scores(Matrix::Zero(m.rank, m.rank)),
        squares_of_residuals(Matrix::Zero(m.width(), m.width())) {}
  void accumulate(const Block& block) {
    Matrix left = Matrix::Zero(block.rows(), model->width()), scores(block.rows(), model->rank);
    for (Index i = 0; i < block.rows(); ++i) {
      const Entries row = known_of(block.x, i, model->centre);
      const Vector a = ridge_of_row(row.columns, row.values, b, model->lambda);
      scores.row(i) = a;
      for (std::size_t k = 0; k < row.columns.size(); ++k) {
        const double y = row.values[k] - b.row(row.columns[k]).dot(a);
        left(i, row.columns[k]) = y;
        squares += y * y;
        with_x += y * row.values[k];
      }
      known += static_cast<double>(row.columns.size());
    }
    squares_of_scores += gram(scores);
    squares_of_residuals += gram(left);
  }
  void merge(const Found& other) {
    squares_of_scores += other.squares_of_scores;
    squares_of_residuals += other.squares_of_residuals;
    squares += other.squares;
    with_x += other.with_x;
    known += other.known;
  }
};

void compare_path(const MatrixCompletionModel& model, const Matrix& x_squares, Comparison& same) {
  if (model.path_lambda.size() == 0) return;
  const double first = std::sqrt(std::max(0.0, symmetric_eigen(x_squares, 1).values(0)));
  for (Index k = 0; k < model.path_lambda.size(); ++k)
    same.entry("path_lambda", k, model.path_lambda(k), lambda_at(static_cast<int>(k) + 1, first, model.spec), first,
               1e-8);
  Index best = 0;  // the last of equals
  for (Index k = 1; k < model.path_error.size(); ++k)
    if (model.path_error(k) <= model.path_error(best)) best = k;
  same.relative("path_error", model.lambda, model.path_lambda(best), 1e-8);
}

/// XᵀX of the known values, and means of the columns.
struct Columns {
  const MatrixCompletionModel* model;
  Matrix squares;
  void accumulate(const Block& block) {
    Matrix filled = Matrix::Zero(block.rows(), block.x.cols());
    for (Index i = 0; i < block.rows(); ++i) {
      const Entries row = known_of(block.x, i, model->centre);
      for (std::size_t k = 0; k < row.columns.size(); ++k) filled(i, row.columns[k]) = row.values[k];
    }
    squares += gram(filled);
  }
  void merge(const Columns& other) { squares += other.squares; }
};

void compare_centre(const MatrixCompletionModel& model, const Rows& rows, const Execution& execution,
                    Comparison& same) {
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
  for (Index j = 0; j < model.width(); ++j) {
    const double unit = std::max({std::abs(moments.least()(j)), std::abs(moments.greatest()(j)), 1e-300});
    same.entry("centre", j, model.centre(j), model.spec.center ? moments.mean()(j) : 0, unit);
  }
}

}  // namespace

void MatrixCompletion::check() const {
  if (lambda && noise)
    throw Error(
        "matrix_completion: lambda and noise are both given, and each of them decides the other; leave one out");
}

Matrix MatrixCompletionModel::factor() const { return loadings * singular_values.cwiseSqrt().asDiagonal(); }

void MatrixCompletionModel::check() const {
  require(rank >= 1 && singular_values.size() == rank && loadings.cols() == rank && loadings.rows() >= 1 &&
              centre.size() == loadings.rows() && path_lambda.size() == path_error.size() && known >= 1,
          "matrix_completion: the parts do not fit together");
  require(singular_values.allFinite() && singular_values.minCoeff() > 0 && loadings.allFinite() && centre.allFinite() &&
              path_lambda.allFinite() && path_error.allFinite() && std::isfinite(objective) && std::isfinite(error) &&
              std::isfinite(lambda) && lambda > 0,
          "matrix_completion: a number is not usable");
}

Matrix MatrixCompletionModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Matrix b = factor();
  Matrix out = x;
  for (Index i = 0; i < x.rows(); ++i) {
    const Entries row = known_of(x, i, centre);
    if (static_cast<Index>(row.columns.size()) == x.cols()) continue;
    const Vector a = ridge_of_row(row.columns, row.values, b, lambda);
    for (Index j = 0; j < x.cols(); ++j) {
      if (!std::isnan(x(i, j))) continue;
      double z = centre(j);
      for (Index k = 0; k < rank; ++k) z += b(j, k) * a(k);
      out(i, j) = z;
    }
  }
  return out;
}

std::string MatrixCompletionModel::summary(const Names& names) const {
  std::string out = fmt::format("Rank {}; lambda {}; {} known; root mean square error on them {}\n", rank,
                                format_significant(lambda, 4), count_of(known, "value"), format_significant(error, 4));
  if (path_error.size() > 0)
    out += fmt::format("lambda has the least error on values left out: {}\n",
                       format_significant(path_error.minCoeff(), 4));
  std::vector<std::string> features;
  for (Index j = 0; j < std::min<Index>(width(), 20); ++j)
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
  TextTable table;
  table.words("", features);
  for (Index k = 0; k < std::min<Index>(rank, 8); ++k) {
    std::vector<std::string> cells;
    for (Index j = 0; j < static_cast<Index>(features.size()); ++j) cells.push_back(format_fixed(loadings(j, k), 4));
    table.right(fmt::format("V{}", k + 1), cells);
  }
  return out + "\n" + table.str();
}

MatrixCompletionModel fit(const Valid<MatrixCompletion>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Matrix x = rows_of(rows, execution.part(0, 0.02));
  MatrixCompletionModel model;
  model.spec = *spec;
  model.centre = spec->center ? scan(rows, ColumnMoments(rows.width()), execution.part(0, 0)).mean()
                              : Vector(Vector::Zero(x.cols()));
  const Known known(entries_of(x, model.centre, [](Index, Index) { return true; }));
  const double first = largest_singular_value(known, execution.part(0.02, 0.05));
  if (!(first > 0)) throw Error("matrix_completion: all known numbers are 0: there is nothing to complete them by");
  LowRank z;
  if (spec->lambda) {
    model.lambda = *spec->lambda;
    if (model.lambda >= first)
      throw Error(fmt::format(
          "matrix_completion: with lambda {:g} nothing is left of the rows: all is 0 from {:g} on; take a smaller one",
          model.lambda, first));
    // Each a start for the next, down to the one that is asked for.
    for (double lambda = 0.7 * first; lambda > model.lambda; lambda *= 0.5)
      solve(known, lambda, 1e-2, std::min(kSweeps, spec->max_iterations), z, execution.part(0.05, 0.05));
  } else if (spec->noise) {
    const double size = Eigen::Map<const Vector>(known.by_row.value.data(), known.count()).norm();
    if (*spec->noise >= size)
      throw Error(fmt::format(
          "matrix_completion: noise is {:g}, and all the known values together are no more than {:g}: 0 is as near as "
          "asked for; take less",
          *spec->noise, size));
    model.lambda = solve_within(known, first, *spec->noise, spec->tolerance, kResidual * spec->tolerance,
                                spec->max_iterations, z, execution.part(0.05, 0.95));
  } else {
    z = walk(x, first, options.seed, model, execution.part(0.05, 0.7));
    if (z.b.rows() > 0) z.a = ridge_of_rows(known.by_row, z.b, model.lambda, false, execution.part(0.7, 0.7));
  }
  if (!spec->noise) {
    z.sweeps = 0;
    solve(known, model.lambda, spec->tolerance, spec->max_iterations, z, execution.part(0.7, 0.95));
  }
  if (z.b.cols() == 0) throw Error("matrix_completion: nothing of low rank was found; take a smaller lambda");
  model.rank = z.b.cols();
  model.singular_values = z.singular_values();
  model.loadings = z.b * model.singular_values.cwiseSqrt().cwiseInverse().asDiagonal();
  turn_columns(model.loadings);
  model.known = known.count();
  model.objective = z.objective;
  model.error = z.error;
  model.certificate = certify(model, rows, execution.part(0.95, 1));
  model.certificate.iterations = z.sweeps;
  return model;
}

Certificate certify(const MatrixCompletionModel& model, const Rows& rows, const Execution& execution) {
  require_finite_or_missing(MatrixCompletion::name, rows, execution.part(0, 0.1));
  Comparison same;
  compare_centre(model, rows, execution.part(0.1, 0.2), same);
  const auto found = scan(rows, Found(model), execution.part(0.2, 0.8));
  const auto columns =
      scan(rows, Columns{&model, Matrix::Zero(model.width(), model.width())}, execution.part(0.8, 0.9));
  // ‖A Bᵀ‖_* is the sum of the roots of the eigenvalues of D^½ (AᵀA) D^½, as BᵀB = D.
  const Vector root = model.singular_values.cwiseSqrt();
  const Vector squares = symmetric_eigen(root.asDiagonal() * found.squares_of_scores * root.asDiagonal()).values;
  const Vector values = squares.cwiseMax(0).cwiseSqrt();
  const double nuclear = values.sum(), first = std::max(values(0), 1e-300),
               norm = std::sqrt(std::max(0.0, symmetric_eigen(found.squares_of_residuals, 1).values(0)));
  const auto& noise = model.spec.noise;
  const double gap = noise ? bounded_gap_of(model.lambda, norm, nuclear, found.squares, found.with_x, *noise)
                           : gap_of(model.lambda, norm, nuclear, found.squares, found.with_x);
  const double near = std::sqrt(model.spec.tolerance);  // places are known to the root of what the objective is
  same.number("loadings",
              (model.loadings.transpose() * model.loadings - Matrix::Identity(model.rank, model.rank)).norm(), 0, 1,
              1e-8);
  for (Index k = 0; k < model.rank; ++k)
    same.entry("singular_values", k, model.singular_values(k), values(k), first, near);
  same.number("known", static_cast<double>(model.known), found.known, 1);
  same.relative("objective", model.objective, 0.5 * found.squares + model.lambda * nuclear,
                std::max(1e-8, 10 * model.spec.tolerance));
  same.number("error", model.error, std::sqrt(found.squares / found.known),
              std::sqrt(columns.squares.trace() / found.known), near);
  if (model.spec.lambda) same.relative("lambda", model.lambda, *model.spec.lambda);
  compare_path(model, columns.squares, same);
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = noise ? "gap to the dual, and of the residual to the noise" : "gap to the dual";
  out.value = gap;
  out.tolerance = 2 * (noise ? kResidual : 1) * model.spec.tolerance;
  out.stopped = out.holds() ? "converged" : "iteration limit";
  out.message =
      noise && out.holds() ? fmt::format(
                                 "The residual is the noise to {:.1e}, and no matrix that near has a nuclear norm "
                                 "below ours by more than {:.1e} of "
                                 "it (allowed {:.0e}).",
                                 std::abs(std::sqrt(found.squares) / *noise - 1), gap, out.tolerance)
      : noise ? fmt::format(
                    "The residual is {:g} where {:g} is asked for, or the nuclear norm may be above the least: off by "
                    "{:.1e} "
                    "(allowed {:.0e}); raise --max_iterations.",
                    std::sqrt(found.squares), *noise, gap, out.tolerance)
      : out.holds()
          ? fmt::format("No matrix has an objective below ours by more than {:.1e} of it (allowed {:.0e}).",
                        std::max(gap, 0.0), out.tolerance)
          : fmt::format(
                "The objective may be {:.1e} of itself above the least (allowed {:.0e}); raise --max_iterations.", gap,
                out.tolerance);
  if (out.holds() && same.finding()) {
    same.report(out);
    out.message = fmt::format(
        "What the model tells is not what the rows give: {}'{}' is off by {:.1e} of its size (allowed {:.0e}).",
        same.finding()->place, same.finding()->field, same.finding()->value, same.finding()->tolerance);
  }
  return out;
}

template const Method& method_of<MatrixCompletion>();

}  // namespace lemma
