// lemma/tree/forest/rows.hpp: the rows as the trees of a forest learn from them, and the rows that each tree is given.
#pragma once
#include <cstdint>
#include <lemma/core/random.hpp>
#include <lemma/tree/forest/plan.hpp>
#include <lemma/tree/shared/columns.hpp>
#include <optional>
#include <span>
#include <string>

namespace lemma::forest {

inline constexpr std::uint32_t kMissing = RankedRow::kMissing;

/// Rows of a weight above 0, ordered by their own ranks: so that a bag, and with it the forest, does not depend on the order in
/// which the rows came, nor on the units of the columns. The ranks of a row stand side by side.
struct ForestRows {
  Index rows = 0, width = 0, classes = 0;
  Labels levels;                          // of each column; 0: numbers
  std::vector<std::uint32_t> ranks;       // row after row; of categories the codes
  std::vector<std::uint32_t> by_column;   // the same, column after column
  std::vector<std::vector<double>> low;   // of each rank of a column of numbers: the least value
  std::vector<std::vector<double>> high;  // and the greatest, where ranks are bins; empty: the same
  std::vector<double> values;             // row after row, where thresholds are drawn at random; empty: not needed
  std::vector<std::uint32_t> label;
  std::vector<double> y;  // or numbers: (y − centre) / scale
  double centre = 0, scale = 1;
  std::vector<double> weight;  // empty: all 1
  std::vector<double> factor;  // of each class; empty: all 1
  std::vector<Index> source;   // the place of each among all rows

  const std::uint32_t* ranks_of(std::uint32_t row) const { return ranks.data() + std::size_t{row} * at(width); }
  /// The ranks of a column, and how far those of a row lie from those of the next. The rows of the largest nodes follow one another
  /// closely, and one column of them is read straight on; of smaller ones all columns together fit in a core's cache, where the nodes
  /// below find them again.
  struct ColumnOfRanks {
    const std::uint32_t* first;
    std::size_t step;
    std::uint32_t operator[](std::uint32_t row) const { return first[std::size_t{row} * step]; }
  };
  ColumnOfRanks column(Index j, std::size_t rows_of_node) const {
    constexpr std::size_t kNear = std::size_t{1} << 19;  // ranks
    if (is_large(rows_of_node) && rows_of_node * at(width) > kNear) return {by_column.data() + at(j) * at(rows), 1};
    return {ranks.data() + j, at(width)};
  }
  static bool is_large(std::size_t rows_of_node) { return rows_of_node > 2048; }
  void lay_out_columns();
  void standardise();  // y becomes (y − centre) / scale
  double weight_of(std::uint32_t row) const { return weight.empty() ? 1.0 : weight[row]; }
  double total_weight() const;
  double highest(Index column, std::uint32_t rank) const {
    return high[at(column)].empty() ? low[at(column)][rank] : high[at(column)][rank];
  }
  /// Between the values of two ranks: x < threshold holds of the lower alone.
  double threshold(Index column, std::uint32_t below, std::uint32_t above) const;
  /// Classes in two columns of sums: then the second class is a number that is 0 or 1.
  bool of_means() const { return classes <= 2; }
};

ForestRows forest_rows(const Plan& plan, const Rows& rows, const Execution& execution);
/// The same but for ranks and values, where `order` gives every row its own place (-1: a weight of 0): that is seen by holding each
/// row against the next, without sorting. None where it does not.
std::optional<ForestRows> placed_rows(const Plan& plan, const Rows& rows, const MatrixView& x, const Labels& order);
/// What the weight of a row of each class is multiplied by; empty: all 1.
std::vector<double> factors_of(const Plan& plan, const std::vector<double>& counts,
                               const std::vector<std::string>& classes);
/// With a shuffled copy of each column behind the columns.
ForestRows with_shadows(const ForestRows& rows, std::uint64_t seed);

/// How many copies of each row the tree is given: 0 outside its bag. Depends on seed and tree alone. Of all rows: their weights.
class Bags {
 public:
  Bags(const Plan& plan, const ForestRows& rows, std::uint64_t seed);
  /// For those who have no ranks: the weights alone (empty: so many rows of weight 1).
  Bags(const Plan& plan, Index rows, std::vector<double> weights, std::uint64_t seed);
  void draw(Index tree, std::vector<double>& copies) const;
  Index rows() const { return rows_; }

 private:
  Plan plan_;
  Index rows_;
  std::vector<double> weight_, up_to_;  // empty: all 1
  bool whole_ = true;
  double total_;
  Index draws_;
  std::uint64_t seed_;
};

/// The columns that a node may choose from, one after the other: a function of seed, tree and node.
class ColumnDraw {
 public:
  explicit ColumnDraw(Index width);
  void begin(const RandomStream& tree, Index node);
  bool has_next() const { return drawn_ < static_cast<Index>(columns_.size()); }
  Index next();
  RandomStream& random() { return random_; }

 private:
  std::vector<std::int32_t> columns_;
  std::vector<std::int32_t> places_;  // with which each of those drawn was exchanged
  Index drawn_ = 0;
  RandomStream random_{0};
};

/// Bits that are drawn for other purposes than a node's.
enum class Purpose : std::uint64_t {
  bag = 1ULL << 40,
  shadows = 2ULL << 40,
  shuffle = 3ULL << 40,
  sample = 4ULL << 40
};
inline RandomStream stream_of(std::uint64_t seed, Index tree) {
  return RandomStream(seed, static_cast<std::uint64_t>(tree));
}
inline RandomStream stream_of(std::uint64_t seed, Index tree, Purpose purpose, Index more = 0) {
  return stream_of(seed, tree).split(static_cast<std::uint64_t>(purpose) + static_cast<std::uint64_t>(more));
}

}  // namespace lemma::forest
