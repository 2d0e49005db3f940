// lemma/ensemble/per_response.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/ensemble/per_response.hpp>
#include <lemma/ensemble/shared/inside.hpp>
#include <lemma/model/look_again.hpp>

namespace lemma {
namespace {

using namespace ensemble;

AnySpec usual_base() { return parse_method("tree(cp=0, folds=0)").completed(); }

/// The rows with one of their responses alone.
class OneResponse {
 public:
  OneResponse(const Rows& rows, Index k) {
    if (rows.responses.empty()) {
      rows_ = &rows;
      return;
    }
    const ResponseColumn& column = rows.responses[at(k)];
    BlockBuffer buffer;
    const Block beside = rows.outcome(0, rows.count(), buffer);
    const auto all = beside.several();
    if (column.classes.empty()) {
      std::vector<double> y(at(rows.count()));
      for (Index i = 0; i < rows.count(); ++i) y[at(i)] = all(i, k);
      numbers_.emplace(rows, std::move(y), column.name);
      rows_ = &*numbers_;
    } else {
      Labels label(at(rows.count()));
      for (Index i = 0; i < rows.count(); ++i) label[at(i)] = std::isnan(all(i, k)) ? -1 : static_cast<int>(all(i, k));
      labels_.emplace(rows, std::move(label), column.classes);
      labels_->target = column.name;
      rows_ = &*labels_;
    }
  }
  OneResponse(const OneResponse&) = delete;
  const Rows& rows() const { return *rows_; }

