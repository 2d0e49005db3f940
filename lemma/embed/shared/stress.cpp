// lemma/embed/shared/stress.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/embed/shared/stress.hpp>
#include <lemma/geometry/graph/union_find.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/nonnegative.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kRows = 32;  // of one piece of work

void for_rows(Index n, const Execution& execution, const std::function<void(Index)>& body) {
  parallel_for((n + kRows - 1) / kRows, execution, [&](Index block) {
    for (Index i = block * kRows; i < std::min(n, (block + 1) * kRows); ++i) body(i);
  });
}

double distance_between(const Matrix& x, Index i, Index j) {
  double sum = 0;
  for (Index k = 0; k < x.cols(); ++k) sum += (x(i, k) - x(j, k)) * (x(i, k) - x(j, k));
  return std::sqrt(sum);
}

}  // namespace

void require_joined(std::string_view method, const Dissimilarities& d, const std::vector<double>& weight) {
  UnionFind parts(d.count());
  for (Index i = 0; i < d.count(); ++i)
    for (Index j = i + 1; j < d.count(); ++j)
      if (weight[at(d.pair(i, j))] > 0) parts.join(i, j);
  for (Index i = 1; i < d.count(); ++i)
    if (parts.find(i) != parts.find(0))
      throw Error(fmt::format(
          "{}: no chain of known pairs leads from {} to {}: how far apart they lie cannot be told; give such a pair",
          method, d.name(0), d.name(i)));
}

std::vector<double> rising(const std::vector<double>& distance, const std::vector<double>& delta,
                           const std::vector<double>& weight, const std::vector<Index>& order, TiedPairs ties) {
  struct Level {
    double sum, weight;
    std::size_t from;
    double mean() const { return sum / weight; }
  };
  const auto w = [&](Index p) { return weight.empty() ? 1.0 : weight[at(p)]; };
  std::vector<Index> sorted = order;
  std::vector<Level> levels;
  const auto add = [&](Level next) {
    while (!levels.empty() && levels.back().mean() >= next.mean()) {
      next = {levels.back().sum + next.sum, levels.back().weight + next.weight, levels.back().from};
      levels.pop_back();
    }
    levels.push_back(next);
  };
  for (std::size_t from = 0, to = 0; from < sorted.size(); from = to) {
    while (to < sorted.size() && delta[at(sorted[to])] == delta[at(sorted[from])]) ++to;
    if (ties == TiedPairs::primary) {
      std::sort(sorted.begin() + static_cast<Index>(from), sorted.begin() + static_cast<Index>(to),
                [&](Index a, Index b) {
                  return distance[at(a)] != distance[at(b)] ? distance[at(a)] < distance[at(b)] : a < b;
                });
      for (std::size_t k = from; k < to; ++k) add({w(sorted[k]) * distance[at(sorted[k])], w(sorted[k]), k});
    } else {
      Level tied{0, 0, from};
      for (std::size_t k = from; k < to; ++k) {
        tied.sum += w(sorted[k]) * distance[at(sorted[k])];
        tied.weight += w(sorted[k]);
      }
      add(tied);
    }
  }
  std::vector<double> out(distance.size(), 0.0);
  for (std::size_t b = 0; b < levels.size(); ++b) {
    const std::size_t to = b + 1 < levels.size() ? levels[b + 1].from : sorted.size();
    for (std::size_t k = levels[b].from; k < to; ++k) out[at(sorted[k])] = levels[b].mean();
  }
  return out;
}

