// lemma/linear/shared/margin_rows.cpp: the first look at columns, sides and weights.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/shared/margin_problem.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma::margin {
namespace {

constexpr double kTooLarge = 1e100;     // values whose squares, and sums of them, leave the range of numbers
constexpr double kUnlike = 100;         // ratio of spreads from which on columns are on very different scales
constexpr double kUnlikeSparse = 1000;  // rare columns differ by chance
constexpr Index kRowsAtOnce = 16'384;

void refuse_large(std::string_view method, const Rows& rows, const Vector& size) {
  for (Index j = 0; j < size.size(); ++j)
    if (!(size(j) <= kTooLarge))
      throw Error(
          fmt::format("{0}: the values of '{1}' are about {2:.0e}; divide them by a constant, or use 'scale | {0}'",
                      method, rows.features[static_cast<std::size_t>(j)], size(j)));
}

/// visit(block, rows of it) for all labels and weights, without x.
void for_each_outcome(const Rows& rows, const auto& visit) {
  BlockBuffer buffer;
  for (Index first = 0; first < rows.count(); first += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows.count() - first);
    visit(rows.outcome(first, size, buffer), first, size);
  }
}

}  // namespace

Columns look_at_columns(std::string_view method, const Rows& rows, const Execution& execution) {
  Columns out;
  if (const Csr* x = rows.sparse()) {
    for (const double v : x->value)
      if (!std::isfinite(v)) require_finite(rows, execution);
    out.spread = Vector::Zero(rows.width());
    for (std::size_t k = 0; k < x->value.size(); ++k)
      out.spread(x->column[k]) = std::max(out.spread(x->column[k]), std::abs(x->value[k]));
    refuse_large(method, rows, out.spread);
    return out;
  }
  require_finite(rows, execution);
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
  refuse_large(method, rows, moments.least().cwiseAbs().cwiseMax(moments.greatest().cwiseAbs()));
  out.centre = moments.mean();
  out.spread = moments.deviation();
  return out;
}

std::string complaint_about(std::string_view method, const Rows& rows, const Columns& columns) {
  const Vector& spread = columns.spread;
  Index least = -1, greatest = -1;
  for (Index j = 0; j < spread.size(); ++j) {
    if (!(spread(j) > 0)) continue;
    if (least < 0 || spread(j) < spread(least)) least = j;
    if (greatest < 0 || spread(j) > spread(greatest)) greatest = j;
  }
  if (greatest < 0) return "no column varies: the plane can only tell which class is the larger one";
  if (!(spread(greatest) > (rows.sparse() ? kUnlikeSparse : kUnlike) * spread(least))) return {};
  const auto name = [&](Index j) { return rows.features[static_cast<std::size_t>(j)]; };
  return fmt::format(
      "the columns are on very different scales ('{}' spreads {:.0f} times as far as '{}'), and the penalty sees them "
      "as "
      "they are; 'scale | {}' treats them alike",
      name(greatest), spread(greatest) / spread(least), name(least), method);
}

Index planes_for(const Rows& rows) { return functions_for(static_cast<Index>(rows.classes.size())); }

std::vector<double> class_counts(std::string_view method, const Rows& rows) {
  std::vector<double> counts(rows.classes.size());
  for_each_outcome(rows, [&](const Block& block, Index first, Index size) {
    for (Index i = 0; i < size; ++i) {
      const double weight = block.weight_of(i);
      if (!(weight >= 0) || !std::isfinite(weight))
        throw Error(fmt::format("{}: the weight of row {} is {}; it must be finite and not negative", method,
                                first + i + 1, weight));
      counts[static_cast<std::size_t>(block.label[static_cast<std::size_t>(i)])] += weight;
    }
  });
  return counts;
}

void set_sides(Problem& problem, const Rows& rows, double cost, const std::vector<double>& factors, Index plane) {
  problem.t.resize(rows.count());
  problem.c.resize(rows.count());
  const Index planes = planes_for(rows);
  for_each_outcome(rows, [&](const Block& block, Index first, Index size) {
    for (Index i = 0; i < size; ++i) {
      const int label = block.label[static_cast<std::size_t>(i)];
      problem.t(first + i) = is_positive(label, plane, planes) ? 1 : -1;
      problem.c(first + i) = cost * block.weight_of(i) * factors[static_cast<std::size_t>(label)];
    }
  });
}

double support_weight(const Problem& problem, const Rows& rows, const Vector& f, double beyond) {
  double sum = 0;
  for_each_outcome(rows, [&](const Block& block, Index first, Index size) {
    for (Index i = 0; i < size; ++i)
      if (problem.t(first + i) * f(first + i) <= 1 + beyond) sum += block.weight_of(i);
  });
  return sum;
}

}  // namespace lemma::margin
