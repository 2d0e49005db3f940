// lemma/model/concepts.hpp: what a model offers, by its task.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <lemma/core/certificate.hpp>
#include <lemma/core/matrix.hpp>
#include <lemma/core/rows.hpp>
#include <lemma/model/prediction.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lemma {

enum class Task { regression, classification, clustering, transformation, density, embedding };
constexpr auto names_of(Task) {
  return std::array<std::string_view, 6>{"regression",     "classification", "clustering",
                                         "transformation", "density",        "embedding"};
}

/// What every model carries besides its own numbers.
struct Evidence {
  Certificate certificate;
  std::vector<std::string> warnings;
};

/// Error unless rows have as many columns as those a model was fitted on. AnyModel asks by itself; a model's own verbs, which C++
/// calls, ask by the second.
void require_width(std::string_view method, Index fitted, Index given);
template <class M>
void require_width(const M& model, Index given) {
  require_width(std::remove_cvref_t<decltype(model.spec)>::name, model.width(), given);
}

struct NamedColumn {
  std::string name;
  Vector values;
};
/// z = A x + b, for a row x.
struct AffineMap {
  Matrix a;
  Vector b;
};

template <class M>
concept Regressor = requires(const M& m, const MatrixView& x) {
  { m.predict(x) } -> std::same_as<Vector>;
};
template <class M>
concept Classifier = requires(const M& m, const MatrixView& x) {
  { m.predict(x) } -> std::same_as<Labels>;
};
template <class M>
concept Clusterer = requires(const M& m, const MatrixView& x) {
  { m.assign(x) } -> std::same_as<Labels>;
};
template <class M>
concept Transformer = requires(const M& m, const MatrixView& x, const std::vector<std::string>& names) {
  { m.transform(x) } -> std::same_as<Matrix>;
  { m.output_names(names) } -> std::same_as<std::vector<std::string>>;
  { m.output_width() } -> std::same_as<Index>;  // columns that come out, without making a name for each
};
template <class M>
concept DensityModel = requires(const M& m, const MatrixView& x) {
  { m.log_density(x) } -> std::same_as<Vector>;
};

/// The task follows the response it was fitted to: `predict` gives numbers, `classify` the labels of classes, and each is
/// an Error where the model was fitted to the other.
template <class M>
concept HasTask = Regressor<M> && requires(const M& m, const MatrixView& x) {
  { m.task() } -> std::same_as<Task>;
  { m.classify(x) } -> std::same_as<Labels>;
};

/// How many classes it tells apart; 0 where it was fitted to numbers. Whatever predicts classes must say it: a model file's
/// design has a name for each of so many, and no more.
template <class M>
concept CountsClasses = requires(const M& m) {
  { m.class_count() } -> std::same_as<Index>;
};

/// The offset goes through a link before it reaches the prediction: every verb takes it. For other models that take an
/// offset it is a part of the value.
template <class M>
concept TakesOffset = requires(const M& m, const MatrixView& x, std::span<const double> offset) {
  m.predict(x, offset);
};

// What some models offer besides.
template <class M>
concept HasProbabilities = requires(const M& m, const MatrixView& x) {
  { m.probabilities(x) } -> std::same_as<Matrix>;
};
template <class M>
concept HasMemberships = requires(const M& m, const MatrixView& x) {
  { m.memberships(x) } -> std::same_as<Matrix>;
};
template <class M>
concept HasDecision = requires(const M& m, const MatrixView& x) {
  { m.decision(x) } -> std::same_as<Matrix>;
};
template <class M>
concept HasCoordinates = requires(const M& m, const MatrixView& x) {
  { m.coordinates(x) } -> std::same_as<Matrix>;
};
template <class M>
concept HasInverse = requires(const M& m, const MatrixView& z) {
  { m.inverse(z) } -> std::same_as<Matrix>;
};
template <class M>
concept HasInterval = requires(const M& m, const MatrixView& x) {
  { m.interval(x, IntervalKind::confidence, 0.95) } -> std::same_as<Interval>;
};
/// Standard deviations of the predicted value itself and of an observation there, a column each.
template <class M>
concept HasDeviations = requires(const M& m, const MatrixView& x) {
  { m.deviations(x) } -> std::same_as<Matrix>;
};
/// Functions drawn at random, at the rows: a column each.
template <class M>
concept HasSamples = requires(const M& m, const MatrixView& x, const SampleOptions& options) {
  { m.samples(x, options) } -> std::same_as<Matrix>;
};
/// Diagnostics of the training rows: leverage, Cook's distance, leave-one-out residuals.
template <class M>
concept HasDiagnostics = requires(const M& m, const Block& block) {
  { m.diagnostics(block) } -> std::same_as<std::vector<NamedColumn>>;
};
/// Parts of a prediction beyond the verbs above, each declared once: static constexpr auto parts() returns a tuple of
/// part({"leaf", "the leaf that the row falls into", Given::asked}, &Model::leaf). The verb takes the rows, or the rows and the
/// options, and returns a Vector, a Matrix, Labels, Strings, or a NamedMatrix.
template <class M>
concept HasParts = requires {
  M::parts();
};
template <class Verb>
struct ModelPart {
  PartInfo info;
  Verb verb;
};
template <class Verb>
constexpr ModelPart<Verb> part(const PartInfo& info, Verb verb) {
  return {info, verb};
}
struct NamedMatrix {
  Matrix values;
  std::vector<std::string> columns;
};
/// A model whose verbs share most of their work says all it has to say of rows at once; parts that were not asked for may
/// be among it.
template <class M>
concept SaysAllAtOnce = requires(const M& m, const MatrixView& x, const PredictOptions& options) {
  { m.prediction(x, options) } -> std::same_as<Prediction>;
};
/// Rows as they might have been: of a density x, of a generative model of classes their labels too.
struct DrawnRows {
  Matrix x;
  Labels label = {};
};
template <class M>
concept DrawsRows = requires(const M& m) {
  { m.draw(Index{1}, std::uint64_t{1}) } -> std::same_as<DrawnRows>;
};
/// A transformation, or a linear predictor, that is affine in the features.
template <class M>
concept HasAffineMap = requires(const M& m) {
  { m.affine() } -> std::same_as<AffineMap>;
};

}  // namespace lemma
