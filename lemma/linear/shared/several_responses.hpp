// lemma/linear/shared/several_responses.hpp: one response or several, and their moments beside those of the columns.
#pragma once
#include <lemma/math/moments.hpp>

namespace lemma {

inline Index responses_of(const Rows& rows) { return std::max<Index>(1, std::ssize(rows.responses)); }

inline double response(const Block& block, Index i, Index k) {
  return block.responses.empty() ? block.y[at(i)] : block.several()(i, k);
}

/// Moments of columns and responses side by side.
struct JointMoments {
  Index width, responses;
  Moments moments;
  JointMoments(Index columns, Index several) : width(columns), responses(several), moments(columns + several) {}
  void accumulate(const Block& block) {
    Matrix both(block.rows(), width + responses);
    both.leftCols(width) = block.x;
    for (Index i = 0; i < block.rows(); ++i)
      for (Index k = 0; k < responses; ++k) both(i, width + k) = response(block, i, k);
    Block joined(both, block.first);
    joined.weight = block.weight;
    moments.accumulate(joined);
  }
  void merge(const JointMoments& other) { moments.merge(other.moments); }
};

}  // namespace lemma
