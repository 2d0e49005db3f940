// lemma/model/options.hpp: what a fit may be told besides its spec and its data.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>
#include <vector>

namespace lemma {

/// What a method may read: how to work, and where to begin. All that belongs to rows comes with the rows.
struct FitOptions {
  Matrix start;  // coefficients to start from, the intercept in front: a row, or one for each class; empty: none
  std::uint64_t seed = 1;
  std::optional<int> threads;
  Progress* progress = nullptr;

  Execution execution() const {
    Execution out;
    out.threads = threads;
    out.progress = progress;
    return out;
  }
};

/// What belongs to rows and comes beside them, one number for each.
struct RowOptions {
  Vector weights;                       // frequencies; empty: all 1
  Vector precision;                     // inverse variances; empty: all 1
  Vector offset;                        // known part of the linear predictor; empty: none
  std::vector<std::uint64_t> clusters;  // equal numbers: rows whose errors may depend on each other; empty: none

  bool none() const { return weights.size() + precision.size() + offset.size() == 0 && clusters.empty(); }
};

/// Both, as a call from C++ writes them: fit(Ols{}, X, y, {.weights = w, .seed = 7}).
struct CallOptions {
  Vector weights, precision, offset;
  std::vector<std::uint64_t> clusters;
  Matrix start;
  std::uint64_t seed = 1;
  std::optional<int> threads;
  Progress* progress = nullptr;

  RowOptions rows() const { return {weights, precision, offset, clusters}; }
  operator FitOptions() const { return {start, seed, threads, progress}; }
};

}  // namespace lemma
