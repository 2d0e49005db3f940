// lemma/cluster/hdbscan/condense.cpp
#include <algorithm>
#include <cmath>
#include <lemma/cluster/hdbscan/condense.hpp>
#include <limits>
#include <numeric>

namespace lemma {

Lambda::Lambda(const Vector& heights) {
  double greatest = 0, least = std::numeric_limits<double>::infinity();
  for (const double height : heights) {
    greatest = std::max(greatest, height);
    if (height > 0) least = std::min(least, height);
  }
  if (greatest > 0) greatest_ = greatest, least_ = least;
}

double Lambda::operator()(double height) const {
  return std::isinf(height) ? 0.0 : greatest_ / std::max(height, least_);
}

std::vector<Index> parts_below(const MergeTree& tree, const Vector& heights, Index node) {
  std::vector<Index> out, open{node};
  while (!open.empty()) {
    const Index each = open.back();
    open.pop_back();
    if (MergeTree::is_row(each) || heights(each) < heights(node)) {
      out.push_back(each);
    } else {
      open.push_back(tree.right(each));
      open.push_back(tree.left(each));
    }
  }
  return out;
}

Condensed condense(const MergeTree& tree, const Vector& heights, Index least_size) {
  const Lambda lambda(heights);
  Condensed out{{}, std::vector<Index>(at(tree.rows()), 0), Vector::Zero(tree.rows())};
  out.clusters.push_back({-1, tree.steps() - 1, tree.rows(), std::numeric_limits<double>::infinity()});
  std::vector<std::pair<Index, Index>> open{
      {tree.steps() - 1, 0}};  // a node, and the cluster that it is what is left of
  while (!open.empty()) {
    const auto [node, cluster] = open.back();
    open.pop_back();
    const double height = heights(node);
    std::vector<Index> large;
    for (const Index part : parts_below(tree, heights, node)) {
      if (!MergeTree::is_row(part) && tree.size(part) >= least_size) {
        large.push_back(part);
        continue;
      }
      for (Index place = tree.first(part); place < tree.first(part) + tree.size(part); ++place) {
        const Index row = tree.order()[at(place)];
        out.last[at(row)] = cluster;
        out.leaves(row) = height;
        out.clusters[at(cluster)].stability += lambda(height) - lambda(out.clusters[at(cluster)].birth);
      }
    }
    if (large.size() == 1) {
      open.emplace_back(large[0], cluster);
      continue;
    }
    if (large.empty()) continue;
    out.clusters[at(cluster)].split = height;
    for (const Index part : large) {
      const auto child = static_cast<Index>(out.clusters.size());
      const double lost = lambda(height) - lambda(out.clusters[at(cluster)].birth);
      out.clusters[at(cluster)].stability += static_cast<double>(tree.size(part)) * lost;
      out.clusters[at(cluster)].children.push_back(child);
      out.clusters.push_back({cluster, part, tree.size(part), height});
      open.emplace_back(part, child);
    }
  }
  return out;
}

std::vector<char> chosen(const Condensed& condensed, ClusterSelection how) {
  const auto count = static_cast<Index>(condensed.clusters.size());
  std::vector<char> out(at(count), 0);
  std::vector<double> best(at(count), 0);  // the greatest sum of stabilities within
  for (Index c = count - 1; c > 0; --c) {  // children come after their parents
    const CondensedCluster& each = condensed.clusters[at(c)];
    double below = 0;
    for (const Index child : each.children) below += best[at(child)];
    const bool leaf = each.children.empty();
    const bool take = how == ClusterSelection::leaf ? leaf : leaf || each.stability >= below;
    out[at(c)] = take;
    best[at(c)] = take ? each.stability : below;
  }
  std::vector<char> within(at(count), 0);  // one that is taken: it holds no other
  for (Index c = 1; c < count; ++c) {
    const Index parent = condensed.clusters[at(c)].parent;
    within[at(c)] = within[at(parent)] || out[at(parent)];
    if (within[at(c)]) out[at(c)] = 0;
  }
  return out;
}

void describe(HdbscanModel& model, const Condensed& condensed, const MergeTree& tree) {
  const auto& clusters = condensed.clusters;
  const Lambda lambda(model.heights);
  const std::vector<char> taken = chosen(condensed, model.spec.selection);
  std::vector<Index> numbered;
  for (std::size_t c = 0; c < clusters.size(); ++c)
    if (taken[c]) numbered.push_back(static_cast<Index>(c));
  std::stable_sort(numbered.begin(), numbered.end(),
                   [&](Index a, Index b) { return clusters[at(a)].stability > clusters[at(b)].stability; });
  const Index n = tree.rows(), k = static_cast<Index>(numbered.size());
  model.labels = model.strengths = model.outliers = Vector::Zero(n);
  model.sizes = model.stabilities = Vector::Zero(k);
  model.tree = Matrix::Zero(static_cast<Index>(clusters.size()), 6);
  // The deepest row of each cluster, those of the clusters within counted.
  std::vector<double> deepest(clusters.size(), 0);
  for (Index i = 0; i < n; ++i) {
    double& own = deepest[at(condensed.last[at(i)])];
    own = std::max(own, lambda(condensed.leaves(i)));
  }
  for (std::size_t c = clusters.size(); c-- > 1;) {
    double& parent = deepest[at(clusters[c].parent)];
    parent = std::max(parent, deepest[c]);
  }
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const CondensedCluster& each = clusters[c];
    const auto row = static_cast<Index>(c);
    model.tree.row(row) << static_cast<double>(each.parent + 1), static_cast<double>(each.size),
        std::isinf(each.birth) ? 0.0 : each.birth, each.split, each.stability, 0.0;
  }
  for (Index j = 0; j < k; ++j) {
    const CondensedCluster& each = clusters[at(numbered[at(j)])];
    model.sizes(j) = static_cast<double>(each.size);
    model.stabilities(j) = each.stability;
    model.tree(numbered[at(j)], 5) = static_cast<double>(j + 1);
    for (Index place = tree.first(each.node); place < tree.first(each.node) + each.size; ++place) {
      const Index row = tree.order()[at(place)];
      model.labels(row) = static_cast<double>(j + 1);
      model.strengths(row) = lambda(condensed.leaves(row)) / deepest[at(numbered[at(j)])];
    }
  }
  for (Index i = 0; i < n; ++i)
    model.outliers(i) = 1 - lambda(condensed.leaves(i)) / deepest[at(condensed.last[at(i)])];
  model.noise = (model.labels.array() == 0).count();
}

}  // namespace lemma
