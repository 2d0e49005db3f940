// lemma/model/pipeline.cpp
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/model/pipeline.hpp>
#include <map>

namespace lemma {
namespace {

/// Composes z = A₂ (A₁ x + b₁) + b₂.
AffineMap compose(const AffineMap& second, const AffineMap& first) {
  return {second.a * first.a, second.a * first.b + second.b};
}

/// The certificate of the whole: the first step whose own does not hold, else the last step's.
Certificate overall(const std::vector<Certificate>& steps) {
  for (const auto& certificate : steps)
    if (!certificate.holds()) return certificate;
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
  Task task() const override { return steps_.back()->task(); }
  Index width() const override { return steps_.front()->width(); }
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
      if (i + 1 < steps_.size()) out += fmt::format("\nCertificate: {}\n", wrap(certificate.message, 87));
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
        made.push_back(std::make_unique<TransformedRows>(*current, step));
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

MethodAbout about_of(const std::vector<PipelineStep>& steps) {
  MethodAbout about = steps.back().method->about();
  about.takes_missing = steps.front().method->about().takes_missing;
  about.objective = "each step is fitted on what the steps before it make of the rows";
  for (const auto& step : steps) {
    const auto& one = step.method->about();
    about.scans = about.scans && one.scans;
    about.random = about.random || one.random;
    about.takes_weights = about.takes_weights && one.takes_weights;
  }
  return about;
}

}  // namespace

Pipeline::Pipeline(std::vector<PipelineStep> steps) : steps_(std::move(steps)) {
  require(!steps_.empty(), "a pipeline needs at least one step");
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i)
    if (steps_[i].method->about().task != Task::transformation)
      throw Error(fmt::format("'{}' does not transform rows, so no step can follow it", steps_[i].method->name()));
  about_ = about_of(steps_);
}

std::string Pipeline::name() const {
  std::string out;
  for (const auto& step : steps_) out += (out.empty() ? "" : " | ") + step.method->name();
  return out;
}

std::string Pipeline::step_name(std::size_t i) const {
  int times = 1;
  for (std::size_t j = 0; j < i; ++j) times += steps_[j].method == steps_[i].method;
  return steps_[i].method->name() + (times > 1 ? std::to_string(times) : "");
}

std::vector<ParamInfo> Pipeline::params() const {
  std::vector<ParamInfo> out;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    for (ParamInfo info : steps_[i].method->params()) {
      info.name = step_name(i) + "." + info.name;
      if (!info.only_when.empty()) info.only_when = step_name(i) + "." + info.only_when;
      out.push_back(std::move(info));
    }
  return out;
}

std::vector<FieldInfo> Pipeline::results() const { return steps_.back().method->results(); }

Value Pipeline::check(const Value& params) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < steps_.size(); ++i) known.push_back(step_name(i));
  for (const auto& [key, value] : params.as_object("parameters of the pipeline"))
    if (std::find(known.begin(), known.end(), key) == known.end()) refuse_unknown(name() + ": ", key, known);
  Value out = Value::object();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Value own = steps_[i].params.is_object() ? steps_[i].params : Value::object();
    if (const Value* more = params.find(step_name(i)))
      for (const auto& [key, value] : more->as_object(step_name(i))) own.set(key, value);
    out.set(step_name(i), steps_[i].method->check(own));
  }
  return out;
}

int Pipeline::letters(const Value& params) const {
  const Value checked = check(params);
  int out = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    out = std::max(out, steps_[i].method->letters(checked.at(step_name(i))));
  return out;
}

AnyModel Pipeline::fit(const Value& params, const Rows& rows, const FitOptions& options) const {
  const Value checked = check(params);
  std::vector<AnyModel> fitted;
  std::vector<std::unique_ptr<TransformedRows>> made;
  const Rows* current = &rows;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    fitted.push_back(steps_[i].method->fit(checked.at(step_name(i)), *current, options));
    if (i + 1 == steps_.size()) break;
    made.push_back(std::make_unique<TransformedRows>(*current, fitted.back()));
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
    models.push_back(steps_[i].method->load(checked.at(step_name(i)), saved[i].at("state"), std::move(evidence)));
    if (i > 0) {  // each step must take what the one before it gives
      const auto given =
          models[i - 1]
              ->output_names(std::vector<std::string>(static_cast<std::size_t>(models[i - 1]->width()), "x"))
              .size();
      if (static_cast<Index>(given) != models[i]->width())
        throw Error(fmt::format("step '{}' gives {} columns and '{}' takes {}", step_name(i - 1), given, step_name(i),
                                models[i]->width()));
    }
  }
  return AnyModel(std::make_shared<PipelineModel>(std::make_shared<Pipeline>(steps_), std::move(models)));
}

TransformedRows::TransformedRows(const Rows& before, AnyModel step) : before_(before), step_(std::move(step)) {
  features = step_->output_names(before.features);
  target = before.target;
  classes = before.classes;
  has_response = before.has_response;
  has_weights = before.has_weights;
  has_precision = before.has_precision;
  has_offset = before.has_offset;
  counts = before.counts;
}

Block TransformedRows::read(Index first, Index size, BlockBuffer& buffer) const {
  BlockBuffer inner;
  const Block before = before_.read(first, size, inner);
  buffer.x = step_->transform(before.x);
  const auto copy = [](auto& into, const auto& from) { into.assign(from.begin(), from.end()); };
  copy(buffer.y, before.y);
  copy(buffer.label, before.label);
  copy(buffer.weight, before.weight);
  copy(buffer.precision, before.precision);
  copy(buffer.offset, before.offset);
  Block block(buffer.x, first);
  block.y = buffer.y;
  block.label = buffer.label;
  block.weight = buffer.weight;
  block.precision = buffer.precision;
  block.offset = buffer.offset;
  return block;
}

}  // namespace lemma
