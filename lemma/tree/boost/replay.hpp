// lemma/tree/boost/replay.hpp: the rows sent through a stored model once more, and what was seen on the way.
#pragma once
#include <lemma/tree/boost/linear.hpp>
#include <lemma/tree/boost/outcome.hpp>

namespace lemma::boost {

/// Thresholds of each column, each once, ascending.
std::vector<std::vector<double>> thresholds_of(const TreeNodes& trees);

/// The stored trees with each threshold by its number among those of its column: a row whose values have been placed among the
/// thresholds once goes down all trees by small whole numbers. Of trees of numbers alone.
class PlacedTrees {
 public:
  PlacedTrees(const TreeNodes& trees, const std::vector<std::vector<double>>& thresholds);
  /// False: categories, or more thresholds than there are small numbers.
  bool suits() const { return !steps_.empty(); }
  /// The leaf (its node) that each row reaches whose places stand in `places`, `width` of each.
  void leaves_of(const std::uint16_t* places, Index width, Index tree, std::span<std::int32_t> out) const;

 private:
  struct Step {
    std::uint16_t column = 0, cut = 0xffff;  // places beyond the cut go right; of a leaf none is
    std::int32_t child = 0;
  };
  std::vector<Step> steps_;  // of each node
  std::vector<std::int32_t> roots_;
  std::vector<int> depth_;  // of each tree
};

/// One pass. The score of a row before each round follows from the row alone, so that slopes, losses and the sums of every leaf
/// are found without a look at other rows.
struct Replay {
  const BoostModel* model;
  std::shared_ptr<const std::vector<std::vector<double>>> thresholds;
  std::shared_ptr<const std::vector<Search>> places;  // among them
  std::shared_ptr<const PlacedTrees> placed;
  bool has_categories = false;

  std::vector<double> g, h, cover;   // of each leaf
  std::vector<double> below, up_to;  // of each leaf: weight of the residuals below its value, and of those not above it
  std::vector<char> missed;          // of each node: a row misses the value that is asked for
  std::vector<std::uint32_t> reached;            // of each set: categories that came
  std::vector<std::vector<double>> under, over;  // of each threshold: the nearest values on both sides
  std::vector<LineSums> lines;                   // base linear: of each step
  std::vector<double> loss, held_out;            // before each round, and at the end
  std::vector<double> sum;                       // base linear: of each column, from the centre
  double weight = 0, held_weight = 0;

  Replay(const BoostModel& of, const Execution& execution);
  void accumulate(const Block& block);
  void merge(const Replay& other);

 private:
  struct Part;  // a few rows, all rounds
  void look_at_values(const Block& block, Index i, bool counts, std::uint16_t* place);
  void walk(const double* row, Index tree);
};

}  // namespace lemma::boost
