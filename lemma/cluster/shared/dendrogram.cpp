// lemma/cluster/shared/dendrogram.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/shared/dendrogram.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/graph/union_find.hpp>

namespace lemma {
namespace {

constexpr double kRounding = 1e-12;  // of the greatest height

/// Before a row alone, then by number.
bool stands_before(double a, double b) { return (a < 0) != (b < 0) ? a < 0 : std::abs(a) < std::abs(b); }

}  // namespace

Matrix merges_of(std::span<const Joined> joined) {
  const auto steps = static_cast<Index>(joined.size());
  UnionFind sets(steps + 1);
  std::vector<Index> made(at(steps + 1), 0);  // of the first member of a set the step that made it, from 1; 0: alone
  Matrix out(steps, 2);
  for (Index t = 0; t < steps; ++t) {
    const Index a = sets.find(joined[at(t)].a), b = sets.find(joined[at(t)].b);
    require(sets.join(a, b), "a merge joins rows that are together already");
    const auto named = [&](Index set) { return static_cast<double>(made[at(set)] > 0 ? made[at(set)] : -(set + 1)); };
    out(t, 0) = named(a);
    out(t, 1) = named(b);
    if (stands_before(out(t, 1), out(t, 0))) std::swap(out(t, 0), out(t, 1));
    made[at(std::min(a, b))] = t + 1;
  }
  return out;
}

MergeTree::MergeTree(const Matrix& merges, std::string_view method) {
  const Index steps = merges.rows(), n = steps + 1;
  const auto refuse = [&](const char* what) { throw Error(fmt::format("{}: {}", method, what)); };
  if (steps < 1 || merges.cols() != 2) refuse("the merges of a hierarchy are two columns of at least one row");
  left_.resize(at(steps));
  right_.resize(at(steps));
  end_.assign(at(steps), steps);
  row_end_.assign(at(n), -1);
  for (Index t = 0; t < steps; ++t)
    for (const int side : {0, 1}) {
      const double name = merges(t, side);
      if (!(std::abs(name) >= 1 && name >= -static_cast<double>(n) && name <= static_cast<double>(t)) ||
          name != std::floor(name))
        refuse("a merge joins something that is not there");
      const Index node = name < 0 ? ~(static_cast<Index>(-name) - 1) : static_cast<Index>(name) - 1;
      Index& end = is_row(node) ? row_end_[at(~node)] : end_[at(node)];
      if (end != (is_row(node) ? -1 : steps)) refuse("a row or cluster is joined twice");
      end = t;
      (side == 0 ? left_ : right_)[at(t)] = node;
    }
  for (Index t = 0; t < steps; ++t)
    if (!stands_before(merges(t, 0), merges(t, 1))) refuse("the two sides of a merge are not in their order");

  size_.resize(at(steps));
  for (Index t = 0; t < steps; ++t) size_[at(t)] = size(left(t)) + size(right(t));
  first_.assign(at(steps), 0);
  depth_.assign(at(steps), 0);
  place_.assign(at(n), 0);
  row_depth_.assign(at(n), 0);
  order_.assign(at(n), 0);
  joins_.assign(at(n), 0);
  for (Index t = steps - 1; t >= 0; --t) {  // parents come after their children
    const Index begin = first_[at(t)], middle = begin + size(left(t));
    joins_[at(middle)] = t;
    for (const auto& [node, start] : {std::pair{left(t), begin}, {right(t), middle}}) {
      (is_row(node) ? place_[at(~node)] : first_[at(node)]) = start;
      (is_row(node) ? row_depth_[at(~node)] : depth_[at(node)]) = depth_[at(t)] + 1;
      if (is_row(node)) order_[at(start)] = ~node;
    }
  }
}

Labels cut_into(const Matrix& merges, Index k) {
  const Index n = merges.rows() + 1;
  UnionFind sets(n);
  std::vector<Index> member(at(n), 0);  // of each cluster a row
  for (Index t = 0; t < n - k; ++t) {
    const auto row_of = [&](double name) {
      return name < 0 ? static_cast<Index>(-name) - 1 : member[at(static_cast<Index>(name) - 1)];
    };
    const Index a = row_of(merges(t, 0)), b = row_of(merges(t, 1));
    sets.join(a, b);
    member[at(t)] = a;
  }
  Labels number(at(n), -1), out(at(n));
  int next = 0;
  for (Index i = 0; i < n; ++i) {
    int& label = number[at(sets.find(i))];
    if (label < 0) label = next++;
    out[at(i)] = label;
  }
  return out;
}

int inversions_of(const MergeTree& tree, const Vector& heights) {
  const double slack = kRounding * heights.cwiseAbs().maxCoeff();
  int out = 0;
  for (Index t = 0; t < tree.steps(); ++t) {
    const auto above = [&](Index node) { return !MergeTree::is_row(node) && heights(node) > heights(t) + slack; };
    out += above(tree.left(t)) || above(tree.right(t));
  }
  return out;
}

double agglomerative_coefficient(const MergeTree& tree, const Vector& heights) {
  const double last = heights(heights.size() - 1);
  if (!(std::abs(last) > 0)) return std::nan("");
  double sum = 0;
  for (Index i = 0; i < tree.rows(); ++i) sum += 1 - heights(tree.end(~i)) / last;
  return sum / static_cast<double>(tree.rows());
}

void Cut::check() const {
  if (k && height) throw Error("cut: k and height are two ways to cut; give one of them");
}

Labels cut(const Matrix& merges, const Vector& heights, const Cut& how, Index otherwise, std::string_view method) {
  const Index n = merges.rows() + 1;
  if (how.height) {
    for (Index t = 1; t < heights.size(); ++t)
      if (heights(t) < heights(t - 1) - kRounding * heights.cwiseAbs().maxCoeff())
        throw Error(fmt::format(
            "{}: the heights do not rise (merge {} is lower than the one before it), so a height cuts no clusters out; "
            "cut by --k",
            method, t + 1));
    return cut_into(merges, n - (heights.array() <= *how.height).count());
  }
  const Index k = how.k ? *how.k : otherwise;
  if (k > n) throw Error(fmt::format("{}: k is {}, but there are only {}", method, k, count_of(n, "row")));
  return cut_into(merges, k);
}

}  // namespace lemma
