// lemma/bayes/decide.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/bayes/decide.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/look_again.hpp>
#include <lemma/model/threshold.hpp>

namespace lemma {
namespace {

/// Error unless it gives probabilities of classes.
void require_probabilities(const AnyModel& model) {
  const auto parts = model->parts();
  const bool gives = std::any_of(parts.begin(), parts.end(),
                                 [](const PartInfo& part) { return part.name == kProbabilitiesPart.name; });
  if (gives && model->class_count() > 1) return;
  throw Error(fmt::format("decide: {} gives no probabilities to decide by; {}", model->method().name(),
                          way_to_probabilities(model->method())));
}

void require_rule(const Decide& spec, Index classes) {
  if (const auto* losses = std::get_if<Matrix>(&spec.losses)) require_losses(*losses, classes);
}

}  // namespace

AnySpec Decide::inside() const { return base ? base->completed() : parse_method("lda").completed(); }

Needs Decide::needs(Needs usual) const {
  Needs out = inside().method().needs(inside().params());
  out.classes = usual.classes;
  out.numbers = usual.numbers;
  out.counts = out.several = out.offset = false;
  return out;
}

void DecideModel::check() const {
  require_probabilities(base);
  require_rule(spec, class_count());
}

Matrix DecideModel::probabilities(const MatrixView& x) const {
  require_width(*this, x.cols());
  PredictOptions options;
  options.what = {std::string(kProbabilitiesPart.name)};
  return base.predict(x, options).probabilities();
}

Labels DecideModel::predict(const MatrixView& x) const { return bayes_decisions(probabilities(x), losses()).chosen; }

Labels DecideModel::decided(const MatrixView& x) const {
  return bayes_decisions(probabilities(x), losses(), spec.reject).chosen;
}

Vector DecideModel::expected_loss(const MatrixView& x) const {
  return bayes_decisions(probabilities(x), losses(), spec.reject).expected;
}

std::string DecideModel::summary(const Names& names) const {
  std::string out = "Decided by Bayes' rule";
  if (const Matrix* given = given_losses()) {
    TextTable table;
    table.words("true \\ said", names.classes);
    for (Index l = 0; l < class_count(); ++l) {
      const Vector column = given->col(l);
      table.numbers(names.classes[at(l)], {column.begin(), column.end()});
    }
    out += ", with the losses\n\n" + table.str();
    if (class_count() == 2)
      out += fmt::format("\n{} is said where its probability is at least {}.\n", names.classes[1],
                         format_significant(bayes_threshold(*given), 5));
  } else {
    out += ", every mistake at a loss of 1.\n";
  }
  if (spec.reject)
    out += fmt::format("Withheld where the expected loss is above {}.\n", format_significant(*spec.reject, 6));
  return out + "\n" + base->summary(names);
}

DecideModel fit(const Valid<Decide>& spec, const Rows& rows, const FitOptions& options) {
  const AnySpec inside = spec->inside();
  require_rule(*spec, static_cast<Index>(rows.classes.size()));
  DecideModel model;
  model.spec = *spec;
  model.spec.base = inside;
  model.base = inside.fit(rows, options);
  require_probabilities(model.base);
  model.certificate = model.base->certificate();
  model.warnings = model.base->warnings();
  return model;
}

Certificate certify(const DecideModel& model, const Rows& rows, const Execution& execution) {
  return look_again(model.base, model.spec.inside(), rows, execution);
}

AnyModel decided_by(const AnyModel& model, std::optional<Matrix> losses, std::optional<double> reject) {
  if (const auto* before = model_cast<DecideModel>(model)) return decided_by(before->base, std::move(losses), reject);
  require_probabilities(model);
  DecideModel out;
  const AnySpec named = parse_method(model->method().name());
  out.spec.base = AnySpec(named.shared(), model->params());
  if (losses) out.spec.losses = std::move(*losses);
  out.spec.reject = reject;
  out.spec = *Valid<Decide>(out.spec);
  out.base = model;
  out.certificate = model->certificate();
  out.warnings = model->warnings();
  out.check();
  return AnyModel(std::make_shared<SpecModel<Decide, DecideModel>>(std::move(out)));
}

template const Method& method_of<Decide>();

}  // namespace lemma
