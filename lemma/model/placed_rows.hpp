// lemma/model/placed_rows.hpp: which training rows the results of a model are about.
#pragma once
#include <lemma/model/train.hpp>

namespace lemma {

/// The training rows, from 0, that the entries of a result run along: all, less those that the model tells it leaves out (`left_out`).
std::vector<Index> placed_rows(const TrainedModel& trained, Index count);

}  // namespace lemma
