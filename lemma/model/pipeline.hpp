// lemma/model/pipeline.hpp: steps that compose: scale | pca(components=5) | svm(C=10). A pipeline is a method like any other.
#pragma once
#include <lemma/data/formula.hpp>
#include <lemma/data/table.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// One step of a pipeline: a method and its parameters.
struct PipelineStep {
  const Method* method;
  Value params;
};

/// Steps from left to right; all but the last must transform rows. Each step is fitted on what the steps before it make
/// of the rows, so a pipeline inside cross-validation never sees the rows it is judged on.
class Pipeline final : public Method {
 public:
  explicit Pipeline(std::vector<PipelineStep> steps);  // Error when a step before the last does not transform

  const std::vector<PipelineStep>& steps() const { return steps_; }
  std::string name() const override;  // "scale | pca | lda"
  const MethodAbout& about() const override { return about_; }
  std::vector<ParamInfo> params() const override;  // "pca.components", …; the second pca is "pca2"
  std::vector<FieldInfo> results() const override;
  Value check(const Value& params) const override;
  int letters(const Value& params) const override;  // of the step that asks for texts
  AnyModel fit(const Value& params, const Rows& rows, const FitOptions& options) const override;
  AnyModel load(const Value& params, const Value& state, Evidence evidence) const override;

  /// How the i-th step is called in parameters and results: its method's name, numbered when it comes again.
  std::string step_name(std::size_t i) const;

 private:
  std::vector<PipelineStep> steps_;
  MethodAbout about_;
};

/// Reads 'scale | pca(components=5) | lda', or a single method's name; nothing but names and parameters is accepted.
/// An error shows the text with a caret under the place. Parameters in brackets are in the returned steps.
std::vector<PipelineStep> parse_pipeline(std::string_view text, std::span<const Method* const> methods);

template <MethodSpec Spec>
PipelineStep step(const Spec& spec) {
  return {&method_of<Spec>(), to_value(*Valid<Spec>(spec))};
}

/// In C++: Scale{} | Pca{.components = 5} | Lda{}.
template <MethodSpec First, MethodSpec Second>
Pipeline operator|(const First& first, const Second& second) {
  return Pipeline({step(first), step(second)});
}
template <MethodSpec Next>
Pipeline operator|(const Pipeline& first, const Next& next) {
  auto steps = first.steps();
  steps.push_back(step(next));
  return Pipeline(std::move(steps));
}

/// The rows after a transformer: made block by block from the rows before it.
class TransformedRows final : public Rows {
 public:
  TransformedRows(const Rows& before, AnyModel step);
  Index count() const override { return before_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;

 private:
  const Rows& before_;
  AnyModel step_;
};

}  // namespace lemma
