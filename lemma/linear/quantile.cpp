// lemma/linear/quantile.cpp: from rows to the best plane.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/quantile/parts.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/simd.hpp>

namespace lemma {
namespace quantile {
namespace {

/// Of the spread of y, what a least squares fit leaves by rounding alone.
constexpr double kNothing = 1e-13;

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// One block of rows in their orthogonal coordinates.
void whiten(const Asked& asked, const Block& block, const Coefficients& least_squares, Index first_kept,
            Prepared& out) {
  const Index lead = asked.intercept ? 1 : 0;
  const auto k = static_cast<Index>(out.ols.kept.size());
  Matrix part(block.rows(), k);
  Index used = 0;
  for (Index i = 0; i < block.rows(); ++i) {
    const double w = block.weight_of(i);
    if (w == 0) continue;
    for (Index j = 0; j < k; ++j) {
      const Index column = out.ols.kept[static_cast<std::size_t>(j)];
      part(used, j) = (block.x(i, column) - out.data.mean()(column)) - out.data.mean_rest()(column);
    }
    const Index to = first_kept + used++;
    out.rows[static_cast<std::size_t>(to)] = block.first + i;
    out.weight(to) = w;
    out.y(to) = w * residual(block, i, least_squares) / out.unit;
  }
  if (k > 0 && used > 0) {
    auto rows = part.topRows(used);
    blas::divide_by_upper(out.ols.triangle, rows);
    out.z.block(first_kept, lead, used, k) = std::sqrt(out.data.mass()) * rows;
  }
  if (lead == 1) out.z.col(0).segment(first_kept, used).setOnes();
  for (Index i = first_kept; i < first_kept + used; ++i)
    if (out.weight(i) != 1) out.z.row(i) *= out.weight(i);
}

/// How many rows that count lie before each block.
std::vector<Index> counted_before(const Rows& rows, Index size, const Execution& execution) {
  const Index blocks = (rows.count() + size - 1) / size;
  std::vector<Index> before(static_cast<std::size_t>(blocks) + 1, 0);
  for_each_block(rows, execution, [&](const Block& block) {
    Index count = 0;
    for (Index i = 0; i < block.rows(); ++i) count += block.weight_of(i) > 0 ? 1 : 0;
    before[static_cast<std::size_t>(block.first / size) + 1] = count;
  });
  for (std::size_t b = 1; b < before.size(); ++b) before[b] += before[b - 1];
  return before;
}

/// The numbers of the given rows, ascending or not.
Matrix rows_at(const Rows& rows, const std::vector<Index>& which, Vector& y) {
  Matrix x(static_cast<Index>(which.size()), rows.width());
  y.resize(x.rows());
  BlockBuffer buffer;
  for (Index i = 0; i < x.rows(); ++i) {
    const Block block = rows.read(which[static_cast<std::size_t>(i)], 1, buffer);
    x.row(i) = block.x.row(0);
    y(i) = (exact_sum(block.y[0], -block.offset_of(0))).rounded();
  }
  return x;
}

}  // namespace

double residual(const Block& block, Index i, const Coefficients& at) {
  const std::span<const double> row(block.x.row(i).data(), static_cast<std::size_t>(block.x.cols()));
  const Twofold y = exact_sum(block.y[static_cast<std::size_t>(i)], -block.offset_of(i));
  return (y - simd::dot(row, span_of(at.slopes)) - Twofold{at.intercept, 0}).rounded();
}

Prepared prepare(const Asked& asked, const Rows& rows, const Execution& execution) {
  LeastSquares data = learn_triangle(asked.name, rows, asked.intercept, LeastSquares::Route::by_condition,
                                     execution.part(0, 0.5, "reading rows"));
  LinearSolution ols = solve(data, asked.tolerance);
  const double n = data.weight(), spread = std::sqrt(ols.total_ss / n), left = std::sqrt(ols.residual_ss / n);
  const double size = std::hypot(spread, data.mean()(data.features()));
  Prepared out{data, ols, {}, {}, {}, left, {}, !(left > kNothing * size)};
  if (out.perfect) out.unit = size > 0 ? size : 1;
  const Index block = block_rows(rows);
  const auto before = counted_before(rows, block, execution);
  out.z.resize(before.back(), ols.rank(asked.intercept));
  out.y.resize(before.back());
  out.weight.resize(before.back());
  out.rows.resize(static_cast<std::size_t>(before.back()));
  const Coefficients least_squares{ols.intercept, ols.coefficients, out.z.cols()};
  for_each_block(rows, execution.part(0.5, 1, "reading rows"), [&](const Block& each) {
    whiten(asked, each, least_squares, before[static_cast<std::size_t>(each.first / block)], out);
  });
  return out;
}

/// B c = y for the rows B of the vertex, columns centred; then once more for what is left in twice the precision.
Coefficients through(const Asked& asked, const Prepared& prepared, const Vertex& vertex, const Rows& rows) {
  const auto& kept = prepared.ols.kept;
  const Index k = static_cast<Index>(kept.size()), lead = asked.intercept ? 1 : 0;
  Coefficients out{prepared.ols.intercept, prepared.ols.coefficients, k + lead};
  std::vector<Index> which;
  for (const Index i : vertex.basis) which.push_back(prepared.rows[static_cast<std::size_t>(i)]);
  if (which.empty()) return out;
  Vector y;
  const Matrix x = rows_at(rows, which, y);
  Matrix b(x.rows(), k + lead);
  const Vector mean = prepared.data.mean();
  if (lead == 1) b.col(0).setOnes();
  for (Index j = 0; j < k; ++j)
    b.col(lead + j) = x.col(kept[static_cast<std::size_t>(j)]).array() - mean(kept[static_cast<std::size_t>(j)]);
  for (int round = 0; round < 3; ++round) {
    Block block(x, 0);
    block.y = span_of(y);
    Vector left(x.rows());
    for (Index i = 0; i < x.rows(); ++i) left(i) = residual(block, i, out);
    const Vector change = least_squares(b, left).w;
    Coefficients next = out;
    double moved = lead == 1 ? change(0) : 0;
    for (Index j = 0; j < k; ++j) {
      const Index column = kept[static_cast<std::size_t>(j)];
      next.slopes(column) += change(lead + j);
      moved -= (next.slopes(column) - out.slopes(column)) * mean(column);
    }
    if (lead == 1) next.intercept += moved;
    Vector now(x.rows());
    for (Index i = 0; i < x.rows(); ++i) now(i) = residual(block, i, next);
    if (round > 0 && !(now.cwiseAbs().maxCoeff() < left.cwiseAbs().maxCoeff())) break;
    out = next;
  }
  return out;
}

namespace {

std::vector<std::string> warnings_of(const QuantileNumbers& model, const Asked& asked, const Prepared& prepared,
                                     const Vertex& vertex, const std::vector<std::string>& features) {
  std::vector<std::string> out, names;
  for (const Index j : prepared.ols.aliased) names.push_back("'" + features[static_cast<std::size_t>(j)] + "'");
  if (!names.empty())
    out.push_back(fmt::format("{} {} of {}the columns before; the coefficient is NA", join_words(names),
                              names.size() == 1 ? "is a linear combination" : "are linear combinations",
                              asked.intercept ? "the intercept and " : ""));
  if (!vertex.unique) out.push_back("the solution is not unique: other coefficients have the same objective");
  if (prepared.perfect) out.push_back("essentially perfect fit: there is nothing to estimate errors from");
  else if (model.df_residual <= 0)
    out.push_back(
        fmt::format("no residual degrees of freedom: {} coefficients for {} rows; there are no standard errors",
                    model.rank, format_significant(prepared.data.weight(), 7)));
  else if (asked.errors != QuantileErrors::none && model.covariance.size() > 0 && names.empty() &&
           !model.covariance.allFinite())
    out.push_back(
        "the density of the errors at the quantile cannot be estimated from these rows; there are no standard "
        "errors");
  return out;
}

template <class Spec>
QuantileFit<Spec> fit_either(const Valid<Spec>& spec, const Rows& rows, const FitOptions& options) {
  const Asked wanted = asked(*spec);
  const Execution execution = options.execution();
  Prepared prepared = prepare(wanted, rows, execution.part(0, 0.2));
  Vertex vertex;
  if (prepared.perfect || prepared.z.cols() == 0) vertex.optimal = true;
  else vertex = solve(prepared.z, prepared.y, wanted.tau, execution.part(0.2, 0.5, "pivots"));
  const Coefficients at = through(wanted, prepared, vertex, rows);

  QuantileFit<Spec> model;
  model.spec = *spec;
  model.intercept = at.intercept;
  model.coefficients = at.slopes;
  model.coefficients(prepared.ols.aliased).setConstant(QuantileNumbers::kNone);
  model.kept.assign(prepared.ols.kept.begin(), prepared.ols.kept.end());
  model.rank = prepared.ols.rank(wanted.intercept);
  model.unique = vertex.unique;
  const Look found = look(wanted, at, rows, execution.part(0.5, 0.6));
  judge(model, wanted, prepared, found, rows, execution.part(0.6, 1));
  model.warnings = warnings_of(model, wanted, prepared, vertex, rows.features);
  model.certificate = certificate_of(wanted, found, vertex.optimal, vertex.pivots);
  return model;
}

}  // namespace
}  // namespace quantile

QuantileModel fit(const Valid<Quantile>& spec, const Rows& rows, const FitOptions& options) {
  return quantile::fit_either(spec, rows, options);
}
LadModel fit(const Valid<Lad>& spec, const Rows& rows, const FitOptions& options) {
  return quantile::fit_either(spec, rows, options);
}

template const Method& method_of<Quantile>();
template const Method& method_of<Lad>();

}  // namespace lemma
