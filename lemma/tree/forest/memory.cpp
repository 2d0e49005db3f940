// lemma/tree/forest/memory.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/tree/forest/memory.hpp>
#include <lemma/tree/forest/rows.hpp>
#include <numeric>

namespace lemma::forest {

std::shared_ptr<MemoryCell> empty_memory() { return std::make_shared<MemoryCell>(); }

namespace {

std::vector<double> to_vector(const Vector& v) { return {v.begin(), v.end()}; }

const LeafMembers& members_of(const Grove& grove, const Plan& plan) {
  if (!grove.keeps_rows())
    throw Error(
        fmt::format("{}: the model does not keep its training rows; fit it with --keep_rows true", plan.method));
  MemoryCell& cell = *grove.memory;
  std::call_once(cell.members_once, [&] {
    LeafMembers& out = cell.members;
    const auto n = at(grove.rows_by_place());
    std::vector<double> factor;
    if (grove.of_classes)
      factor = class_factors(plan.method, plan.class_weights, to_vector(grove.counts),
                             std::vector<std::string>(at(grove.counts.size())));
    const Bags bags(plan, static_cast<Index>(n), to_vector(grove.weight), grove.seed_bits());
    out.begin.assign(at(grove.trees.leaves()) + 1, 0);
    std::vector<std::size_t> first_leaf;  // of each tree
    std::size_t leaves = 0;
    for (std::size_t b = 0; b < grove.trees.roots.size(); ++b) {
      const Index end = b + 1 < grove.trees.roots.size() ? grove.trees.roots[b + 1] : grove.trees.size();
      first_leaf.push_back(leaves);
      leaves += at((end - grove.trees.roots[b] + 1) / 2);
    }
    const auto leaf = [&](std::size_t i) { return first_leaf[i / n] + at(grove.kept_leaves[i]); };
    for (std::size_t i = 0; i < grove.kept_leaves.size(); ++i) ++out.begin[leaf(i) + 1];
    std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
    out.member.resize(grove.kept_leaves.size());
    out.share.assign(grove.kept_leaves.size(), 0.0);
    std::vector<std::size_t> next(out.begin.begin(), out.begin.end() - 1);
    std::vector<double> copies;
    for (std::size_t i = 0; i < grove.kept_leaves.size(); ++i) {
      const std::size_t row = i % n;
      if (row == 0) bags.draw(static_cast<Index>(i / n), copies);
      const std::size_t place = next[leaf(i)]++;
      out.member[place] = static_cast<std::uint32_t>(row);
      out.share[place] =
          copies[row] *
          (grove.of_classes ? factor[at(static_cast<Index>(grove.kept_response(static_cast<Index>(row))))] : 1);
    }
    for (std::size_t l = 0; l + 1 < out.begin.size(); ++l) {
      double sum = 0;
      for (std::size_t i = out.begin[l]; i < out.begin[l + 1]; ++i) sum += out.share[i];
      for (std::size_t i = out.begin[l]; i < out.begin[l + 1]; ++i) out.share[i] /= sum;
    }
  });
  return cell.members;
}

/// add(row of x, member of its leaf, by its place in `members`), tree by tree.
void for_each_companion(const Grove& grove, const LeafMembers& members, const MatrixView& x, auto add) {
  std::vector<std::int32_t> leaf(at(x.rows()));
  for (Index b = 0; b < grove.trees.trees(); ++b) {
    grove.trees.leaves_of(x, b, leaf);
    for (Index i = 0; i < x.rows(); ++i) {
      const std::size_t number = grove.trees[leaf[at(i)]].column;
      for (std::size_t m = members.begin[number]; m < members.begin[number + 1]; ++m) add(i, m);
    }
  }
}

/// Columns by place become columns by row of the table; rows of weight 0 have nothing.
Matrix by_row(const Grove& grove, const Matrix& by_place) {
  Matrix out = Matrix::Zero(by_place.rows(), static_cast<Index>(grove.order.size()));
  for (std::size_t i = 0; i < grove.order.size(); ++i)
    if (grove.order[i] >= 0) out.col(static_cast<Index>(i)) = by_place.col(grove.order[i]);
  return out;
}

Matrix proximity_by_place(const Grove& grove, const LeafMembers& members, const MatrixView& x) {
  Matrix out = Matrix::Zero(x.rows(), grove.rows_by_place());
  for_each_companion(grove, members, x, [&](Index i, std::size_t m) { out(i, members.member[m]) += 1; });
  return out / static_cast<double>(grove.trees.trees());
}

Matrix weights_by_place(const Grove& grove, const LeafMembers& members, const MatrixView& x) {
  Matrix out = Matrix::Zero(x.rows(), grove.rows_by_place());
  for_each_companion(grove, members, x, [&](Index i, std::size_t m) { out(i, members.member[m]) += members.share[m]; });
  return out / static_cast<double>(grove.trees.trees());
}

/// What a column most likely is, by weights on the training rows; NaN when none of them knows.
double likely(const Grove& grove, Index column, const auto& weight_of) {
  const int levels = grove.trees.levels[at(column)];
  std::vector<double> votes(at(levels), 0.0);
  double sum = 0, weight = 0;
  for (Index i = 0; i < grove.kept_rows.rows(); ++i) {
    const double x = grove.kept_rows(i, column), w = weight_of(i);
    if (std::isnan(x) || !(w > 0)) continue;
    weight += w;
    if (levels > 0) votes[static_cast<std::size_t>(x)] += w;
    else sum += w * x;
  }
  if (!(weight > 0)) return std::nan("");
  return levels == 0 ? sum / weight : static_cast<double>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

}  // namespace

Matrix proximity(const Grove& grove, const Plan& plan, const MatrixView& x) {
  return by_row(grove, proximity_by_place(grove, members_of(grove, plan), x));
}

Matrix distance(const Grove& grove, const Plan& plan, const MatrixView& x) {
  return (1 - proximity(grove, plan, x).array()).sqrt().matrix();
}

Matrix neighbour_weights(const Grove& grove, const Plan& plan, const MatrixView& x) {
  return by_row(grove, weights_by_place(grove, members_of(grove, plan), x));
}

Matrix filled(const Grove& grove, const Plan& plan, const MatrixView& x) {
  const LeafMembers& members = members_of(grove, plan);
  Matrix out = x;
  for (Index i = 0; i < x.rows(); ++i) {
    if (!x.row(i).array().isNaN().any()) continue;
    const Matrix near = proximity_by_place(grove, members, x.middleRows(i, 1));
    for (Index j = 0; j < x.cols(); ++j) {
      if (!std::isnan(x(i, j))) continue;
      out(i, j) = likely(grove, j, [&](Index row) { return near(0, row); });
      if (std::isnan(out(i, j))) out(i, j) = likely(grove, j, [](Index) { return 1.0; });
    }
  }
  return out;
}

Matrix quantiles_at(const Grove& grove, const Plan& plan, const MatrixView& x, const std::vector<double>& p) {
  const LeafMembers& members = members_of(grove, plan);
  std::vector<Index> order(at(grove.kept_response.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return grove.kept_response(a) < grove.kept_response(b); });
  Matrix out(x.rows(), static_cast<Index>(p.size()));
  for (Index i = 0; i < x.rows(); ++i) {
    const Matrix weight = weights_by_place(grove, members, x.middleRows(i, 1));
    for (std::size_t q = 0; q < p.size(); ++q) {
      double up_to = 0;
      Index found = order.back();
      for (const Index row : order) {
        if (!(weight(0, row) > 0)) continue;
        up_to += weight(0, row);
        found = row;
        if (up_to >= p[q] * (1 - 1e-12)) break;
      }
      out(i, static_cast<Index>(q)) = grove.kept_response(found);
    }
  }
  return out;
}

NamedMatrix quantiles(const Grove& grove, const Plan& plan, const MatrixView& x, const PredictOptions& options) {
  require(!grove.of_classes,
          fmt::format("{}: quantiles are those of numbers, and this model tells classes", plan.method));
  const std::vector<double> p{(1 - options.level) / 2, 0.5, (1 + options.level) / 2};
  NamedMatrix out{quantiles_at(grove, plan, x, p), {}};
  for (const double each : p) out.columns.push_back("q" + format_significant(each, 6));
  return out;
}

Prediction outliers(const Grove& grove, const Plan& plan, const OutlierOptions& options) {
  const LeafMembers& members = members_of(grove, plan);
  const Index n = grove.kept_rows.rows(), classes = grove.of_classes && options.within ? grove.counts.size() : 1;
  const auto class_of = [&](Index i) { return classes > 1 ? static_cast<Index>(grove.kept_response(i)) : 0; };
  Vector raw(n);
  constexpr Index kTogether = 64;
  for (Index first = 0; first < n; first += kTogether) {
    const Index count = std::min(kTogether, n - first);
    const Matrix near = proximity_by_place(grove, members, grove.kept_rows.middleRows(first, count));
    for (Index i = 0; i < count; ++i) {
      double sum = 0;
      for (Index j = 0; j < n; ++j)
        if (j != first + i && class_of(j) == class_of(first + i)) sum += near(i, j) * near(i, j);
      raw(first + i) = static_cast<double>(n) / std::max(sum, 1e-3 / static_cast<double>(n));
    }
  }
  const auto median = [](std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<Index>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  Vector out = Vector::Constant(static_cast<Index>(grove.order.size()), std::nan(""));
  for (Index k = 0; k < classes; ++k) {
    std::vector<double> own, apart;
    for (Index i = 0; i < n; ++i)
      if (class_of(i) == k) own.push_back(raw(i));
    if (own.empty()) continue;
    const double middle = median(own);
    for (const double each : own) apart.push_back(std::abs(each - middle));
    const double unit = median(apart);
    for (std::size_t i = 0; i < grove.order.size(); ++i) {
      const int place = grove.order[i];
      if (place >= 0 && class_of(place) == k)
        out(static_cast<Index>(i)) = (raw(place) - middle) / (unit > 0 ? unit : 1);
    }
  }
  Prediction said;
  said.add({"outlier", "how far from its own kind, in median distances", Given::by_default}, std::move(out));
  return said;
}

}  // namespace lemma::forest
