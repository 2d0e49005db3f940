// lemma/reduce/cca.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/rows_like.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/reduce/cca.hpp>
#include <lemma/reduce/shared/telling.hpp>
#include <lemma/reduce/shared/usable_spread.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-6;
constexpr double kSingular = 1e-12;  // an eigenvalue of correlations below this share of the first is rounding

Index responses_of(const Rows& rows) { return std::max<Index>(1, std::ssize(rows.responses)); }
std::string response_name(const Rows& rows, Index k) {
  return rows.responses.empty() ? rows.target : rows.responses[at(k)].name;
}

/// Columns and responses of a block side by side.
Matrix together(const Block& block, Index responses) {
  Matrix out(block.rows(), block.x.cols() + responses);
  out.leftCols(block.x.cols()) = block.x;
  for (Index i = 0; i < block.rows(); ++i)
    for (Index k = 0; k < responses; ++k)
      out(i, block.x.cols() + k) = block.responses.empty() ? block.y[at(i)] : block.several()(i, k);
  return out;
}

/// The triangle of some of all these columns, centred.
struct Triangle {
  const std::vector<Index>* which;
  Index responses;
  LeastSquares data;

  Triangle(const std::vector<Index>& of, Index several)
      : which(&of), responses(several), data(static_cast<Index>(of.size()), true, LeastSquares::Route::householder) {}
  void accumulate(const Block& block) {
    const Matrix chosen = together(block, responses)(Eigen::all, *which);
    const std::vector<double> none(at(block.rows()), 0.0);
    Block of(chosen, block.first);
    of.weight = block.weight;
    of.y = none;
    data.accumulate(of);
  }
  void merge(const Triangle& other) { data.merge(other.data); }
};
LeastSquares triangle_of(const Rows& rows, const std::vector<Index>& which, const Execution& execution) {
  return scan(rows, Triangle(which, responses_of(rows)), execution).data;
}

std::vector<Index> numbers(Index from, Index to) {
  std::vector<Index> out(at(to - from));
  std::iota(out.begin(), out.end(), from);
  return out;
}

/// Those that do not depend on those before them; a warning names the others.
std::vector<Index> independent(const Rows& rows, const std::vector<Index>& which, CcaModel& model,
                               const Execution& execution) {
  const LinearSolution found = solve(triangle_of(rows, which, execution));
  std::vector<std::string> left_out;
  for (const Index j : found.aliased) {
    const Index column = which[at(j)];
    left_out.push_back(
        "'" + (column < rows.width() ? rows.features[at(column)] : response_name(rows, column - rows.width())) + "'");
  }
  if (!left_out.empty() && !found.kept.empty())
    model.warnings.push_back(fmt::format("{} {} on the columns before {} and {} no part", join_words(left_out),
                                         left_out.size() == 1 ? "depends" : "depend",
                                         left_out.size() == 1 ? "it" : "them",
                                         left_out.size() == 1 ? "takes" : "take"));
  std::vector<Index> out;
  for (const Index j : found.kept) out.push_back(which[at(j)]);
  return out;
}

/// The coefficients of some columns, where all are: 0 for the others.
Matrix spread(const Matrix& of, const std::vector<Index>& which, Index from, Index count) {
  Matrix out = Matrix::Zero(count, of.cols());
  for (Index j = 0; j < of.rows(); ++j) out.row(which[at(j)] - from) = of.row(j);
  return out;
}

Vector p_values_of(const Vector& correlations, double weight, Index columns, Index responses, Index kept) {
  Vector out(kept);
  double sum = 0;
  const auto p = static_cast<double>(columns), q = static_cast<double>(responses);
  for (Index k = correlations.size() - 1; k >= 0; --k) {
    sum -= std::log1p(-correlations(k) * correlations(k));
    const double scale = weight - 1 - 0.5 * (p + q + 1), from = static_cast<double>(k);
    const double x = std::max(0.0, scale * sum);
    if (k < kept) out(k) = std::isfinite(x) ? chi_squared_upper(x, (p - from) * (q - from)) : 0.0;
  }
  return out;
}

