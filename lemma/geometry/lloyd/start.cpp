// lemma/geometry/lloyd/start.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/geometry/lloyd/start.hpp>
#include <lemma/math/simd/distance.hpp>
#include <set>

namespace lemma {
namespace {

/// w ‖x − c‖² of a block's rows for one centre.
std::vector<double> mass_at(const Matrix& center, const Block& block) {
  const auto rows = static_cast<std::size_t>(block.rows());
  const std::vector<int> first(rows, 0);
  std::vector<double> out(rows);
  simd::own_distances(block.x, center, first, out);
  for (std::size_t i = 0; i < block.weight.size(); ++i) out[i] = block.weight[i] > 0 ? block.weight[i] * out[i] : 0.0;
  return out;
}

/// A mass on every row, to draw from.
class Lottery {
 public:
  Lottery(const Rows& rows, const Execution& execution)
      : rows_(rows),
        execution_(execution),
        size_(block_rows(rows)),
        mass_(static_cast<std::size_t>(rows.count())),
        total_(static_cast<std::size_t>(block_count(rows))) {
    change([](const Block& block, std::span<double> mass) {
      for (std::size_t i = 0; i < mass.size(); ++i) mass[i] = block.weight_of(static_cast<Index>(i));
    });
  }

  /// visit(block, mass of its rows) may change the masses.
  void change(const auto& visit) {
    for_each_block(rows_, execution_, [&](const Block& block) {
      const std::span<double> mass = of(block);
      visit(block, mass);
      double sum = 0;
      for (const double m : mass) sum += m;
      total_[static_cast<std::size_t>(block.first / size_)] = sum;
    });
  }
  std::span<double> of(const Block& block) {
    return std::span(mass_).subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.rows()));
  }

  bool empty() const { return !(sum(total_) > 0); }

  /// The point whose cumulated mass is the first above `share` of the whole. Rows without mass are never drawn.
  Matrix draw(double share) const {
    double left = share * sum(total_);
    const auto block = pick(total_, left);
    const auto first = static_cast<std::size_t>(size_) * block;
    const auto count = std::min(static_cast<std::size_t>(size_), mass_.size() - first);
    const auto row = first + pick(std::span(mass_).subspan(first, count), left);
    BlockBuffer buffer;
    return rows_.read(static_cast<Index>(row), 1, buffer).x;
  }

 private:
  static double sum(std::span<const double> masses) {
    double sum = 0;
    for (const double m : masses) sum += m;
    return sum;
  }
  /// `left` becomes what is left of it inside the place that was picked; rounding may leave too much for the last one.
  static std::size_t pick(std::span<const double> masses, double& left) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < masses.size(); ++i) {
      if (!(masses[i] > 0)) continue;
      if (left < masses[i]) return i;
      last = i;
      left -= masses[i];
    }
    left = masses.empty() ? 0 : std::min(left, masses[last]);
    return last;
  }

  const Rows& rows_;
  const Execution& execution_;
  Index size_;
  std::vector<double> mass_, total_;
};

/// Σ w·min(D², ‖x − candidate‖²) for each of several candidates.
struct Potentials {
  const std::vector<Matrix>* candidates;
  Lottery* lottery;
  Vector sum;

  void accumulate(const Block& block) {
    const std::span<const double> mass = lottery->of(block);
    for (std::size_t c = 0; c < candidates->size(); ++c) {
      const std::vector<double> now = mass_at((*candidates)[c], block);
      double total = 0;
      for (std::size_t i = 0; i < mass.size(); ++i) total += std::min(mass[i], now[i]);
      sum(static_cast<Index>(c)) += total;
    }
  }
  void merge(const Potentials& other) { sum += other.sum; }
};

Matrix best_candidate(Lottery& lottery, Index tries, const Rows& rows, RandomStream& random,
                      const Execution& execution) {
  std::vector<Matrix> candidates;
  for (Index c = 0; c < tries; ++c) candidates.push_back(lottery.draw(random.uniform()));
  Index best = 0;
  scan(rows, Potentials{&candidates, &lottery, Vector::Zero(tries)}, execution).sum.minCoeff(&best);
  return candidates[static_cast<std::size_t>(best)];
}

Matrix plus_plus(Index k, const Rows& rows, RandomStream& random, const Execution& execution) {
  Lottery lottery(rows, execution);
  const Index tries = 2 + static_cast<Index>(std::log(static_cast<double>(k)));
  Matrix centers(k, rows.width());
  centers.row(0) = lottery.draw(random.uniform());
  for (Index c = 1; c < k; ++c) {
    const Matrix newest = centers.row(c - 1);
    lottery.change([&](const Block& block, std::span<double> mass) {
      const std::vector<double> now = mass_at(newest, block);
      for (std::size_t i = 0; i < mass.size(); ++i) mass[i] = c == 1 ? now[i] : std::min(mass[i], now[i]);
    });
    if (lottery.empty()) throw Error(fmt::format("kmeans: k is {}, but the rows are only {} different points", k, c));
    centers.row(c) = best_candidate(lottery, tries, rows, random, execution);
    execution.report(static_cast<double>(c) / static_cast<double>(k), "choosing the first centres");
  }
  return centers;
}

Matrix random_rows(Index k, const Rows& rows, RandomStream& random, const Execution& execution) {
  const Lottery lottery(rows, execution);
  Matrix centers(k, rows.width());
  for (Index c = 0; c < k; ++c) centers.row(c) = lottery.draw(random.uniform());
  return centers;
}

}  // namespace

Matrix start_centers(KMeansStart rule, Index k, const Rows& rows, RandomStream random, const Execution& execution) {
  return rule == KMeansStart::random ? random_rows(k, rows, random, execution) : plus_plus(k, rows, random, execution);
}

Index distinct_rows(const Rows& rows, Index enough, const Execution& execution) {
  std::set<std::vector<double>> found;
  BlockBuffer buffer;
  const Index size = block_rows(rows);
  for (Index first = 0; first < rows.count() && static_cast<Index>(found.size()) < enough; first += size) {
    if (execution.cancelled()) throw Cancelled();
    const Block block = rows.read(first, std::min(size, rows.count() - first), buffer);
    for (Index i = 0; i < block.rows() && static_cast<Index>(found.size()) < enough; ++i) {
      if (block.weight_of(i) == 0) continue;
      std::vector<double> point(static_cast<std::size_t>(block.x.cols()));
      for (Index j = 0; j < block.x.cols(); ++j) point[static_cast<std::size_t>(j)] = block.x(i, j) + 0.0;  // −0 is 0
      found.insert(std::move(point));
    }
  }
  return static_cast<Index>(found.size());
}

}  // namespace lemma
