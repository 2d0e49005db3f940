// lemma/ensemble/shared/inside.hpp: what methods made of methods share: their rows in memory, rows chosen among them, and what
// the models inside say.
#pragma once
#include <cstdint>
#include <functional>
#include <lemma/core/quietly.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/model/any_spec.hpp>
#include <lemma/model/cut_short.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::ensemble {

/// The rows of a fit, in memory.
class TrainingRows {
 public:
  /// Error when a weight or a response cannot be used, or when no row counts.
  TrainingRows(std::string_view method, const Rows& rows, const Execution& execution);
  TrainingRows(const TrainingRows&) = delete;

  const Rows& rows;

 private:
  Matrix space_;

 public:
  MatrixView x;
  Labels label;                 // of classes
  Vector y;                     // of numbers
  Vector weight;                // of each row; 1 where there are none
  double mass;                  // their sum
  std::vector<Index> counting;  // rows of a weight above 0

  Index count() const { return x.rows(); }
  Index classes() const { return static_cast<Index>(rows.classes.size()); }
  bool of_classes() const { return classes() > 0; }
};

/// The rows that count, by their own values, column after column, then by their response: an order that has nothing to do with the
/// one in which they came. Equal ones are the same to every method.
std::vector<Index> own_order(const MatrixView& x, std::span<const int> label, std::span<const double> y,
                             std::vector<Index> counting);
std::vector<Index> own_order(const TrainingRows& rows);

/// Draws rows in proportion to weights: a row of weight k is drawn as k copies of it would be. Draws do not depend on the order in
/// which rows came.
class Urn {
 public:
  /// `weight`: of every row.
  Urn(std::vector<Index> order, const Vector& weight);
  Index copies() const;  // the weights together, rounded
  std::vector<Index> with_replacement(Index size, RandomStream stream) const;
  /// Error unless weights are whole numbers.
  std::vector<Index> without(std::string_view method, Index size, RandomStream stream) const;

 private:
  Index row_at(double position) const;
  std::vector<Index> order_;
  std::vector<double> end_;  // where the weight of each ends
};

/// Rows of their own, chosen among others as often as they are named, each of weight 1.
class ChosenRows {
 public:
  ChosenRows(const TrainingRows& from, std::span<const Index> which);
  ChosenRows(const ChosenRows&) = delete;
  operator const Rows&() const { return rows_; }

 private:
  Matrix x_;
  std::vector<double> y_;
  Labels label_;
  MemoryRows rows_;
};

/// What the method inside needs of a table, where the one around it predicts classes, numbers, or either.
Needs needs_inside(const AnySpec& inside, Needs usual);
/// Of several methods: what all of them can take.
Needs needs_inside(std::span<const AnySpec> inside, Needs usual);

/// Options for a method inside, with a seed of its own. `quiet` must outlive them.
FitOptions options_inside(const FitOptions& options, Quietly& quiet, std::uint64_t part);
/// The same when the model is looked at again, from the seed that it keeps.
std::uint64_t seed_inside(std::uint64_t seed, std::uint64_t part);

/// body(j) for every column: side by side where there are rows enough for it to pay.
void for_columns(Index columns, Index rows, const Execution& execution, const std::function<void(Index)>& body);

/// One part of what a model says of rows, some of them at a time, side by side.
Prediction said(const AnyModel& model, const MatrixView& x, std::string_view part, const Execution& execution = {});
bool gives(const AnyModel& model, std::string_view part);

/// The class of the largest of each row, the first of equals.
Labels likeliest(const Matrix& of_classes);

/// Error unless a model inside fits where it stands.
void require_fits(std::string_view method, const AnyModel& model, Index width, Index classes);

/// The first model inside whose own certificate does not hold: "the model 3 (tree): …"; nothing when none fails. `look` finds the
/// certificate of each.
std::string first_failure(std::span<const AnyModel> models, const std::function<Certificate(std::size_t)>& look,
                          const Execution& execution);

/// A seed as a model file keeps it, and back.
std::string text_of_seed(std::uint64_t seed);
std::uint64_t seed_of_text(std::string_view method, const std::string& text);

}  // namespace lemma::ensemble