/// Plain sums of the rows and of their variates, about the means of the model.
struct PlainSums {
  const CcaModel* model;
  double weight = 0;
  Vector sum;
  Matrix products, own;  // of columns and responses; of these with the variates, u beside v

  explicit PlainSums(const CcaModel& of) : model(&of) {
    const Index all = of.width() + of.responses();
    sum = Vector::Zero(all);
    products = Matrix::Zero(all, all);
    own = Matrix::Zero(2 * of.components(), 2 * of.components());
  }
  void accumulate(const Block& block) {
    const Index p = model->width(), d = model->components();
    Matrix all = together(block, model->responses());
    all.leftCols(p).rowwise() -= model->mean.transpose();
    all.rightCols(model->responses()).rowwise() -= model->response_mean.transpose();
    Matrix variates(all.rows(), 2 * d);
    variates.leftCols(d) = all.leftCols(p) * model->coefficients;
    variates.rightCols(d) = all.rightCols(model->responses()) * model->response_coefficients;
    for (Index i = 0; i < all.rows(); ++i) {
      const double w = block.weight_of(i);
      weight += w;
      sum += w * all.row(i).transpose();
      products += w * all.row(i).transpose() * all.row(i);
      own += w * variates.row(i).transpose() * variates.row(i);
    }
  }
  void merge(const PlainSums& other) {
    weight += other.weight;
    sum += other.sum;
    products += other.products;
    own += other.own;
  }
};

/// S^−½ of a correlation matrix, without the directions that carry nothing; and how many carry something.
struct Root {
  Matrix inverse;
  Index rank = 0;
};
Root inverse_root(const Matrix& correlation) {
  const Eigenpairs pairs = symmetric_eigen(correlation);
  Root out;
  while (out.rank < pairs.values.size() && pairs.values(0) > 0 && pairs.values(out.rank) > kSingular * pairs.values(0))
    ++out.rank;
  const Matrix axes = pairs.vectors.leftCols(out.rank);
  out.inverse = axes * pairs.values.head(out.rank).cwiseSqrt().cwiseInverse().asDiagonal();
  return out;
}

/// All correlations that there are, descending, with the ranks of both sides.
struct All {
  Vector correlations;
  Index columns = 0, responses = 0;
};
All all_correlations(const Matrix& covariance, Index p) {
  const Vector by = inverse_deviations(covariance);
  const Matrix r = by.asDiagonal() * covariance * by.asDiagonal();
  const Index q = r.rows() - p;
  const Root x = inverse_root(r.topLeftCorner(p, p)), y = inverse_root(r.bottomRightCorner(q, q));
  if (x.rank == 0 || y.rank == 0) return {};
  const Matrix t = x.inverse.transpose() * r.topRightCorner(p, q) * y.inverse;
  const Matrix squares = x.rank < y.rank ? Matrix(t * t.transpose()) : Matrix(t.transpose() * t);
  return {symmetric_eigen(squares).values.cwiseMax(0).cwiseSqrt(), x.rank, y.rank};
}

