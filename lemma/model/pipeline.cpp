// lemma/model/pipeline.cpp
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/pipeline.hpp>
#include <map>

namespace lemma {
namespace {

/// A step that keeps the number of columns is a square matrix: beyond so many columns (128 MB) nothing is traced back.
constexpr Index kWidestTraced = 4096;

/// Composes z = A₂ (A₁ x + b₁) + b₂.
AffineMap compose(const AffineMap& second, const AffineMap& first) {
  return {second.a * first.a, second.a * first.b + second.b};
}

/// The certificate of the whole: the first step whose own fails, else the last step's.
Certificate overall(const std::vector<Certificate>& steps) {
  for (const auto& certificate : steps)
    if (certificate.fails()) return certificate;
  return steps.back();
}

class PipelineModel final : public AnyModel::Interface {
 public:
  PipelineModel(std::shared_ptr<const Pipeline> method, std::vector<AnyModel> steps)
      : method_(std::move(method)), steps_(std::move(steps)) {
    std::vector<Certificate> certificates;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      certificates.push_back(steps_[i]->certificate());
      for (const auto& warning : steps_[i]->warnings()) warnings_.push_back(method_->step_name(i) + ": " + warning);
    }
    certificate_ = overall(certificates);
  }

  const Method& method() const override { return *method_; }
  std::span<const AnyModel> steps() const { return steps_; }
  Task task() const override { return steps_.back()->task(); }
  Index width() const override { return steps_.front()->width(); }
  /// Of the last step that tells classes apart; steps before it may do so too, in their coordinates.
  Index class_count() const override {
    for (std::size_t i = steps_.size(); i-- > 0;)
      if (const Index count = steps_[i]->class_count()) return count;
    return 0;
  }
  Index output_width() const override { return steps_.back()->output_width(); }
  /// Each step is usable, and takes what the one before it gives.
  void check() const override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i]->check();
      if (steps_[i]->class_count() > 0 && steps_[i]->class_count() != class_count())
        throw Error(fmt::format("step '{}' tells {} classes apart, and another one {}", method_->step_name(i),
                                steps_[i]->class_count(), class_count()));
      if (i == 0 || steps_[i - 1]->output_width() == steps_[i]->width()) continue;
      throw Error(fmt::format("step '{}' gives {} columns and '{}' takes {}", method_->step_name(i - 1),
                              steps_[i - 1]->output_width(), method_->step_name(i), steps_[i]->width()));
    }
  }
  const Certificate& certificate() const override { return certificate_; }
  const std::vector<std::string>& warnings() const override { return warnings_; }

  Value params() const override {
    Value out = Value::object();
    for (std::size_t i = 0; i < steps_.size(); ++i) out.set(method_->step_name(i), steps_[i]->params());
    return out;
  }
  Prediction predict(const MatrixView& x, const PredictOptions& options) const override {
    return steps_.back().predict(before_last(x), options);
  }
  std::vector<PartInfo> parts() const override { return steps_.back()->parts(); }
  Matrix transform(const MatrixView& x) const override { return steps_.back()->transform(before_last(x)); }
  Matrix inverse(const MatrixView& z) const override {
    Matrix x = z;
    for (std::size_t i = steps_.size(); i-- > 0;) x = steps_[i]->inverse(x);
    return x;
  }
  std::vector<std::string> output_names(const std::vector<std::string>& features) const override {
    return names_at(steps_.size(), features);
  }
  std::optional<AffineMap> affine() const override {
    if (steps_.size() > 1 && width() > kWidestTraced) return {};
    std::optional<AffineMap> whole = steps_.front()->affine();
    for (std::size_t i = 1; i < steps_.size() && whole; ++i) {
      const auto next = steps_[i]->affine();
      if (!next) return {};
      whole = compose(*next, *whole);
    }
    return whole;
  }
  std::vector<NamedColumn> diagnostics(const Block& block) const override {
    const Matrix x = before_last(block.x);
    Block inner(x, block.first);
    inner.y = block.y;
    inner.label = block.label;
    inner.weight = block.weight;
    inner.precision = block.precision;
    inner.offset = block.offset;
    inner.cluster = block.cluster;
    return steps_.back()->diagnostics(inner);
  }

  /// The last step's results; its linear predictor is traced back to the user's columns where every step is affine.
  Value results(const Names& names) const override {
    Value out = steps_.back()->results(names_before_last(names));
    out.set("features", names_at(steps_.size() - 1, names.features));
    if (const auto map = affine(); map && steps_.size() > 1) {
      Value traced = Value::object();
      traced.set("features", names.features);
      if (map->a.rows() == 1) {
        traced.set("coefficients", Vector(map->a.row(0)));
        traced.set("intercept", map->b(0));
      } else {
        traced.set("coefficients", map->a);
        traced.set("intercept", map->b);
      }
      out.set("in_users_columns", traced);
    }
    Value steps = Value::object();
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i) {
      Value step = Value::object();
      Names at{names_at(i, names.features), names.classes, names.target};
      step.set("results", steps_[i]->results(at));
      step.set("certificate", to_value(steps_[i]->certificate()));
      steps.set(method_->step_name(i), step);
    }
    out.set("steps", steps);
    return out;
  }
  std::string summary(const Names& names) const override {
    std::string out;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      Names at{names_at(i, names.features), names.classes, names.target};
      const auto& certificate = steps_[i]->certificate();
      out += fmt::format("{}Step {} of {}: {}\n\n{}", i ? "\n" : "", i + 1, steps_.size(), method_->step_name(i),
                         steps_[i]->summary(at));
      if (i + 1 < steps_.size())
        out += fmt::format("\nCertificate: {}\n", wrap(residues_bounded(certificate.message), 87));
    }
    return out;
  }
  Value save() const override {
    Value::List steps;
    for (const auto& step : steps_) {
      Value item = Value::object();
      item.set("method", step->method().name());
      item.set("state", step->save());
      item.set("certificate", to_value(step->certificate()));
      item.set("warnings", step->warnings());
      steps.push_back(std::move(item));
    }
    Value out = Value::object();
    out.set("steps", std::move(steps));
    return out;
  }
  Certificate verify(const Rows& rows, const Execution& execution) const override {
    std::vector<std::unique_ptr<TransformedRows>> made;
    const Rows* current = &rows;
    std::vector<Certificate> certificates;
    for (const auto& step : steps_) {
      certificates.push_back(step->verify(*current, execution));
      if (&step != &steps_.back()) {
        made.push_back(std::make_unique<TransformedRows>(*current, step, execution));
        if (made.size() > 1) made[made.size() - 2]->forget();
        current = made.back().get();
      }
    }
    return overall(certificates);
  }

 private:
  Matrix before_last(const MatrixView& x) const {
    Matrix z = x;
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i) z = steps_[i]->transform(z);
    return z;
  }
  std::vector<std::string> names_at(std::size_t step, std::vector<std::string> features) const {
    for (std::size_t i = 0; i < step; ++i) features = steps_[i]->output_names(features);
    return features;
  }
  Names names_before_last(const Names& names) const {
    return {names_at(steps_.size() - 1, names.features), names.classes, names.target};
  }

  std::shared_ptr<const Pipeline> method_;
  std::vector<AnyModel> steps_;
  Certificate certificate_;
  std::vector<std::string> warnings_;
};