Stress::Stress(std::string_view method, const Compared& data, const Kind& kind, const Execution& execution)
    : kind_(kind), unit_(largest_dissimilarity(method, data.dissimilarities)) {
  const Dissimilarities& d = data.dissimilarities;
  const Index n = d.count();
  std::vector<double> weight = data.weight;
  UnionFind shared(n);
  if (kind.sammon) {
    if (weight.empty()) weight.assign(d.kept().size(), 1.0);
    for (Index i = 0; i < n; ++i)
      for (Index j = i + 1; j < n; ++j) {
        const auto p = at(d.pair(i, j));
        if (weight[p] > 0 && d.kept()[p] == 0) shared.join(i, j);
        weight[p] = d.kept()[p] > 0 ? weight[p] * unit_ / d.kept()[p] : 0;
      }
  }
  if (!data.weight.empty()) require_joined(method, d, data.weight);
  place_of_.resize(at(n));
  std::vector<Index> number(at(n), -1);
  for (Index i = 0; i < n; ++i) {
    Index& of = number[at(shared.find(i))];
    if (of < 0) of = places_++;
    place_of_[at(i)] = of;
  }
  delta_.resize(n, n);
  for_rows(n, execution, [&](Index i) {
    d.row(i, {delta_.row(i).data(), at(n)});
    delta_.row(i) /= unit_;
  });
  if (!weight.empty()) {
    weight_ = Matrix::Zero(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = i + 1; j < n; ++j) weight_(i, j) = weight_(j, i) = weight[at(d.pair(i, j))];
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j) size_ += (weight_.size() > 0 ? weight_(i, j) : 1) * delta_(i, j) * delta_(i, j);
  require(size_ > 0, fmt::format("{}: every known dissimilarity is 0 or has no weight", method));
  if (kind.disparities != Disparities::ratio) {
    pair_weight_ = weight;
    pairs_.reserve(d.kept().size());
    for (const double each : d.kept()) pairs_.push_back(each / unit_);
    for (Index p = 0; p < static_cast<Index>(pairs_.size()); ++p)
      if (weight.empty() || weight[at(p)] > 0) order_.push_back(p);
    if (kind.disparities == Disparities::spline) {
      std::vector<double> known;
      for (const Index p : order_) known.push_back(pairs_[at(p)]);
      spline_ = RisingSpline(std::move(known), kind.knots);
      basis_.resize(static_cast<Index>(order_.size()), spline_.size());
      gram_ = Matrix::Zero(spline_.size(), spline_.size());
      for (Index k = 0; k < basis_.rows(); ++k) {
        const Index p = order_[at(k)];
        spline_.basis(pairs_[at(p)], basis_.row(k).data());
        gram_ += (weight.empty() ? 1.0 : weight[at(p)]) * basis_.row(k).transpose() * basis_.row(k);
      }
    }
    if (kind.disparities == Disparities::ordinal)
      std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
        return pairs_[at(a)] != pairs_[at(b)] ? pairs_[at(a)] < pairs_[at(b)] : a < b;
      });
  }
  if (weight_.size() == 0 && places_ == n) return;
  Matrix v =
      Matrix::Zero(places_, places_);  // Σ w (e_i − e_j)(e_i − e_j)ᵀ, and 11ᵀ for the direction that it does not see
  double sum = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j) {
      const Index a = place_of_[at(i)], b = place_of_[at(j)];
      const double w = weight_.size() > 0 ? weight_(i, j) : 1;
      if (a == b) continue;
      v(a, a) += w, v(b, b) += w, v(a, b) -= w, v(b, a) -= w;
      sum += w;
    }
  v.array() += sum / static_cast<double>(places_ * places_);
  auto triangle = cholesky(v);
  require(triangle.has_value(), fmt::format("{}: the weights differ by too many powers of ten to work with", method));
  triangle_ = std::move(*triangle);
}

Matrix Stress::spread(const Matrix& places) const { return places(place_of_, Eigen::all); }

Matrix Stress::reduced(const Matrix& spread_out) const {
  Matrix out = Matrix::Zero(places_, spread_out.cols());
  for (Index i = 0; i < things(); ++i) out.row(place_of_[at(i)]) += spread_out.row(i);
  return out;
}

Matrix Stress::gathered(const Matrix& spread_out) const {
  Matrix out = reduced(spread_out);
  Vector count = Vector::Zero(places_);
  for (const Index p : place_of_) count(p) += 1;
  for (Index p = 0; p < places_; ++p) out.row(p) /= count(p);
  return out;
}

std::vector<double> Stress::pair_distances(const Matrix& x, const Execution& execution) const {
  const Index n = things();
  std::vector<double> out(at(n * (n - 1) / 2));
  for_rows(n, execution, [&](Index i) {
    for (Index j = i + 1; j < n; ++j) out[at(i * n - i * (i + 1) / 2 + j - i - 1)] = distance_between(x, i, j);
  });
  return out;
}

Stress::Line Stress::line_of(const std::vector<double>& distance) const {
  double sum = 0, mean_delta = 0, mean_distance = 0, cross = 0, squares = 0;
  const auto w = [&](Index p) { return pair_weight_.empty() ? 1.0 : pair_weight_[at(p)]; };
  for (const Index p : order_) {
    sum += w(p);
    mean_delta += w(p) * pairs_[at(p)];
    mean_distance += w(p) * distance[at(p)];
  }
  mean_delta /= sum, mean_distance /= sum;
  for (const Index p : order_) {
    const double from_mean = pairs_[at(p)] - mean_delta;
    cross += w(p) * from_mean * (distance[at(p)] - mean_distance);
    squares += w(p) * from_mean * from_mean;
  }
  const double slope = squares > 0 ? std::max(0.0, cross / squares) : 0.0;
  return {mean_distance - slope * mean_delta, slope};
}

Vector Stress::nearest_spline(const std::vector<double>& distance) const {
  Vector right = Vector::Zero(spline_.size());
  for (Index k = 0; k < basis_.rows(); ++k) {
    const Index p = order_[at(k)];
    right += (pair_weight_.empty() ? 1.0 : pair_weight_[at(p)]) * distance[at(p)] * basis_.row(k).transpose();
  }
  return nonnegative_least_squares(gram_, right);
}

Vector Stress::spline_coefficients(const Matrix& places, const Execution& execution) const {
  if (kind_.disparities != Disparities::spline) return {};
  return unit_ * nearest_spline(pair_distances(spread(places), execution));
}

Stress::Line Stress::line(const Matrix& places, const Execution& execution) const {
  if (kind_.disparities != Disparities::interval) return {};
  return line_of(pair_distances(spread(places), execution));
}