Certificate certificate_of(const CcaModel& model, const PlainSums& seen, Comparison& same) {
  const Index p = model.width(), q = model.responses(), d = model.components();
  const Matrix covariance = seen.products / (seen.weight - 1), own = seen.own / (seen.weight - 1);
  const All all = all_correlations(covariance, p);
  const Vector sd = covariance.diagonal().cwiseSqrt();
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "correlations of the variates";
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  if (std::min(all.columns, all.responses) < d) {
    out.value = 1;
    out.message = "The columns of these rows have fewer directions than the model has pairs of variates.";
    return out;
  }
  double off = 0;
  for (Index k = 0; k < d; ++k)
    for (Index l = 0; l < d; ++l) {
      const double same_one = k == l ? 1 : 0;
      off = std::max({off, std::abs(own(k, l) - same_one), std::abs(own(d + k, d + l) - same_one),
                      std::abs(own(k, d + l) - same_one * model.correlations(k))});
      if (std::isnan(own(k, l) + own(d + k, d + l) + own(k, d + l))) off = 1;
    }
  // Which are the largest is told by their squares: of a correlation near 0 that is half the digits.
  for (Index k = 0; k < d; ++k)
    off = std::max(off,
                   std::abs(all.correlations(k) * all.correlations(k) - model.correlations(k) * model.correlations(k)));
  for (Index j = 0; j < p + q; ++j)
    same.entry(j < p ? "mean" : "response_mean", j < p ? j : j - p, seen.sum(j) / seen.weight, 0,
               sd(j) + 1e-6 * std::abs(j < p ? model.mean(j) : model.response_mean(j - p)));
  const auto loading = [&](Index j, const Matrix& coefficients, Index from, Index k) {
    return sd(j) > 0 ? covariance.row(j).segment(from, coefficients.rows()).dot(coefficients.col(k)) / sd(j) : 0.0;
  };
  for (Index k = 0; k < d; ++k) {
    for (Index j = 0; j < p; ++j) {
      same.entry("loadings", j * d + k, model.loadings(j, k), loading(j, model.coefficients, 0, k), 1, kTolerance);
      if (!(sd(j) > 0)) same.entry("coefficients", j * d + k, model.coefficients(j, k), 0, 1);
    }
    for (Index j = 0; j < q; ++j) {
      same.entry("response_loadings", j * d + k, model.response_loadings(j, k),
                 loading(p + j, model.response_coefficients, p, k), 1, kTolerance);
      if (!(sd(p + j) > 0)) same.entry("response_coefficients", j * d + k, model.response_coefficients(j, k), 0, 1);
    }
  }
  Matrix turned = model.loadings;
  turn_columns(turned);
  same.number("loadings", (turned - model.loadings).norm(), 0, 1);
  same.relative("weight", model.weight, seen.weight);
  for (Index j = 0; j < model.seen_covariance.rows(); ++j)
    for (Index l = 0; l < model.seen_covariance.cols(); ++l)
      same.number("seen_covariance", model.seen_covariance(j, l), covariance(j, l), sd(j) * sd(l) + 1e-300);
  Vector told = all.correlations.head(std::min(all.columns, all.responses)).cwiseMin(1);
  told.head(d) = model.correlations;  // near 1 a p-value has the digits of 1 - rho
  const Vector tested = p_values_of(told, model.weight, all.columns, all.responses, d);
  for (Index k = 0; k < d; ++k) {
    same.entry("p_values", k, model.p_values(k), tested(k), 1, kTolerance);
    // Of a small one its order of size; near a correlation of 1 that has no digits.
    if (told(0) < 1 - 1e-6)
      same.entry("p_values", k, std::log(std::max(model.p_values(k), 1e-300)), std::log(std::max(tested(k), 1e-300)), 1,
                 1e-4);
  }
  out.value = off;
  out.message = fmt::format(
      "The variates have standard deviation 1, only those of a pair are correlated, as told, and no others are more "
      "so: up to "
      "{:.1e} (allowed {:.0e}).",
      out.value, out.tolerance);
  return out;
}

}  // namespace

void CcaModel::check() const {
  const Index p = width(), q = responses(), d = components();
  const auto is = [&](const Matrix& each, Index rows) {
    return each.rows() == rows && each.cols() == d && each.allFinite();
  };
  require(p > 0 && q > 0 && d > 0 && d <= std::min(p, q) && spec.components && *spec.components == d,
          "cca: the variates do not fit together");
  require(is(coefficients, p) && is(response_coefficients, q) && is(loadings, p) && is(response_loadings, q) &&
              p_values.size() == d,
          "cca: its numbers do not fit together");
  require(mean.allFinite() && response_mean.allFinite() && p_values.allFinite() && correlations.allFinite() &&
              std::isfinite(weight) && weight > 1 && (correlations.array() >= 0).all() &&
              (correlations.array() <= 1).all() &&
              std::is_sorted(correlations.begin(), correlations.end(), std::greater<>()),
          "cca: a correlation is not usable");
  const Index seen = seen_covariance.rows();
  require((seen == 0 || seen == p + q) && seen_covariance.cols() == seen && seen_covariance.allFinite() &&
              seen_covariance == seen_covariance.transpose() && (seen_covariance.diagonal().array() >= 0).all(),
          "cca: what was seen of the rows is not usable");
}

