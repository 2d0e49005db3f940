// tests/contract/patience.hpp: a clock of steps. It ticks with every question whether to go on, never with time.
#pragma once
#include <atomic>
#include <lemma/core/progress.hpp>

namespace lemma::contract {

/// Says "cancelled" from the k-th question on (k = 0: from the first).
class Patience final : public Progress {
 public:
  explicit Patience(long long questions) : left_(questions) {}
  void report(double, std::string_view) override {}
  bool cancelled() const override {
    ++asked_;
    return left_-- <= 0;
  }
  long long asked() const { return asked_; }

 private:
  mutable std::atomic<long long> left_, asked_{0};
};

inline constexpr long long kEndless = 1LL << 60;

}  // namespace lemma::contract
