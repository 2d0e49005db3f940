// lemma/plot/branches.cpp
#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/plot/branches.hpp>

namespace lemma::plot {

Vector order_of(const Matrix& merges) {
  Vector out(merges.rows() + 1);
  Index next = 0;
  std::vector<double> waiting{static_cast<double>(merges.rows())};  // the last step joins all
  while (!waiting.empty()) {
    const double at = waiting.back();
    waiting.pop_back();
    if (at < 0) {
      require(next < out.size(), "the merges of the hierarchy do not fit together");
      out(next++) = -at;
      continue;
    }
    const auto step = static_cast<Index>(at) - 1;
    waiting.push_back(merges(step, 1)), waiting.push_back(merges(step, 0));
  }
  require(next == out.size(), "the merges of the hierarchy do not fit together");
  return out;
}

std::vector<Branch> branches_of(const Hierarchy& hierarchy, const std::vector<int>& group) {
  constexpr int kMixed = -1;
  const Index n = hierarchy.rows();
  require(hierarchy.heights.size() == n - 1 && hierarchy.order.size() == n,
          "the parts of the hierarchy do not fit together");
  struct Node {
    double place = 0, height = 0;
    int group = kMixed;
  };
  std::vector<Node> leaves(static_cast<std::size_t>(n)), steps;
  for (Index k = 0; k < n; ++k) {
    const auto row = static_cast<std::size_t>(hierarchy.order(k)) - 1;
    leaves.at(row) = {static_cast<double>(k), 0, group.empty() ? kMixed : group.at(row)};
  }
  std::vector<Branch> out;
  for (Index s = 0; s + 1 < n; ++s) {
    const auto child = [&](Index side) {
      const double at = hierarchy.merges(s, side);
      return at < 0 ? leaves.at(static_cast<std::size_t>(-at) - 1) : steps.at(static_cast<std::size_t>(at) - 1);
    };
    const Node a = child(0), b = child(1);
    const double height = hierarchy.heights(s);
    const int both = a.group == b.group ? a.group : kMixed;
    out.push_back({a.place, a.height, a.place, height, a.group == both ? both : kMixed});
    out.push_back({b.place, b.height, b.place, height, b.group == both ? both : kMixed});
    out.push_back({a.place, height, b.place, height, both});
    steps.push_back({(a.place + b.place) / 2, height, both});
  }
  return out;
}

std::optional<double> cut_height(const Hierarchy& hierarchy, Index k) {
  const Vector& heights = hierarchy.heights;
  const Index n = hierarchy.rows();
  if (k < 2 || k > n || !std::is_sorted(heights.begin(), heights.end())) return {};
  const double above = heights(n - k), below = n - k > 0 ? heights(n - k - 1) : 0;
  return (above + below) / 2;
}

}  // namespace lemma::plot
