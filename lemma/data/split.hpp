// lemma/data/split.hpp: rows set apart: a training and a test part, and folds.
#pragma once
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <lemma/data/table.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// Rows of each part, ascending. No row is in both.
struct Split {
  std::vector<Index> train, test;
  bool operator==(const Split&) const = default;
};

/// How much goes to the test part: a share of the rows, or a number of them.
struct TestSize {
  std::optional<double> share;  // between 0 and 1, both excluded
  std::optional<Index> count;   // 1 … rows − 1
};

/// Strata 0 … K−1, one a row, from a column: its levels, the different numbers where there are at most `bins` of them,
/// else quantile bins of about equal size. Missing values are a stratum of their own. Text is an Error.
std::vector<int> strata_of(const Column& column, int bins = 10);

/// Each stratum gives its share of the test part, rounded so that the total is right (largest remainder; the first of
/// equal ones). Within a stratum the rows are drawn at random. The same seed gives the same split on any machine. An
/// empty `strata` takes all rows as one.
Split split(Index rows, const TestSize& size, const std::vector<int>& strata, std::uint64_t seed);

/// A fold 0 … k−1 for each row. Each stratum is dealt to the folds in turn, going on where the last one stopped, so that
/// neither the folds nor the strata in them differ by more than one row in size.
std::vector<int> folds(Index rows, int k, const std::vector<int>& strata, std::uint64_t seed);

/// Folds that keep the rows of a group together, of nearly equal size: the largest group first, each to the fold with the
/// fewest rows; equal ones in random order.
std::vector<int> grouped_folds(const std::vector<int>& groups, int k, std::uint64_t seed);

}  // namespace lemma
