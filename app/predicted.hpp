// app/predicted.hpp: what a model says of rows, as a table.
#pragma once
#include "context.hpp"

#include <lemma/data/stream.hpp>
#include <lemma/model/train.hpp>

namespace lemma::app {

/// What is asked of the model.
struct Asked {
  std::vector<std::string>
      what;  // parts by their names, "residual" and "all" among them; none: what is given by default
  std::string interval = "none", missing;
  double level = 0.95;
  bool append = false;              // the table's own columns first …
  std::vector<std::string> beside;  // … or, when they are written by the caller: their names, which are taken
  bool diagnostics = false, inverse = false, sd = false, prior = false;
  int samples = 0;
  std::optional<double> threshold;
  int digits = 0;  // significant ones of each number; 0: all it has
};

/// Predictions on their way, and the rows of the data that they are about: all, or those that are complete.
using TakePredictions = std::function<void(const Table& part, const std::vector<Index>& rows)>;

/// Passes the predictions on in the order of the rows, block after block. At least one block comes, though it may have no rows:
/// the columns are then known.
void predict_all(const TrainedModel& trained, const TableStream& data, const Asked& asked,
                 const std::optional<std::size_t>& memory, const Context& context, const TakePredictions& take);

}  // namespace lemma::app
