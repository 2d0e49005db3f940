// lemma/ensemble/stacking.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/ensemble/shared/out_of_fold.hpp>
#include <lemma/ensemble/stacking.hpp>
#include <lemma/model/look_again.hpp>

namespace lemma {
namespace {

using namespace ensemble;

AnySpec usual_last(bool of_classes) { return parse_method(of_classes ? "multinomial" : "ridge").completed(); }

/// Columns of the last method, side by side: of classes all but the first.
Matrix side_by_side(const std::vector<Matrix>& said) {
  const Index width = std::max<Index>(1, said.front().cols() - 1);
  Matrix out(said.front().rows(), width * std::ssize(said));
  for (Index m = 0; m < std::ssize(said); ++m) out.middleCols(m * width, width) = said[at(m)].rightCols(width);
  return out;
}

/// The rows as the last method is given them.
class LastRows {
 public:
  LastRows(const TrainingRows& from, const OutOfFold& said, std::span<const AnySpec> methods)
      : all_(side_by_side(said.said)), z_(std::ssize(from.counting), all_.cols()), rows_(z_) {
    for (std::size_t i = 0; i < from.counting.size(); ++i) {
      const Index row = from.counting[i];
      z_.row(static_cast<Index>(i)) = all_.row(row);
      weight_.push_back(from.weight(row));
      if (from.of_classes()) label_.push_back(from.label[at(row)]);
      else y_.push_back(from.y(row));
    }
    if (from.of_classes()) rows_.labels(label_, from.rows.classes);
    else rows_.response(y_);
    if (from.rows.has_weights) rows_.weights(weight_);
    rows_.target = from.rows.target;
    rows_.features.clear();
    for (const auto& method : names_of_methods(methods))
      for (Index k = 1; k < std::max<Index>(2, from.classes()); ++k)
        rows_.features.push_back(from.of_classes() ? fmt::format("{}: {}", method, from.rows.classes[at(k)]) : method);
  }
  LastRows(const LastRows&) = delete;
  operator const Rows&() const { return rows_; }

