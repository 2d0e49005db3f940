// lemma/model/options.hpp: what a fit may be told besides its spec and its data.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>

namespace lemma {

struct FitOptions {
  Vector weights;                       // frequencies; empty: all 1
  Vector precision;                     // inverse variances; empty: all 1
  Vector offset;                        // known part of the linear predictor; empty: none
  std::vector<std::uint64_t> clusters;  // equal numbers: rows whose errors may depend on each other; empty: none
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

}  // namespace lemma
