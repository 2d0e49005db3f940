// lemma/cluster/hdbscan/condense.hpp: the clusters of a hierarchy that have enough rows. Inner header: use
// lemma/cluster/hdbscan.hpp.
#pragma once
#include <lemma/cluster/hdbscan.hpp>
#include <lemma/cluster/shared/dendrogram.hpp>

namespace lemma {

struct CondensedCluster {
  Index parent = -1;
  Index node = 0;  // of the merges: all its rows
  Index size = 0;
  double birth = 0;  // height; of the first, which has all rows, infinite
  double split = 0;  // height at which it parts; 0: it does not
  double stability = 0;
  std::vector<Index> children = {};
};

struct Condensed {
  std::vector<CondensedCluster> clusters;  // parents before their children
  std::vector<Index> last;                 // of each row the last cluster it is in
  Vector leaves;                           // the height at which it leaves that
};

/// λ of a height: (greatest height) / height; 0 of an infinite one, and of a height of 0 that of the least one above 0.
class Lambda {
 public:
  explicit Lambda(const Vector& heights);
  double operator()(double height) const;

 private:
  double greatest_ = 1, least_ = 1;
};

Condensed condense(const MergeTree& tree, const Vector& heights, Index least_size);
/// Which clusters are taken.
std::vector<char> chosen(const Condensed& condensed, ClusterSelection how);
/// The parts of a node at its own height: what it is made of strictly below.
std::vector<Index> parts_below(const MergeTree& tree, const Vector& heights, Index node);

/// The fields that follow from merges and heights.
void describe(HdbscanModel& model, const Condensed& condensed, const MergeTree& tree);

}  // namespace lemma
