// lemma/density/kde/sums.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <lemma/density/kde/sums.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/math/special.hpp>
#include <limits>
#include <numbers>
#include <numeric>

namespace lemma::kde {
namespace {

constexpr Index kLeaf = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 0x1p-54;  // a share of the sum that its last digit does not tell

/// ∫ D(r) r^m dr from 0 to 1, or to ∞ of Gaussians.
double moment(DensityKernel kernel, double m) {
  switch (kernel) {
    case DensityKernel::gaussian: return 0.5 * std::exp(0.5 * (m + 1) * std::numbers::ln2 + log_gamma(0.5 * (m + 1)));
    case DensityKernel::epanechnikov: return 1 / (m + 1) - 1 / (m + 3);
    case DensityKernel::uniform: return 1 / (m + 1);
    case DensityKernel::triangular: return 1 / (m + 1) - 1 / (m + 2);
    case DensityKernel::biweight: return 1 / (m + 1) - 2 / (m + 3) + 1 / (m + 5);
    case DensityKernel::cosine: break;
  }
  // cos(π r / 2) term by term
  double sum = 0, term = 1;
  for (int k = 0; k < 40; ++k) {
    sum += term / (2 * k + m + 1);
    term *= -(std::numbers::pi * std::numbers::pi / 4) / ((2 * k + 1) * (2 * k + 2));
  }
  return sum;
}

/// Four sums side by side, in an order that the number of terms alone decides.
template <class Term>
double sum_of(Index n, const Term& term) {
  std::array<double, 4> s{};
  Index i = 0;
  for (; i + 4 <= n; i += 4)
    for (Index k = 0; k < 4; ++k) s[at(k)] += term(i + k);
  for (; i < n; ++i) s[0] += term(i);
  return (s[0] + s[1]) + (s[2] + s[3]);
}

}  // namespace

double profile(DensityKernel kernel, double r2) {
  if (kernel == DensityKernel::gaussian) return std::exp(-0.5 * r2);
  if (r2 > 1) return 0;
  switch (kernel) {
    case DensityKernel::uniform: return 1;
    case DensityKernel::epanechnikov: return 1 - r2;
    case DensityKernel::triangular: return 1 - std::sqrt(r2);
    case DensityKernel::biweight: return (1 - r2) * (1 - r2);
    default: return std::max(0.0, std::cos(0.5 * std::numbers::pi * std::sqrt(r2)));
  }
}

double log_volume(DensityKernel kernel, Index d) {
  const auto n = static_cast<double>(d);
  if (kernel == DensityKernel::gaussian) return 0.5 * n * std::log(2 * std::numbers::pi);
  const double log_surface = std::numbers::ln2 + 0.5 * n * std::log(std::numbers::pi) - log_gamma(0.5 * n);
  return log_surface + std::log(moment(kernel, n - 1));
}

double deviation_of(DensityKernel kernel, Index d) {
  if (kernel == DensityKernel::gaussian) return 1;
  const auto n = static_cast<double>(d);
  return std::sqrt(moment(kernel, n + 1) / (n * moment(kernel, n - 1)));
}

struct Sums::Asked {
  const double* place;      // in units
  double inverse, epsilon;  // 1 / c²
  Index own = -1;           // place of the row that loses a copy
};

Sums::Sums(const Matrix& x, const Vector& weight, const Vector& unit, DensityKernel kernel)
    : kernel_(kernel),
      d_(x.cols()),
      origin_(x.colwise().mean().transpose()),
      inverse_unit_(unit.cwiseInverse()),
      row_(at(x.rows())),
      place_(at(x.rows())) {
  const Matrix scaled = (x.rowwise() - origin_.transpose()) * inverse_unit_.asDiagonal();
  std::iota(row_.begin(), row_.end(), Index{0});
  columns_.resize(at(x.size()));
  build(row_, 0, x.rows(), scaled, weight);
  weight_.resize(row_.size());
  for (std::size_t p = 0; p < row_.size(); ++p) {
    place_[at(row_[p])] = static_cast<Index>(p);
    weight_[p] = weight(row_[p]);
    mass_ += weight_[p];
    alike_ = alike_ && weight_[p] == 1;
  }
}

/// Halves the rows along the column that they are widest in, until they fit into a leaf.
Index Sums::build(std::vector<Index>& order, Index first, Index size, const Matrix& scaled, const Vector& weight) {
  const auto self = static_cast<Index>(nodes_.size());
  nodes_.push_back({first, size, 0, 0, 0});
  Vector low = scaled.row(order[at(first)]), high = low;
  double mass = 0;
  for (Index i = first; i < first + size; ++i) {
    low = low.cwiseMin(scaled.row(order[at(i)]).transpose());
    high = high.cwiseMax(scaled.row(order[at(i)]).transpose());
    mass += weight(order[at(i)]);
  }
  bounds_.insert(bounds_.end(), low.begin(), low.end());
  bounds_.insert(bounds_.end(), high.begin(), high.end());
  nodes_[at(self)].weight = mass;
  Index widest = 0;
  if (size > kLeaf && (high - low).maxCoeff(&widest) > 0) {
    const auto begin = order.begin() + first;
    std::nth_element(begin, begin + size / 2, begin + size, [&](Index a, Index b) {
      for (Index j = 0; j < d_; ++j) {  // of equal values the other columns decide: an order of the values alone
        const Index column = (widest + j) % d_;
        if (scaled(a, column) != scaled(b, column)) return scaled(a, column) < scaled(b, column);
      }
      return a < b;
    });
    const Index left = build(order, first, size / 2, scaled, weight);
    const Index right = build(order, first + size / 2, size - size / 2, scaled, weight);
    nodes_[at(self)].left = left;
    nodes_[at(self)].right = right;
    return self;
  }
  std::sort(order.begin() + first, order.begin() + first + size, [&](Index a, Index b) {
    for (Index j = 0; j < d_; ++j)
      if (scaled(a, j) != scaled(b, j)) return scaled(a, j) < scaled(b, j);
    return a < b;
  });
  for (Index j = 0; j < d_; ++j)
    for (Index i = 0; i < size; ++i) columns_[at(first * d_ + j * size + i)] = scaled(order[at(first + i)], j);
  return self;
}

Sums::Between Sums::between(const Node& node, const double* place) const {
  const double* low = bounds_.data() + (&node - nodes_.data()) * 2 * d_;
  const double* high = low + d_;
  Between out{0, 0};
  for (Index j = 0; j < d_; ++j) {
    const double below = low[j] - place[j], above = place[j] - high[j];
    const double near = std::max({below, above, 0.0}), far = std::max(-below, -above);
    out.least += near * near;
    out.most += far * far;
  }
  return out;
}

/// The least squared distance to a row that counts.
double Sums::nearest(const Asked& asked) const {
  double best = kInfinity;
  std::vector<std::pair<double, Index>> open{{0.0, 0}};
  while (!open.empty()) {
    const auto [bound, which] = open.back();
    open.pop_back();
    if (bound >= best) continue;
    const Node& node = nodes_[at(which)];
    if (node.left != 0) {
      const double a = between(nodes_[at(node.left)], asked.place).least;
      const double b = between(nodes_[at(node.right)], asked.place).least;
      const std::pair<double, Index> left{a, node.left}, right{b, node.right};
      open.push_back(a <= b ? right : left);
      open.push_back(a <= b ? left : right);
      continue;
    }
    const double* column = columns_.data() + node.first * d_;
    for (Index i = 0; i < node.size; ++i) {
      if (node.first + i == asked.own && !(weight_[at(asked.own)] > 1)) continue;
      double r2 = 0;
      for (Index j = 0; j < d_; ++j) {
        const double gap = asked.place[j] - column[j * node.size + i];
        r2 += gap * gap;
      }
      best = std::min(best, r2);
    }
  }
  return best;
}

/// Σ w D over the rows of a leaf, of Gaussians beside exp(−½ r²) of the nearest row, which `space` holds in front.
double Sums::leaf_sum(const Node& node, const Asked& asked, std::vector<double>& space) const {
  const double shift = space[0];
  const Index n = node.size;
  space.resize(at(n) + 1);
  double* r2 = space.data() + 1;
  std::fill(r2, r2 + n, 0.0);
  const double* column = columns_.data() + node.first * d_;
  for (Index j = 0; j < d_; ++j, column += n) {
    const double x = asked.place[j];
    for (Index i = 0; i < n; ++i) {
      const double gap = x - column[i];
      r2[i] += gap * gap;
    }
  }
  if (kernel_ == DensityKernel::gaussian) {
    for (Index i = 0; i < n; ++i) r2[i] = 0.5 * asked.inverse * (shift - r2[i]);
    simd::exp({r2, at(n)}, {r2, at(n)});
  } else {
    for (Index i = 0; i < n; ++i) r2[i] = profile(kernel_, asked.inverse * r2[i]);
  }
  const Index own = asked.own - node.first;
  if (own >= 0 && own < n) {
    const double w = weight_[at(asked.own)];
    r2[own] *= std::max(w - 1, 0.0) / w;
  }
  if (alike_) return sum_of(n, [&](Index i) { return r2[i]; });
  const double* w = weight_.data() + node.first;
  return sum_of(n, [&](Index i) { return w[i] * r2[i]; });
}

double Sums::log_sum(const Asked& asked) const {
  const bool gaussian = kernel_ == DensityKernel::gaussian;
  const double shift = gaussian ? nearest(asked) : 0;
  if (shift == kInfinity) return -kInfinity;  // nothing but the row itself
  const double epsilon = count() <= kExactRows ? kRounding : std::max(asked.epsilon, kRounding);
  const auto value = [&](double r2) {
    return gaussian ? std::exp(0.5 * asked.inverse * (shift - r2)) : profile(kernel_, asked.inverse * r2);
  };
  double sum = 0, known = 0;
  thread_local std::vector<double> space;
  thread_local std::vector<Index> open;
  open.assign(1, 0);
  space.assign(1, shift);
  while (!open.empty()) {
    const Node& node = nodes_[at(open.back())];
    open.pop_back();
    const Between r2 = between(node, asked.place);
    const bool holds_own = asked.own >= node.first && asked.own < node.first + node.size;
    if (!holds_own) {
      const double most = value(r2.least);
      if (most == 0) continue;
      // Cheap first: where even the most is little, the least need not be known.
      const double allowed = 2 * epsilon * known / mass_;
      const double least = most <= allowed || node.left != 0 || !gaussian ? value(r2.most) : 0;
      if (most - least <= allowed) {
        sum += 0.5 * node.weight * (least + most);
        known += node.weight * least;
        continue;
      }
    }
    if (node.left == 0) {
      const double found = leaf_sum(node, asked, space);
      sum += found;
      known += found;
      continue;
    }
    const bool left_first =
        between(nodes_[at(node.left)], asked.place).least <= between(nodes_[at(node.right)], asked.place).least;
    open.push_back(left_first ? node.right : node.left);
    open.push_back(left_first ? node.left : node.right);
  }
  return std::log(sum) - 0.5 * asked.inverse * shift;
}

double Sums::log_sum(const double* place, double c, double epsilon) const {
  Vector scaled(d_);
  for (Index j = 0; j < d_; ++j) scaled(j) = (place[j] - origin_(j)) * inverse_unit_(j);
  return log_sum(Asked{scaled.data(), 1 / (c * c), epsilon, -1});
}

double Sums::log_sum_without(Index row, double c, double epsilon) const {
  const Index place = place_[at(row)];
  Vector scaled(d_);
  const Node* leaf = nodes_.data();
  while (leaf->left != 0) leaf = &nodes_[at(place < nodes_[at(leaf->right)].first ? leaf->left : leaf->right)];
  for (Index j = 0; j < d_; ++j) scaled(j) = columns_[at(leaf->first * d_ + j * leaf->size + place - leaf->first)];
  return log_sum(Asked{scaled.data(), 1 / (c * c), epsilon, place});
}

}  // namespace lemma::kde