 private:
  std::optional<RespondingRows> numbers_;
  std::optional<RelabelledRows> labels_;
  const Rows* rows_ = nullptr;
};

/// Of each response how many classes it has.
Labels classes_of(const Rows& rows) {
  if (rows.responses.empty()) return {static_cast<int>(rows.classes.size())};
  Labels out;
  for (const auto& each : rows.responses) out.push_back(static_cast<int>(each.classes.size()));
  return out;
}

std::string name_of_response(const Rows& rows, Index k) {
  return rows.responses.empty() ? rows.target : rows.responses[at(k)].name;
}

/// The weakest claim, and of those of one strength the one nearest to its tolerance.
Certificate certificate_of(const std::vector<Certificate>& all, const Rows& rows) {
  std::size_t worst = 0;
  const auto off = [](const Certificate& c) {
    if (!c.claims()) return 0.0;
    return c.value <= 0 ? 0.0 : c.tolerance > 0 ? c.value / c.tolerance : 2.0;
  };
  const auto rank = [&](const Certificate& c) {
    return std::tuple(c.fails() ? 1 : 0, static_cast<int>(c.strength), std::isnan(off(c)) ? 1e300 : off(c));
  };
  for (std::size_t k = 1; k < all.size(); ++k)
    if (rank(all[k]) > rank(all[worst])) worst = k;
  Certificate out = all[worst];
  if (all.size() == 1) return out;
  out.iterations = 0;
  for (const auto& each : all) out.iterations += each.iterations;
  out.message = fmt::format("{} models, each with its own certificate; the weakest, of {}: {}", all.size(),
                            name_of_response(rows, static_cast<Index>(worst)), all[worst].message);
  return out;
}

}  // namespace

void PerResponse::check() const {
  if (!base) return;
  const MethodAbout& inside = base->method().about();
  require(inside.uses_response && (inside.task == Task::classification || inside.task == Task::regression),
          fmt::format("per_response: base is {}, which predicts neither classes nor numbers", base->text()));
}

Needs PerResponse::needs(Needs usual) const {
  const AnySpec inside = base ? *base : usual_base();
  const Needs own = inside.method().needs(inside.params());
  usual.classes = own.classes;
  usual.numbers = own.numbers;
  return needs_inside(inside, usual);
}

bool PerResponseModel::has_probabilities() const {
  return !several() && ensemble::gives(models.front(), kProbabilitiesPart.name);
}

void PerResponseModel::check() const {
  require(spec.base.has_value(), "per_response: a parameter was not chosen");
  require(!models.empty() && features >= 1 && classes.size() == models.size(), "per_response: there are no models");
  for (std::size_t k = 0; k < models.size(); ++k) {
    require(classes[k] >= 0 && classes[k] != 1, "per_response: a response has one class");
    require_fits(PerResponse::name, models[k], features, classes[k]);
  }
}

Matrix PerResponseModel::values(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out(x.rows(), std::ssize(models));
  for (std::size_t k = 0; k < models.size(); ++k) {
    const auto column = static_cast<Index>(k);
    if (classes[k] == 0) {
      out.col(column) = said(models[k], x, kValuePart.name).value();
      continue;
    }
    const Labels label = said(models[k], x, kClassPart.name).label();
    for (Index i = 0; i < x.rows(); ++i) out(i, column) = label[at(i)];
  }
  return out;
}

Vector PerResponseModel::predict(const MatrixView& x) const {
  require(!several(), "per_response: it was fitted to several responses; ask it for its values");
  require(class_count() == 0, "per_response: it was fitted to classes; ask it to classify");
  require_width(*this, x.cols());
  return said(models.front(), x, kValuePart.name).value();
}

Labels PerResponseModel::classify(const MatrixView& x) const {
  require(class_count() > 0, "per_response: it was not fitted to one response of classes");
  require_width(*this, x.cols());
  return said(models.front(), x, kClassPart.name).label();
}

Matrix PerResponseModel::probabilities(const MatrixView& x) const {
  require(class_count() > 0, "per_response: it was not fitted to one response of classes");
  require_width(*this, x.cols());
  return said(models.front(), x, kProbabilitiesPart.name).probabilities();
}

Prediction PerResponseModel::prediction(const MatrixView& x, const PredictOptions& options) const {
  Prediction out;
  if (several()) return out;
  if (class_count() == 0) return options.asks(kValuePart) ? out.add(kValuePart, predict(x)) : out;
  if (options.asks(kClassPart)) out.add(kClassPart, classify(x));
  if (has_probabilities() && options.asks(kProbabilitiesPart)) out.add(kProbabilitiesPart, probabilities(x));
  return out;
}

std::string PerResponseModel::summary(const Names& names) const {
  std::string out = fmt::format("{} of {}\n", count_of(std::ssize(models), "model"), spec.base->text());
  for (std::size_t k = 0; k < models.size(); ++k) {
    const std::string response = k < names.responses.size() ? names.responses[k] : names.target;
    Names own{names.features, several() ? std::vector<std::string>() : names.classes, response, {}};
    out += fmt::format("\n{}:\n\n{}", response, models[k]->summary(own));
  }
  return out;
}

PerResponseModel fit(const Valid<PerResponse>& spec, const Rows& rows, const FitOptions& options) {
  PerResponseModel model;
  model.spec = *spec;
  if (!model.spec.base) model.spec.base = usual_base();
  model.features = rows.width();
  model.classes = classes_of(rows);
  Quietly quiet(options.progress);
  model.models.resize(model.classes.size());
  parallel_for(std::ssize(model.models), options.execution().part(0, 1, "a model for each response"), [&](Index k) {
    const OneResponse one(rows, k);
    try {
      model.models[at(k)] =
          model.spec.base->fit(one.rows(), options_inside(options, quiet, static_cast<std::uint64_t>(k)));
    } catch (const Error& error) {
      if (rows.responses.empty()) throw;
      throw Error(fmt::format("per_response: {}: {}", name_of_response(rows, k), error.what()));
    }
    require_fits(PerResponse::name, model.models[at(k)], model.features, model.classes[at(k)]);
  });
  std::vector<Certificate> own;
  for (std::size_t k = 0; k < model.models.size(); ++k) {
    own.push_back(model.models[k]->certificate());
    for (const auto& warning : model.models[k]->warnings())
      model.warnings.push_back(rows.responses.empty()
                                   ? warning
                                   : fmt::format("{}: {}", name_of_response(rows, static_cast<Index>(k)), warning));
  }
  model.certificate = certificate_of(own, rows);
  return model;
}

Certificate certify(const PerResponseModel& model, const Rows& rows, const Execution& execution) {
  Certificate other;
  other.strength = Strength::consistent;
  other.kind = "responses";
  other.value = 1;
  if (classes_of(rows) != model.classes) {
    other.message =
        fmt::format("The model has {} and the rows have others.", count_of(std::ssize(model.models), "response"));
    return other;
  }
  std::vector<Certificate> found;
  for (std::size_t k = 0; k < model.models.size(); ++k) {
    const OneResponse one(rows, static_cast<Index>(k));
    found.push_back(look_again(model.models[k], *model.spec.base, one.rows(), execution));
  }
  return certificate_of(found, rows);
}

template const Method& method_of<PerResponse>();

}  // namespace lemma
