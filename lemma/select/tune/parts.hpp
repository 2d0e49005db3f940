// lemma/select/tune/parts.hpp: what the files of tune share. Inner header.
#pragma once
#include <lemma/select/tune.hpp>

namespace lemma::tuning {

/// One search: the tries so far, and how the next ones are found.
class Searcher {
 public:
  Searcher(const AnySpec& spec, const SearchSpace& space, const Formula& formula, const TableStream& data,
           const Plan& plan, const TuneOptions& options);
  void by_grid();
  void at_random();
  void by_halving();
  void by_gp();
  /// The best try, and the one that is taken.
  void choose();
  TuneResult result;

 private:
  /// Cross-validates a place; false when it was cancelled.
  bool add(const Place& place, double share, double from, double to);
  /// Forgets where fits begin unless the last try differs from this one by numbers alone: of another penalty, or without an
  /// intercept, coefficients may lie anywhere.
  void look_back_from(const Place& place);
  /// The score that chooses, larger for better.
  double merit(std::size_t i) const;
  std::size_t best_of(double share) const;
  Place most_promising(int step) const;
  static double part(auto i, auto count) { return static_cast<double>(i) / static_cast<double>(count); }

  const SearchSpace& space_;
  const Formula& formula_;
  const TableStream& data_;
  Plan plan_;
  PlanRows plan_rows_;
  const TuneOptions& options_;
  std::vector<Matrix> starts_;  // of each resample: the coefficients of the try before
  Place last_;                  // that try
};

/// The place of the greatest expected improvement on `best` by independent normal variables: σ (z Φ(z) + φ(z)), z = (μ − best) / σ.
std::size_t most_expected(const Vector& mean, const Vector& sd, double best);

}  // namespace lemma::tuning
