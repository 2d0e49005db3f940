// lemma/embed/tsne/forces.cpp: what draws places together and drives them apart, pair by pair or group by group.
#include <algorithm>
#include <array>
#include <cmath>
#include <lemma/embed/tsne/parts.hpp>
#include <numeric>

namespace lemma::tsne {
namespace {

constexpr Index kRows = 32;  // that a thread takes at once
constexpr Index kLeaf = 6;   // places that are looked at one by one

void for_chunks(Index n, const Execution& execution, const std::function<void(Index, Index)>& body) {
  parallel_for((n + kRows - 1) / kRows, execution,
               [&](Index chunk) { body(chunk * kRows, std::min(n, (chunk + 1) * kRows)); });
}

/// Places in a binary tree of boxes, each cut in the middle of its longest side. Nodes in the order of a walk, so that a walk that passes
/// over a node goes on at its `past`.
template <int K>
class PlaceTree {
 public:
  using Place = std::array<double, K>;

  explicit PlaceTree(const Matrix& places) : order_(at(places.rows())), place_(order_.size()) {
    std::iota(order_.begin(), order_.end(), Index{0});
    for (std::size_t i = 0; i < order_.size(); ++i)
      for (int l = 0; l < K; ++l) place_[i][at(l)] = places(static_cast<Index>(i), l);
    nodes_.reserve(order_.size());
    grow(0, static_cast<Index>(order_.size()));
  }

  /// The row at a position of the tree: neighbours in this order are near each other.
  Index row(Index position) const { return order_[at(position)]; }

  /// Σ w² (y − y_j) and Σ w over the others, groups taken as one.
  double repulsion(Index position, double theta_square, Place& force) const {
    const Place y = place_[at(position)];
    double z = 0;
    force.fill(0);
    for (Index at_node = 0; at_node < static_cast<Index>(nodes_.size());) {
      const Node& node = nodes_[at(at_node)];
      Place off;
      const double far = between(y, node.centre, off);
      if (node.square < theta_square * far) {
        const double w = 1 / (1 + far), counted = node.count * w;
        z += counted;
        for (std::size_t l = 0; l < K; ++l) force[l] += counted * w * off[l];
        at_node = node.past;
        continue;
      }
      ++at_node;
      if (!node.is_leaf) continue;
      for (Index j = node.from; j < node.to; ++j) {
        if (j == position) continue;
        const double w = 1 / (1 + between(y, place_[at(j)], off));
        z += w;
        for (std::size_t l = 0; l < K; ++l) force[l] += w * w * off[l];
      }
    }
    return z;
  }

 private:
  struct Node {
    Place centre;
    double square, count;  // of the diagonal
    Index from, to, past;
    bool is_leaf;
  };

  static double between(const Place& a, const Place& b, Place& off) {
    double sum = 0;
    for (std::size_t l = 0; l < K; ++l) {
      off[l] = a[l] - b[l];
      sum += off[l] * off[l];
    }
    return sum;
  }

  void grow(Index from, Index to) {
    const std::size_t self = nodes_.size();
    Place low = place_[at(from)], high = low, sum{};
    for (Index i = from; i < to; ++i)
      for (std::size_t l = 0; l < K; ++l) {
        const double each = place_[at(i)][l];
        low[l] = std::min(low[l], each);
        high[l] = std::max(high[l], each);
        sum[l] += each;
      }
    Node node{sum, 0, static_cast<double>(to - from), from, to, 0, true};
    std::size_t longest = 0;
    for (std::size_t l = 0; l < K; ++l) {
      node.centre[l] /= node.count;
      node.square += (high[l] - low[l]) * (high[l] - low[l]);
      if (high[l] - low[l] > high[longest] - low[longest]) longest = l;
    }
    Index cut = from;
    if (to - from > kLeaf) {
      const double middle = low[longest] + 0.5 * (high[longest] - low[longest]);
      for (Index i = from; i < to; ++i)  // those below come first
        if (place_[at(i)][longest] < middle) {
          std::swap(place_[at(i)], place_[at(cut)]);
          std::swap(order_[at(i)], order_[at(cut)]);
          ++cut;
        }
    }
    node.is_leaf = cut == from || cut == to;
    nodes_.push_back(node);
    if (!node.is_leaf) {
      grow(from, cut);
      grow(cut, to);
    }
    nodes_[self].past = static_cast<Index>(nodes_.size());
  }

  std::vector<Index> order_;
  std::vector<Place> place_;
  std::vector<Node> nodes_;
};

template <int K>
void repel(const Matrix& places, double theta, Forces& out, const Execution& execution) {
  const PlaceTree<K> tree(places);
  Vector z(places.rows());
  for_chunks(places.rows(), execution, [&](Index from, Index to) {
    typename PlaceTree<K>::Place force;
    for (Index position = from; position < to; ++position) {
      const Index i = tree.row(position);
      z(i) = tree.repulsion(position, theta * theta, force);
      for (int l = 0; l < K; ++l) out.repulsion(i, l) = force[at(l)];
    }
  });
  out.z = z.sum();
}

}  // namespace

Forces exact_forces(const Affinities& p, const Matrix& places, bool with_cross, const Execution& execution) {
  const Index n = places.rows(), k = places.cols();
  Forces out{Matrix(n, k), Matrix(n, k)};
  const Matrix columns = places.transpose();
  Vector z(n), cross = Vector::Zero(n);
  for_chunks(n, execution, [&](Index from, Index to) {
    Eigen::ArrayXd far(n), w(n), drawn(n);
    for (Index i = from; i < to; ++i) {
      far.setZero();
      for (Index l = 0; l < k; ++l) far += (columns.row(l).transpose().array() - places(i, l)).square();
      w = (1 + far).inverse();
      w(i) = 0;
      z(i) = w.sum();
      drawn = p.dense.row(i).transpose().array() * w;
      if (with_cross)
        for (Index j = 0; j < i; ++j) cross(i) += p.dense(i, j) > 0 ? p.dense(i, j) * std::log1p(far(j)) : 0;
      w = w.square();
      for (Index l = 0; l < k; ++l) {
        out.attraction(i, l) = (drawn * (places(i, l) - columns.row(l).transpose().array())).sum();
        out.repulsion(i, l) = (w * (places(i, l) - columns.row(l).transpose().array())).sum();
      }
    }
  });
  out.z = z.sum();
  out.cross = 2 * cross.sum();
  return out;
}

Forces grouped_forces(const Affinities& p, const Matrix& places, double theta, const Execution& execution) {
  const Index n = places.rows(), k = places.cols();
  Forces out{Matrix(n, k), Matrix(n, k)};
  if (k == 1) repel<1>(places, theta, out, execution);
  else if (k == 2) repel<2>(places, theta, out, execution);
  else repel<3>(places, theta, out, execution);
  for_chunks(n, execution, [&](Index from, Index to) {
    std::array<double, 3> sum, off;
    for (Index i = from; i < to; ++i) {
      sum.fill(0);
      for (Index e = p.sparse.start[at(i)]; e < p.sparse.start[at(i) + 1]; ++e) {
        const double* other = places.data() + k * p.sparse.column[at(e)];
        double far = 0;
        for (Index l = 0; l < k; ++l) {
          off[at(l)] = places(i, l) - other[l];
          far += off[at(l)] * off[at(l)];
        }
        const double drawn = p.sparse.value[at(e)] / (1 + far);
        for (Index l = 0; l < k; ++l) sum[at(l)] += drawn * off[at(l)];
      }
      for (Index l = 0; l < k; ++l) out.attraction(i, l) = sum[at(l)];
    }
  });
  return out;
}

}  // namespace lemma::tsne
