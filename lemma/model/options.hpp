// lemma/model/options.hpp: what a fit may be told besides its spec and its data.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>

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
  Vector weights;    // frequencies; empty: all 1
  Vector precision;  // inverse variances; empty: all 1
  Vector offset;     // known part of the linear predictor; empty: none

  bool none() const { return weights.size() + precision.size() + offset.size() == 0; }
};

/// Both, as a call from C++ writes them: fit(Ols{}, X, y, {.weights = w, .seed = 7}).
struct CallOptions {
  Vector weights, precision, offset;
  Matrix start;
  std::uint64_t seed = 1;
  std::optional<int> threads;
  Progress* progress = nullptr;

  RowOptions rows() const { return {weights, precision, offset}; }
  operator FitOptions() const { return {start, seed, threads, progress}; }
};

}  // namespace lemma
