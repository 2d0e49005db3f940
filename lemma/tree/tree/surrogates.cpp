// lemma/tree/tree/surrogates.cpp: splits on other columns that stand in for one whose value is missing, as rpart chooses them.
#include <lemma/tree/tree/search.hpp>

namespace lemma::tree {
namespace {

constexpr double kLeastRows = 2;  // on either side of a surrogate

struct Counts {
  double left = 0, right = 0;  // weight that the split sends left, right
  double all() const { return left + right; }
  void add(bool to_right, double w) { (to_right ? right : left) += w; }
};

/// From the greatest value down, so that of equals the highest threshold stays. `above` is what lies over the threshold.
double best_threshold(const SplitGround& ground, Surrogate& out, std::span<const RankedRow> rows,
                      const std::vector<std::uint8_t>& went, Counts below) {
  double agree = std::max(below.left, below.right);
  bool found = false;
  Counts above;
  std::uint32_t last = RankedRow::kMissing, last_row = 0;
  for (std::size_t i = rows.size(); i-- > 0 && below.all() >= kLeastRows;) {
    const auto [row, rank] = rows[i];
    if (rank == RankedRow::kMissing) continue;
    if (above.all() >= kLeastRows && rank != last) {
      const double straight = below.left + above.right, crossed = below.right + above.left;
      if (std::max(straight, crossed) > agree * (1 + 1e-12)) {
        out.less_left = straight >= crossed;
        agree = std::max(straight, crossed);
        out.threshold = ground.data->threshold_of_rows(out.column, row, last_row);
        found = true;
      }
    }
    if (went[row] <= 1) {
      below.add(went[row] == 1, -ground.weight_of(row));
      above.add(went[row] == 1, ground.weight_of(row));
    }
    last = rank;
    last_row = row;
  }
  return found ? agree : 0;
}

double best_sides(const SplitGround& ground, Surrogate& out, std::span<const RankedRow> rows,
                  const std::vector<std::uint8_t>& went, const Counts& all) {
  const auto levels = static_cast<std::size_t>(ground.data->levels[at(out.column)]);
  std::vector<Counts> counts(levels);
  for (const RankedRow& each : rows)
    if (!each.is_missing() && went[each.row] <= 1)
      counts[each.rank].add(went[each.row] == 1, ground.weight_of(each.row));
  out.sides.assign(levels, 0);
  double agree = 0;
  for (std::size_t k = 0; k < levels; ++k) {
    if (counts[k].all() == 0) continue;
    const bool right = counts[k].right > counts[k].left || (counts[k].right == counts[k].left && all.right > all.left);
    out.sides[k] = right ? 1 : -1;
    agree += right ? counts[k].right : counts[k].left;
  }
  return agree;
}

}  // namespace

Surrogate find_surrogate(const SplitGround& ground, Index column, std::span<const RankedRow> rows,
                         const std::vector<std::uint8_t>& went, double total_left, double total_right) {
  Counts all;
  for (const RankedRow& each : rows)
    if (!each.is_missing() && went[each.row] <= 1) all.add(went[each.row] == 1, ground.weight_of(each.row));
  Surrogate out;
  out.column = column;
  const double agree = ground.data->levels[at(column)] > 0 ? best_sides(ground, out, rows, went, all)
                                                           : best_threshold(ground, out, rows, went, all);
  const double total = total_left + total_right, majority = std::max(total_left, total_right) / total;
  out.agreement = agree / total;
  out.adjusted = majority < 1 ? (out.agreement - majority) / (1 - majority) : 0;
  return out;
}

}  // namespace lemma::tree
