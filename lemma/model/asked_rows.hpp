// lemma/model/asked_rows.hpp: what a model says of rows, some at a time, wherever they lie.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/model/any_model.hpp>

namespace lemma {

/// Rows without their zeros stay so where the model can speak of them as they are (AnyModel::Interface::predict_sparse).
class AskedRows {
 public:
  /// With a threshold as predict_at_threshold() says.
  AskedRows(const AnyModel& model, const Rows& rows, PredictOptions options, std::optional<double> threshold = {});

  struct Answer {
    Prediction said;
    Block block;  // the rows' outcome; x has no columns where it was not needed
  };
  Answer operator()(Index first, Index size, BlockBuffer& buffer) const;

  /// How many are asked about together, at best.
  Index together() const;

 private:
  const AnyModel& model_;
  const Rows& rows_;
  PredictOptions options_;
  std::optional<double> threshold_;
  bool stays_sparse_;
};

}  // namespace lemma