 private:
  Matrix all_, z_;
  std::vector<double> y_, weight_;
  Labels label_;
  MemoryRows rows_;
};

Index columns_of_last(const StackingModel& model) {
  return std::max<Index>(1, model.classes - 1) * std::ssize(*model.spec.methods);
}

Certificate certify_stack(const StackingModel& model, const Rows& source, bool again, const Execution& execution) {
  const TrainingRows rows(Stacking::name, source, execution);
  const std::uint64_t seed = seed_of_text(Stacking::name, model.seed);
  const auto found = folds_of(Stacking::name, rows, model.spec.folds, seed);
  const bool same_order = order_of(rows) == model.order;
  double apart = 0;
  std::string failure;
  if (!same_folds(model.fold, found, same_order)) failure = "a row is told to be in another fold than it is";
  if (failure.empty()) {
    const auto look = [&](std::size_t m) {
      return again ? look_again(model.models[m], (*model.spec.methods)[m], source, execution.part(0, 0))
                   : model.models[m]->certificate();
    };
    failure = first_failure(model.models, look, execution);
  }
  Certificate last = model.last->certificate();
  if (failure.empty() && again) {
    const OutOfFold said = out_of_fold(Stacking::name, *model.spec.methods, rows, found, model.spec.folds, seed,
                                       execution.progress, execution.part(0, 0.9, "methods without each fold"));
    const Vector errors = errors_of(said, rows);
    apart = ((errors - model.errors).array().abs() / errors.array().max(1e-300)).maxCoeff();
    if (errors == model.errors) apart = 0;
    last = look_again(model.last, *model.spec.last, LastRows(rows, said, *model.spec.methods), execution.part(0.9, 1));
  }
  if (failure.empty() && last.fails())
    failure = fmt::format("the last method does not hold for what the others say of rows they have not seen: {}",
                          last.message);
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "columns from models that have not seen the row";
  out.value = !failure.empty() || std::isnan(apart) ? 1 : apart;
  out.tolerance = 1e-6;
  out.iterations = model.spec.folds;
  out.stopped = "all folds";
  if (!failure.empty()) out.message = fmt::format("The parts are not those of stacking on these rows: {}.", failure);
  else
    out.message = fmt::format(
        "Every column of a row comes from a model fitted without its fold{}; the last method holds for them, the "
        "others "
        "for all rows; their errors are those told to within {:.1e} (allowed {:.0e}).{}",
        again ? ", found again" : "", out.value, out.tolerance,
        same_order ? ""
                   : " The rows come in another order than at the fit: of the folds told their sizes are compared.");
  return out;
}

}  // namespace

void Stacking::check() const {
  if (methods) check_methods(name, *methods);
  if (!last) return;
  const Needs own = last->method().needs(last->params());
  require(own.classes || own.numbers,
          fmt::format("stacking: last is {}, which predicts neither classes nor numbers", last->text()));
}

Needs Stacking::needs(Needs usual) const { return methods ? needs_of_all(*methods, usual) : usual; }

bool StackingModel::has_probabilities() const { return classes == 0 || gives(last, kProbabilitiesPart.name); }

void StackingModel::check() const {
  require(spec.methods && spec.last && !spec.methods->empty(), "stacking: a parameter was not chosen");
  require(features >= 1 && classes >= 0 && classes != 1 && models.size() == spec.methods->size(),
          "stacking: there is not one model for each method");
  require(errors.size() == std::ssize(models) && errors.allFinite() && errors.minCoeff() >= 0,
          "stacking: there is not one error for each method");
  for (const int each : fold)
    require(each >= -1 && each < spec.folds, "stacking: a row is in a fold that there is not");
  for (const AnyModel& each : models) require_fits(Stacking::name, each, features, classes);
  require_fits(Stacking::name, last, columns_of_last(*this), classes);
  seed_of_text(Stacking::name, seed);
}

Matrix StackingModel::columns(const MatrixView& x) const {
  require_width(*this, x.cols());
  std::vector<Matrix> said;
  for (const AnyModel& each : models) said.push_back(said_of(each, x, classes));
  return side_by_side(said);
}

Vector StackingModel::predict(const MatrixView& x) const {
  require(classes == 0, "stacking: it was fitted to classes; ask it to classify");
  return said(last, columns(x), kValuePart.name).value();
}
Labels StackingModel::classify(const MatrixView& x) const {
  require(classes > 0, "stacking: it was fitted to numbers; ask it to predict");
  return said(last, columns(x), kClassPart.name).label();
}
Matrix StackingModel::probabilities(const MatrixView& x) const {
  require(classes > 0 && has_probabilities(), "stacking: its last method has no probabilities");
  return said(last, columns(x), kProbabilitiesPart.name).probabilities();
}

std::string StackingModel::summary(const Names& names) const {
  std::vector<std::string> texts;
  for (const AnySpec& each : *spec.methods) texts.push_back(each.text());
  Names inner;
  for (const auto& method : names_of_methods(*spec.methods))
    for (Index k = 1; k < std::max<Index>(2, classes); ++k)
      inner.features.push_back(classes > 0 ? fmt::format("{}: {}", method, names.classes[at(k)]) : method);
  inner.classes = names.classes;
  inner.target = names.target;
  return fmt::format(
      "{} folds\n\n{}\nLast: {}\n\n{}", spec.folds,
      TextTable()
          .words("method", texts)
          .numbers(classes > 0 ? "wrong out of fold" : "mean squared error out of fold", {errors.begin(), errors.end()})
          .str(),
      spec.last->text(), last->summary(inner));
}

StackingModel fit(const Valid<Stacking>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const TrainingRows data(Stacking::name, rows, execution);
  StackingModel model;
  model.spec = *spec;
  if (!model.spec.methods) model.spec.methods = usual_methods(data.of_classes());
  if (!model.spec.last) model.spec.last = usual_last(data.of_classes());
  model.features = rows.width();
  model.classes = data.classes();
  model.seed = text_of_seed(options.seed);
  model.order = order_of(data);
  model.fold = folds_of(Stacking::name, data, spec->folds, options.seed);
  model.models =
      fit_all(Stacking::name, *model.spec.methods, data, options.seed, execution.part(0, 0.2, "methods on all rows"));
  const OutOfFold said = out_of_fold(Stacking::name, *model.spec.methods, data, model.fold, spec->folds, options.seed,
                                     options.progress, execution.part(0.2, 0.9, "methods without each fold"));
  model.errors = errors_of(said, data);
  Quietly quiet(options.progress);
  try {
    model.last = model.spec.last->fit(LastRows(data, said, *model.spec.methods), options_inside(options, quiet, 0));
  } catch (const Error& error) { throw Error(fmt::format("stacking: the last method: {}", error.what())); }
  if (quiet.cancelled()) throw Cancelled();
  require_fits(Stacking::name, model.last, columns_of_last(model), model.classes);
  model.certificate = certify_stack(model, rows, false, execution.part(0.95, 1, "certificate"));
  return model;
}

Certificate certify(const StackingModel& model, const Rows& rows, const Execution& execution) {
  return certify_stack(model, rows, true, execution);
}

template const Method& method_of<Stacking>();

}  // namespace lemma