Matrix CcaModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  return row_products(x.rowwise() - mean.transpose(), coefficients);
}
Matrix CcaModel::response_variates(const MatrixView& y) const {
  require(y.cols() == responses(), "cca: the variates are of as many responses as it was fitted to");
  return row_products(y.rowwise() - response_mean.transpose(), response_coefficients);
}
AffineMap CcaModel::affine() const {
  const Matrix a = coefficients.transpose();
  return {a, -(a * mean)};
}
std::vector<std::string> CcaModel::output_names(const std::vector<std::string>&) const {
  return numbered("CC", components());
}

std::string CcaModel::summary(const Names& names) const {
  const auto pairs = output_names({});
  TextTable table;
  table.words("", pairs)
      .numbers("correlation", {correlations.begin(), correlations.end()}, 5)
      .numbers("p (this and those after it are 0)", {p_values.begin(), p_values.end()}, 3);
  return "Canonical correlations:\n" + table.str() + "\nCorrelations of the columns with their variates:\n" +
         entries_table(shown_names(names.features, width()), pairs, loadings) + "\nThe same of the other set:\n" +
         entries_table(shown_names(names.responses, responses(), "y"), pairs, response_loadings);
}

CcaModel fit(const Valid<Cca>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.05));
  scan(rows, ColumnSizes(rows.width()), execution.part(0.05, 0.1)).require_usable(Cca::name, rows);
  const Index p = rows.width(), q = responses_of(rows);
  CcaModel model;
  model.spec = *spec;
  // Means and correlations of all columns, those too that take no part.
  const std::vector<Index> each = numbers(0, p + q);
  struct Joint {
    Index responses;
    Moments moments;
    void accumulate(const Block& block) {
      const Matrix both = together(block, responses);
      Block of(both, block.first);
      of.weight = block.weight;
      moments.accumulate(of);
    }
    void merge(const Joint& other) { moments.merge(other.moments); }
  };
  const Moments moments = scan(rows, Joint{q, Moments(p + q)}, execution.part(0.1, 0.2)).moments;
  const double n = moments.weight();
  require(n > 1, "cca: one row alone has no correlation");
  const Matrix covariance = moments.covariance(n - 1);
  require_usable_spread(Cca::name, rows, covariance.diagonal().head(p), execution.part(0.2, 0.2));
  for (Index k = 0; k < q; ++k)  // of these nobody scales them before
    if (!(covariance(p + k, p + k) > 1e-284 && covariance(p + k, p + k) < 1e284) && covariance(p + k, p + k) != 0)
      throw Error(fmt::format("cca: the values of '{}' are beyond what can be squared; use another unit",
                              response_name(rows, k)));
  model.mean = moments.mean().head(p);
  model.response_mean = moments.mean().tail(q);
  const auto columns = independent(rows, numbers(0, p), model, execution.part(0.2, 0.4)),
             responses = independent(rows, numbers(p, p + q), model, execution.part(0.4, 0.6));
  if (columns.empty() || responses.empty())
    throw Error(fmt::format("cca: no column of {} varies", columns.empty() ? "the first set" : "the responses"));
  std::vector<Index> all = columns;
  all.insert(all.end(), responses.begin(), responses.end());
  const LeastSquares joint = triangle_of(rows, all, execution.part(0.6, 0.9));
  const Index a = std::ssize(columns), b = std::ssize(responses), most = std::min(a, b);
  const Index d = spec->components.value_or(static_cast<int>(most));
  if (d > most)
    throw Error(fmt::format(
        "cca: components is {}, must be at most {}: that many columns of the smaller set vary by themselves", d, most));
  Matrix r = Matrix::Zero(a + b, a + b);
  const Index there = std::min<Index>(a + b, joint.triangle().rows());
  r.topRows(there) = joint.triangle().topLeftCorner(there, a + b);
  const Matrix rx = r.topLeftCorner(a, a), ry = lemma::triangle_of(Matrix(r.rightCols(b)));
  const Svd svd = thin_svd(divide_by_upper(Matrix(r.topRightCorner(a, b)), ry));
  const double unit = std::sqrt(n - 1);
  const Vector correlations = svd.s.cwiseMin(1);
  model.spec.components = static_cast<int>(d);
  model.weight = n;
  if (p + q <= CcaModel::kMostKept) model.seen_covariance = covariance;
  model.correlations = correlations.head(d);
  model.p_values = p_values_of(correlations, n, a, b, d);
  const Matrix x_own = unit * solve_upper(rx, Matrix(svd.u.leftCols(d))),
               y_own = unit * solve_upper(ry, Matrix(svd.v.leftCols(d)));
  model.coefficients = spread(x_own, columns, 0, p);
  model.response_coefficients = spread(y_own, responses, p, q);
  const Vector by = inverse_deviations(covariance);
  model.loadings = by.head(p).asDiagonal() * (covariance.topLeftCorner(p, p) * model.coefficients);
  model.response_loadings =
      by.tail(q).asDiagonal() * (covariance.bottomRightCorner(q, q) * model.response_coefficients);
  Matrix turned = model.loadings;
  turn_columns(turned);
  for (Index k = 0; k < d; ++k)
    if (turned.col(k).dot(model.loadings.col(k)) < 0) {
      model.coefficients.col(k) *= -1;
      model.response_coefficients.col(k) *= -1;
      model.response_loadings.col(k) *= -1;
    }
  model.loadings = turned;
  if (static_cast<double>(a + b) >= n - 1)
    model.warnings.push_back(fmt::format("{} and {} columns: correlations of 1 say nothing of other rows",
                                         count_of(rows.count(), "row"), a + b));
  Comparison same;
  model.certificate = certificate_of(model, scan(rows, PlainSums(model), execution.part(0.9, 1)), same);
  return model;
}