MethodAbout about_of(const std::vector<AnySpec>& steps) {
  MethodAbout about = steps.back().method().about();
  about.takes_missing = steps.front().method().about().takes_missing;
  about.objective = "each step is fitted on what the steps before it make of the rows";
  for (const auto& step : steps) {
    const auto& one = step.method().about();
    about.scans = about.scans && one.scans;
    about.random = about.random || one.random;
    about.takes_weights = about.takes_weights && one.takes_weights;
    about.uses_response = about.uses_response || one.uses_response;
  }
  return about;
}

}  // namespace

Pipeline::Pipeline(std::vector<AnySpec> steps) : steps_(std::move(steps)) {
  require(!steps_.empty(), "a pipeline needs at least one step");
  require(steps_.size() <= kMostSteps, fmt::format("a pipeline has at most {} steps", kMostSteps));
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i)
    if (!steps_[i].method().gives_coordinates())
      throw Error(fmt::format("'{}' does not transform rows, so no step can follow it", steps_[i].method().name()));
  about_ = about_of(steps_);
}

std::string Pipeline::name() const {
  std::string out;
  for (const auto& step : steps_) out += (out.empty() ? "" : " | ") + step.method().name();
  return out;
}

std::string Pipeline::step_name(std::size_t i) const {
  int times = 1;
  for (std::size_t j = 0; j < i; ++j) times += &steps_[j].method() == &steps_[i].method();
  return steps_[i].method().name() + (times > 1 ? std::to_string(times) : "");
}

std::vector<ParamInfo> Pipeline::params() const {
  std::vector<ParamInfo> out;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    for (ParamInfo info : params_of(steps_[i].method(), steps_[i].params())) {
      info.name = step_name(i) + "." + info.name;
      if (!info.only_when.empty()) info.only_when = step_name(i) + "." + info.only_when;
      out.push_back(std::move(info));
    }
  return out;
}

std::vector<FieldInfo> Pipeline::results() const { return steps_.back().method().results(); }

