// lemma/tree/boost/data_test.hpp: rows whose response has steps, bends and noise.
#pragma once
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/tree/boost.hpp>

namespace lemma::boost_test {

struct Data {
  Matrix x;
  std::vector<double> y, positive, count, weight;
  Labels side, group;

  explicit Data(Index n, Index width = 4, std::uint64_t seed = 3) : x(n, width) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < width; ++j) x(i, j) = stream.normal();
      const double f = (x(i, 0) > 0.3 ? 2.0 : 0.0) + x(i, 1) * (width > 2 ? x(i, 2) : 1.0) + std::sin(2 * x(i, 0));
      y.push_back(f + 0.5 * stream.normal());
      positive.push_back(std::exp(0.5 * f + 0.3 * stream.normal()));
      count.push_back(std::floor(std::exp(0.4 * f) + 2 * stream.uniform()));
      weight.push_back(static_cast<double>(stream.below(4)));
      side.push_back(f + stream.normal() > 0.8);
      group.push_back(f > 1.5 ? 2 : x(i, 1) + 0.3 * stream.normal() > 0 ? 1 : 0);
    }
  }
  MemoryRows numbers() const { return with(y); }
  MemoryRows with(const std::vector<double>& response) const {
    MemoryRows rows(x);
    rows.response(response);
    rows.target = "y";
    return rows;
  }
  MemoryRows sides() const {
    MemoryRows rows(x);
    rows.labels(side, {"left", "right"});
    return rows;
  }
  MemoryRows groups() const {
    MemoryRows rows(x);
    rows.labels(group, {"a", "b", "c"});
    return rows;
  }
  /// The rows that a loss is for.
  MemoryRows of(BoostLoss loss) const {
    if (loss == BoostLoss::softmax) return groups();
    if (loss == BoostLoss::logistic || loss == BoostLoss::exponential) return sides();
    return with(loss == BoostLoss::poisson || loss == BoostLoss::tweedie ? count
                : loss == BoostLoss::gamma                               ? positive
                                                                         : y);
  }
};

inline std::vector<BoostLoss> all_losses() {
  std::vector<BoostLoss> out;
  for (std::size_t k = 0; k < names_of(BoostLoss{}).size(); ++k) out.push_back(static_cast<BoostLoss>(k));
  return out;
}

}  // namespace lemma::boost_test
