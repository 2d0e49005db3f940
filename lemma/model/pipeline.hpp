// lemma/model/pipeline.hpp: steps that compose: scale | pca(components=5) | svm(C=10). A pipeline is a method like any other.
#pragma once
#include <lemma/data/formula.hpp>
#include <lemma/data/table.hpp>
#include <lemma/model/any_spec.hpp>
#include <optional>

namespace lemma {

inline constexpr std::size_t kMostSteps = 64;

/// Steps from left to right; all but the last must transform rows, or have coordinates for them (discriminants). Each step
/// is fitted on what the steps before it make
/// of the rows, so a pipeline inside cross-validation never sees the rows it is judged on.
class Pipeline final : public Method {
 public:
  explicit Pipeline(std::vector<AnySpec> steps);  // Error when a step before the last does not transform

  const std::vector<AnySpec>& steps() const { return steps_; }
  std::string name() const override;  // "scale | pca | lda"
  const MethodAbout& about() const override { return about_; }
  std::vector<ParamInfo> params() const override;  // "pca.components", …; the second pca is "pca2"
  std::vector<FieldInfo> results() const override;
  std::vector<PartInfo> parts() const override { return steps_.back().method().parts(); }
  bool draws_rows() const override { return false; }
  std::string_view way_to(std::string_view part) const override { return steps_.back().method().way_to(part); }
  bool gives_coordinates() const override { return steps_.back().method().gives_coordinates(); }
  UpdateKind updates() const override { return UpdateKind::none; }
  bool verifies_together() const override { return false; }
  Value check(const Value& params) const override;
  Value defaults() const override { return check(Value::object()); }
  Needs needs(const Value& params) const override;  // of the first step for x, of the last one for the response
  AnyModel fit(const Value& params, const Rows& rows, const FitOptions& options) const override;
  AnyModel load(const Value& params, const Value& state, Evidence evidence) const override;

  /// How the i-th step is called in parameters and results: its method's name, numbered when it comes again.
  std::string step_name(std::size_t i) const;

 private:
  std::vector<AnySpec> steps_;
  MethodAbout about_;
};

/// Reads 'scale | pca(components=5) | lda', or a single method; nothing but names and parameters is accepted. An error
/// shows the text with a caret under the place.
std::vector<AnySpec> parse_pipeline(std::string_view text, std::span<const Method* const> methods);

/// In C++: Scale{} | Pca{.components = 5} | Lda{}.
template <MethodSpec First, MethodSpec Second>
Pipeline operator|(const First& first, const Second& second) {
  return Pipeline({AnySpec(first), AnySpec(second)});
}
template <MethodSpec Next>
Pipeline operator|(const Pipeline& first, const Next& next) {
  auto steps = first.steps();
  steps.push_back(AnySpec(next));
  return Pipeline(std::move(steps));
}

/// The models of a pipeline's steps; none of a model that is no pipeline.
std::span<const AnyModel> steps_of(const AnyModel& model);

/// The rows after a step: where the rows before it lie in memory all of them are made once and kept, else block by block as
/// they are read.
class TransformedRows final : public Rows {
 public:
  TransformedRows(const Rows& before, AnyModel step, const Execution& execution = {});
  Index count() const override { return before_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override {
    return before_.outcome(first, size, buffer);
  }
  const MatrixView* matrix() const override { return view_ ? &*view_ : nullptr; }
  /// From now on block by block.
  void forget();

 private:
  const Rows& before_;
  AnyModel step_;
  std::optional<Matrix> kept_;
  std::optional<MatrixView> view_;
};

}  // namespace lemma
