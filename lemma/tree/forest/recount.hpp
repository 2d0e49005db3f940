// lemma/tree/forest/recount.hpp: the splits of a tree counted anew, on the values of its rows.
#pragma once
#include <lemma/math/radix.hpp>
#include <lemma/tree/forest/rows.hpp>
#include <lemma/tree/shared/nodes.hpp>
#include <string>

namespace lemma::forest {

/// Where a tree is not what it should be.
struct Recount {
  double worst = 0;   // how far a split falls short of the best one at its node, beside the weight of the node's rows
  std::string wrong;  // in words, where something else does not hold
};

/// Walks the rows of its bag down tree b and looks at every node again: the columns that its stream gives are sorted by value and
/// every threshold (every set of few categories) is tried by sums of its own for each side.
class TreeRecount {
 public:
  TreeRecount(const Plan& plan, const ForestRows& data, const MatrixView& x, const TreeNodes& trees,
              std::uint64_t seed);
  Recount look_at(Index tree, const std::vector<double>& copies);

 private:
  struct Member {
    double w, s, copies;
    Index row;
    std::uint32_t label;
  };
  struct Best {
    double worth = -1;
    std::vector<double> thresholds;  // random ones: what was drawn, column by column
  };
  struct Side {
    double w = 0, s = 0, copies = 0;
    std::vector<double> classes;
    double worth() const;
    void add(const Member& member, bool means);
    void add(const Side& other, double sign);
  };
  struct Sums {  // of a side that they say all of
    double w = 0, s = 0, copies = 0;
    void add(const Member& member) {
      w += member.w;
      s += member.s;
      copies += member.copies;
    }
    double worth() const { return w > 0 ? s * s / w : 0; }
  };
  Side side() const;
  double value(const Member& member, Index column) const { return x_(data_.source[at(member.row)], column); }
  /// What the columns drawn at a node offer; `asked`: whether the node's own column is among them.
  Best best_of(const std::vector<Member>& members, Index node, Index own_column, bool& asked);
  void sort_by_value(const std::vector<Member>& members, Index column, Side& apart);
  std::vector<Side> by_value(const std::vector<Member>& members) const;
  void try_plain_numbers(const std::vector<Member>& members, Best& best);
  void try_numbers(const std::vector<Member>& members, Index column, Best& best);
  void try_categories(const std::vector<Member>& members, Index column, Best& best);
  void try_random(const std::vector<Member>& members, Index column, Best& best);
  void offer(const Side& left, const Side& right, const Side& apart, bool right_too, Best& best) const;
  bool agree(const std::vector<Member>& members, Index column) const;
  std::string wrong_with_split(const std::vector<Member>& members, const std::vector<bool>& left, const TreeNode& node,
                               const Best& best) const;

  const Plan& plan_;
  const ForestRows& data_;
  const MatrixView& x_;
  const TreeNodes& trees_;
  std::uint64_t seed_;
  RandomStream stream_{0};
  ColumnDraw draw_;
  std::vector<KeyedRow> sorted_;  // the members at hand by their values in a column
  std::vector<Sums> behind_;
  std::vector<double> values_;
};

}  // namespace lemma::forest