Matrix Stress::targets(const Matrix& x, const Execution& execution) const {
  if (kind_.disparities == Disparities::ratio) return {};
  const Index n = things();
  const std::vector<double> distance = pair_distances(x, execution);
  if (kind_.disparities == Disparities::interval) {
    const Line line = line_of(distance);
    return line.intercept + line.slope * delta_.array();
  }
  Matrix out(n, n);
  std::vector<double> t;
  if (kind_.disparities == Disparities::spline) {
    const Vector made = basis_ * nearest_spline(distance);
    t.assign(pairs_.size(), 0.0);
    for (std::size_t k = 0; k < order_.size(); ++k) t[at(order_[k])] = made(static_cast<Index>(k));
  } else {
    t = rising(distance, pairs_, pair_weight_, order_, kind_.ties);
  }
  for_rows(n, execution, [&](Index i) {
    out(i, i) = 0;
    for (Index j = 0; j < n; ++j) {
      const Index a = std::min(i, j), b = std::max(i, j);
      if (a != b) out(i, j) = t[at(a * n - a * (a + 1) / 2 + b - a - 1)];
    }
  });
  return out;
}

double Stress::value(const Matrix& places, Matrix* gradient, const Execution& execution) const {
  const Index n = things(), k = places.cols();
  const Matrix x = spread(places), made = targets(x, execution);
  const Matrix& target = kind_.disparities == Disparities::ratio ? delta_ : made;
  Matrix pull = Matrix::Zero(n, k), plain = Matrix::Zero(n, k);  // Σ w (1 − t/d) (x_i − x_j), Σ w (x_i − x_j)
  Vector left = Vector::Zero(n), squares = Vector::Zero(n);
  const Matrix columns = x.transpose();
  for_rows(n, execution, [&](Index i) {
    std::vector<double> d(at(n), 0.0), c(at(n));
    for (Index l = 0; l < k; ++l) {
      const double* of = columns.row(l).data();
      const double own = of[i];
      for (Index j = 0; j < n; ++j) d[at(j)] += (own - of[j]) * (own - of[j]);
    }
    for (Index j = 0; j < n; ++j) d[at(j)] = std::sqrt(d[at(j)]);
    const double* t = target.row(i).data();
    const double* w = weight_.size() > 0 ? weight_.row(i).data() : nullptr;
    double sum = 0, sum_squares = 0;
    for (Index j = 0; j < n; ++j) {
      if (j == i) {
        c[at(j)] = 0;
        continue;
      }
      const double one = w ? w[j] : 1.0, off = t[j] - d[at(j)];
      sum += one * off * off;
      sum_squares += one * d[at(j)] * d[at(j)];
      c[at(j)] = d[at(j)] > 0 ? one * (1 - t[j] / d[at(j)]) : one;
    }
    left(i) = sum;
    squares(i) = sum_squares;
    if (!gradient) return;
    for (Index l = 0; l < k; ++l) {
      const double* of = columns.row(l).data();
      const double own = of[i];
      double pulled = 0, moved = 0;
      for (Index j = 0; j < n; ++j) pulled += c[at(j)] * (own - of[j]);
      if (kind_.disparities != Disparities::ratio)
        for (Index j = 0; j < n; ++j) moved += (w ? w[j] : 1.0) * (own - of[j]);
      pull(i, l) = pulled;
      plain(i, l) = moved;
    }
  });
  const double sum = 0.5 * left.sum(), size = kind_.disparities == Disparities::ratio ? size_ : 0.5 * squares.sum();
  const double f = size > 0 ? sum / size : 1;
  if (gradient) {
    if (kind_.disparities != Disparities::ratio) pull -= f * plain;
    *gradient = reduced((size > 0 ? 2 / size : 0) * pull);
  }
  return f;
}

Matrix Stress::guttman(const Matrix& places, const Execution& execution) const {
  const Index n = things(), k = places.cols();
  const Matrix x = spread(places), made = targets(x, execution);
  const Matrix& target = kind_.disparities == Disparities::ratio ? delta_ : made;
  Matrix pull = Matrix::Zero(n, k);  // B(X) X
  for_rows(n, execution, [&](Index i) {
    for (Index j = 0; j < n; ++j) {
      const double d = i == j ? 0 : distance_between(x, i, j);
      if (d > 0) pull.row(i) += (weight_.size() > 0 ? weight_(i, j) : 1.0) * target(i, j) / d * (x.row(i) - x.row(j));
    }
  });
  if (triangle_.size() == 0) return pull / static_cast<double>(n);
  return solve_upper(triangle_, solve_upper_transposed(triangle_, reduced(pull)));
}

Matrix Stress::in_unit(Matrix places, const Execution& execution) const {
  if (kind_.disparities == Disparities::ratio) return places;
  const Matrix x = spread(places);
  Vector squares = Vector::Zero(things());
  for_rows(things(), execution, [&](Index i) {
    for (Index j = 0; j < things(); ++j)
      squares(i) += (weight_.size() > 0 ? weight_(i, j) : 1.0) * (x.row(i) - x.row(j)).squaredNorm();
  });
  const double sum = 0.5 * squares.sum();
  return sum > 0 ? Matrix(std::sqrt(size_ / sum) * places) : places;
}

}  // namespace lemma
