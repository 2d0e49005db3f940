// lemma/ensemble/per_response.hpp
#pragma once
#include <lemma/model/any_spec.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// Several responses at once, cbind(y1, y2, …) ~ x: one method fitted to each of them from the same columns,
///
///     f(x) = (f_1(x), f_2(x), …),     f_k the method's model of y_k.
///
/// For methods whose objective is a sum over the responses (least squares, ridge, kernel ridge, neighbours) that is the model of all of
/// them together. A response may be numbers or classes, by the type of its column, where the method takes both. One response
/// alone is the method itself.
///
/// Cost         a fit for each response, side by side.
/// Certificate  the weakest of the models' own, each held against its response again.
struct PerResponse {
  std::optional<AnySpec> base;

  static constexpr std::string_view name = "per_response";
  static constexpr MethodAbout about{
      .family = "ensemble",
      .task = Task::regression,
      .summary = "several responses, cbind(y1, y2) ~ x: a model of one method for each",
      .objective = "f(x) = (f_1(x), f_2(x), ...), f_k fitted to response k",
      .example = "lemma fit per_response iris 'cbind(petal_length, petal_width) ~ sepal_length + species' --base ols",
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .takes_several = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    return Listing{param("base", &PerResponse::base,
                         "the method, any that predicts classes or numbers; auto: a tree that is not pruned")};
  }
  void check() const;
  Needs needs(Needs usual) const;
};
static_assert(Described<PerResponse>);

struct PerResponseModel : Evidence {
  PerResponse spec;
  std::vector<AnyModel> models;
  Index features = 0;
  Labels classes;

  static constexpr auto fields() {
    using M = PerResponseModel;
    return Listing{state("models", &M::models, "one for each response"), state("features", &M::features, "columns"),
                   state("classes", &M::classes, "of each response how many classes it has; 0: numbers")};
  }
  static constexpr auto parts() { return Listing{part(kValuesPart, &PerResponseModel::values)}; }
  Index width() const { return features; }
  bool several() const { return models.size() > 1; }
  Index class_count() const { return several() ? 0 : classes.front(); }
  std::vector<Index> response_classes() const {
    return several() ? std::vector<Index>(classes.begin(), classes.end()) : std::vector<Index>{};
  }
  Task task() const { return class_count() > 0 ? Task::classification : Task::regression; }
  bool has_probabilities() const;
  /// Several responses have values, one has its value or its class.
  bool gives(std::string_view part) const { return several() == (part == kValuesPart.name); }
  void check() const;

  Matrix values(const MatrixView& x) const;  // a number, or the code of a class, of each response
  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  std::string summary(const Names& names) const;
};

PerResponseModel fit(const Valid<PerResponse>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const PerResponseModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<PerResponse>();

}  // namespace lemma
