// lemma/tree/boost/split.hpp: of all ways to part a node's rows by one column the one that gains most.
#pragma once
#include <functional>
#include <lemma/tree/boost/histogram.hpp>
#include <lemma/tree/boost/loss.hpp>
#include <limits>
#include <vector>

namespace lemma::boost {

/// What a split must obey, for all nodes of a tree.
struct SplitRules {
  Loss loss;
  double unit_g = 1, unit_h = 1;  // of the whole numbers
  double l1 = 0, l2 = 0, min_gain = 0, min_hessian = 0, min_rows = 1;
  double largest_curvature = 1;  // of a row of weight 1: rows weigh at least Σh over it
  double category_smoothing = 10, category_l2 = 10, category_rows = 20;
  int category_levels = 32;
  std::vector<signed char> direction;  // of each column: +1 the score must rise with it, −1 fall; empty: none must
};

/// A node that is to be split.
struct Question {
  Sums sums;
  double weight = 0;                                                                                      // of its rows
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();  // of its step
  const std::vector<char>* allowed = nullptr;         // columns that may be asked
  std::function<std::vector<double>(Index)> weights;  // of the node's rows in each bin of a column; slow
};

/// Rows with a code whose `left` is set go left.
struct Split {
  double gain = 0;  // by which Σ w ℓ falls, of the parabola; 0: there is no split
  Index column = -1;
  int bin = -1;                          // of numbers: the last one that goes left
  bool missing_left = false;             // where the node has missing values
  std::vector<std::uint8_t> left;        // for each code, that of missing values too
  double left_step = 0, right_step = 0;  // within the bounds

  bool exists() const { return column >= 0; }
};

template <class Entry>
Split best_split(const BinnedRows& rows, std::span<const Entry> histogram, const Question& question,
                 const SplitRules& rules);

}  // namespace lemma::boost