Certificate certify(const CcaModel& model, const Rows& rows, const Execution& execution) {
  if (!rows.classes.empty()) throw Error("cca: the responses must be numbers, and these are classes");
  require_finite(rows, execution.part(0, 0.2));
  Comparison same;
  if (responses_of(rows) != model.responses())
    throw Error(fmt::format("cca: the model was fitted to {} and is given {}", count_of(model.responses(), "response"),
                            responses_of(rows)));
  Certificate out = certificate_of(model, scan(rows, PlainSums(model), execution.part(0.2, 1)), same);
  report_told(same, out);
  return out;
}

CcaModel updated(const CcaModel& model, const Rows& rows, const FitOptions& options) {
  const Index p = model.width(), q = model.responses();
  require(rows.width() == p && responses_of(rows) == q,
          "cca: the rows do not have the columns and responses of the model");
  if (model.seen_covariance.size() == 0)
    throw Error(
        fmt::format("cca: this model does not keep the covariance of its rows, which an update needs: it is kept "
                    "up to {} columns and responses, and not by earlier versions; fit it to all rows",
                    CcaModel::kMostKept));
  Vector mean(p + q);
  mean << model.mean, model.response_mean;
  const WeightedRows past =
      rows_like(model.weight, mean, root_of_scatter(Matrix((model.weight - 1) * model.seen_covariance)));
  const Matrix x = past.x.leftCols(p), y = past.x.rightCols(q);
  const std::span<const double> values(y.data(), at(y.size()));
  MemoryRows before(x);
  if (rows.responses.empty()) before.response(values);
  else before.several(values, rows.responses);
  before.weights(past.weight).features = rows.features;
  before.target = rows.target;
  CcaModel out = fit(Valid<Cca>(model.spec), StackedRows({&before, &rows}), options);
  out.certificate.message += " The rows before the update are in it by their means and covariance.";
  return out;
}

template const Method& method_of<Cca>();

}  // namespace lemma