Value Pipeline::check(const Value& params) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < steps_.size(); ++i) known.push_back(step_name(i));
  for (const auto& [key, value] : params.as_object("parameters of the pipeline"))
    if (std::find(known.begin(), known.end(), key) == known.end()) refuse_unknown(name() + ": ", key, known);
  Value out = Value::object();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Value own = steps_[i].params();
    if (const Value* more = params.find(step_name(i)))
      for (const auto& [key, value] : more->as_object(step_name(i))) own.set(key, value);
    out.set(step_name(i), steps_[i].method().check(own));
  }
  return out;
}

Needs Pipeline::needs(const Value& params) const {
  const Value checked = check(params);
  const auto of_step = [&](std::size_t i) { return steps_[i].method().needs(checked.at(step_name(i))); };
  const Needs first = of_step(0);
  Needs out = of_step(steps_.size() - 1);
  for (std::size_t i = steps_.size() - 1; i-- > 0 && !out.classes && !out.numbers;) {  // discriminants before pca
    const Needs step = of_step(i);
    out.classes = step.classes;
    out.numbers = step.numbers;
    out.prefers_classes = step.prefers_classes;
  }
  out.missing = first.missing;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Needs step = of_step(i);
    out.letters = std::max(out.letters, step.letters);
    out.codes = out.codes && step.codes;  // a step that works with numbers alone gets categories as columns
  }
  out.unseen = out.codes ? first.unseen : Unseen::error;
  return out;
}

AnyModel Pipeline::fit(const Value& params, const Rows& rows, const FitOptions& options) const {
  const Value checked = check(params);
  std::vector<AnyModel> fitted;
  std::vector<std::unique_ptr<TransformedRows>> made;
  const Rows* current = &rows;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    fitted.push_back(steps_[i].method().fit(checked.at(step_name(i)), *current, options));
    if (i + 1 == steps_.size()) break;
    made.push_back(std::make_unique<TransformedRows>(*current, fitted.back(), options.execution()));
    if (made.size() > 1) made[made.size() - 2]->forget();  // what comes next has been made of it
    current = made.back().get();
  }
  return AnyModel(std::make_shared<PipelineModel>(std::make_shared<Pipeline>(steps_), std::move(fitted)));
}

AnyModel Pipeline::load(const Value& params, const Value& state, Evidence) const {
  const Value checked = check(params);
  const auto& saved = state.at("steps").as_list("steps");
  if (saved.size() != steps_.size())
    throw Error(fmt::format("the pipeline has {} steps and the file holds {}", steps_.size(), saved.size()));
  std::vector<AnyModel> models;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Evidence evidence{certificate_from(saved[i].at("certificate")), saved[i].at("warnings").as_strings("warnings")};
    models.push_back(steps_[i].method().load(checked.at(step_name(i)), saved[i].at("state"), std::move(evidence)));
  }
  const auto model = std::make_shared<PipelineModel>(std::make_shared<Pipeline>(steps_), std::move(models));
  model->check();
  return AnyModel(model);
}

std::span<const AnyModel> steps_of(const AnyModel& model) {
  const auto* pipeline = dynamic_cast<const PipelineModel*>(model.operator->());
  return pipeline ? pipeline->steps() : std::span<const AnyModel>();
}

TransformedRows::TransformedRows(const Rows& before, AnyModel step, const Execution& execution)
    : Rows(before), before_(before), step_(std::move(step)) {
  features = step_->output_names(before.features);
  levels.clear();  // numbers are what a step gives
  if (!before.matrix()) return;
  Matrix x(before.count(), width());
  for_each_block(before, execution,
                 [&](const Block& block) { x.middleRows(block.first, block.rows()) = step_->transform(block.x); });
  kept_ = std::move(x);
  view_.emplace(*kept_);
}

void TransformedRows::forget() {
  view_.reset();
  kept_.reset();
}

Block TransformedRows::read(Index first, Index size, BlockBuffer& buffer) const {
  if (kept_) {
    const Block outcome = before_.outcome(first, size, buffer);
    Block block(kept_->middleRows(first, size), first);
    block.y = outcome.y;
    block.label = outcome.label;
    block.weight = outcome.weight;
    block.precision = outcome.precision;
    block.offset = outcome.offset;
    block.cluster = outcome.cluster;
    return block;
  }
  BlockBuffer inner;
  const Block before = before_.read(first, size, inner);
  buffer.x = step_->transform(before.x);
  const auto copy = [](auto& into, const auto& from) { into.assign(from.begin(), from.end()); };
  copy(buffer.y, before.y);
  copy(buffer.label, before.label);
  copy(buffer.weight, before.weight);
  copy(buffer.precision, before.precision);
  copy(buffer.offset, before.offset);
  copy(buffer.cluster, before.cluster);
  Block block(buffer.x, first);
  block.y = buffer.y;
  block.label = buffer.label;
  block.weight = buffer.weight;
  block.precision = buffer.precision;
  block.offset = buffer.offset;
  block.cluster = buffer.cluster;
  return block;
}

}  // namespace lemma
