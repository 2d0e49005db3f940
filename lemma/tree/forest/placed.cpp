// lemma/tree/forest/placed.cpp: the rows in the places that a forest gives them, held against their own values without sorting.
#include <cmath>
#include <lemma/tree/forest/rows.hpp>
#include <lemma/tree/shared/nodes.hpp>

namespace lemma::forest {
namespace {

/// -1: a before b; missing values stand last.
int compare_values(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Whether row a stands before row b: by their columns, then by response, weight and number.
bool stands_before(const MatrixView& x, const Block& outcome, Index a, Index b) {
  for (Index j = 0; j < x.cols(); ++j)
    if (const int order = compare_values(x(a, j), x(b, j)); order != 0) return order < 0;
  if (!outcome.label.empty() && outcome.label[at(a)] != outcome.label[at(b)])
    return outcome.label[at(a)] < outcome.label[at(b)];
  if (!outcome.y.empty() && outcome.y[at(a)] != outcome.y[at(b)]) return outcome.y[at(a)] < outcome.y[at(b)];
  if (outcome.weight_of(a) != outcome.weight_of(b)) return outcome.weight_of(a) < outcome.weight_of(b);
  return a < b;
}

/// The row in each place; none where two have the same one, or do not stand in the order of their values.
std::optional<std::vector<Index>> rows_by_place(const Rows& rows, const Block& outcome, const MatrixView& x,
                                                const Labels& order) {
  Index count = 0;
  for (Index i = 0; i < rows.count(); ++i) count += outcome.weight_of(i) > 0 ? 1 : 0;
  if (count == 0) return {};
  std::vector<Index> source(at(count), -1);
  for (Index i = 0; i < rows.count(); ++i) {
    const Index place = order[at(i)];
    if ((place >= 0) != (outcome.weight_of(i) > 0)) return {};
    if (place < 0) continue;
    if (place >= count || source[at(place)] >= 0) return {};
    source[at(place)] = i;
  }
  for (Index p = 0; p + 1 < count; ++p)
    if (!stands_before(x, outcome, source[at(p)], source[at(p + 1)])) return {};
  return source;
}

}  // namespace

std::optional<ForestRows> placed_rows(const Plan& plan, const Rows& rows, const MatrixView& x, const Labels& order) {
  BlockBuffer buffer;
  const Block outcome = rows.outcome(0, rows.count(), buffer);
  check_rows(plan.method, rows, outcome, x);
  auto source = rows_by_place(rows, outcome, x, order);
  if (!source) return {};
  ForestRows out;
  out.source = *std::move(source);
  out.rows = static_cast<Index>(out.source.size());
  out.width = rows.width();
  out.classes = static_cast<Index>(rows.classes.size());
  out.levels = level_counts(rows);
  out.low.resize(at(out.width));
  out.high.resize(at(out.width));
  std::vector<double> counts(at(out.classes), 0.0);
  bool weighted = false;
  for (const Index row : out.source) {
    const double w = outcome.weight_of(row);
    weighted = weighted || w != 1;
    out.weight.push_back(w);
    if (out.classes > 0) {
      out.label.push_back(static_cast<std::uint32_t>(outcome.label[at(row)]));
      counts[out.label.back()] += w;
    } else {
      out.y.push_back(outcome.y[at(row)]);
    }
  }
  if (!weighted) out.weight.clear();
  if (out.classes > 0) out.factor = factors_of(plan, counts, rows.classes);
  else out.standardise();
  return out;
}

}  // namespace lemma::forest
