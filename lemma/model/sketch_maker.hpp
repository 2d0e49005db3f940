// lemma/model/sketch_maker.hpp: a memory of rows, made piece by piece.
#pragma once
#include <lemma/model/origin.hpp>

namespace lemma {

/// Takes the hashes of rows in any order, each once.
struct SketchMaker {
  RowSketch out;
  bool weighted;
  int filter_bits;  // 0: no filter

  SketchMaker(const RowKey& key, const Rows& rows, bool with_filter);
  void add(const RowHashes& hashes);
  RowSketch done();
};

}  // namespace lemma
