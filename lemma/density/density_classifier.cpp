// lemma/density/density_classifier.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/quietly.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/density_classifier.hpp>
#include <lemma/density/shared/inside.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/look_again.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace {

/// The rows of each class that count, and their weights.
struct ByClass {
  Matrix x;
  Vector weight, counts;
  std::vector<std::vector<Index>> rows;
};

ByClass by_class(const Rows& rows, const Execution& execution) {
  ByClass out{gather(rows, execution), density::weights_of(rows, execution), {}, {}};
  const auto classes = static_cast<Index>(rows.classes.size());
  Labels label(at(rows.count()), -1);
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) label[at(block.first + i)] = block.label[at(i)];
  });
  out.counts = Vector::Zero(classes);
  out.rows.resize(at(classes));
  for (Index i = 0; i < out.x.rows(); ++i) {
    if (label[at(i)] < 0 || !(out.weight(i) > 0)) continue;
    out.rows[at(label[at(i)])].push_back(i);
    out.counts(label[at(i)]) += out.weight(i);
  }
  return out;
}

Certificate certificate_of(double wrong, const std::string& first, const std::string& method, Index classes) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "densities and counts that are not those of the rows";
  out.value = wrong;
  out.tolerance = 0;
  out.stopped = "closed form";
  out.message = wrong == 0 ? fmt::format(
                                 "Each of the {} densities is what {} makes of the rows of its class, and the "
                                 "counts and priors are those of the rows.",
                                 classes, method)
                           : first;
  return out;
}

}  // namespace

AnySpec DensityClassifier::inside() const { return density::inside_of(base); }
Needs DensityClassifier::needs(Needs usual) const { return density::needs_inside(inside(), usual); }
void DensityClassifier::check() const {
  check_prior(name, prior);
  if (base) density::require_density(name, *base, true);
}

void DensityClassifierModel::check() const {
  const Index k = class_count();
  require(k >= 2 && static_cast<Index>(densities.size()) == k && counts.size() == k,
          "density_classifier: densities, priors and counts do not fit together");
  require(prior.allFinite() && (prior.array() > 0).all() && std::abs(prior.sum() - 1) < 1e-6 && counts.allFinite() &&
              (counts.array() > 0).all(),
          "density_classifier: the priors or counts are not usable");
  for (const AnyModel& each : densities) {
    const auto parts = each->parts();
    require(
        each->width() == width() && std::any_of(parts.begin(), parts.end(),
                                                [](const PartInfo& part) { return part.name == kLogDensityPart.name; }),
        "density_classifier: what stands inside is no density of these columns");
  }
  if (const auto* given = std::get_if<std::vector<double>>(&spec.prior))
    require(static_cast<Index>(given->size()) == k, "density_classifier: the prior does not fit the classes");
}

Matrix DensityClassifierModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out(x.rows(), class_count());
  for (Index k = 0; k < class_count(); ++k)
    out.col(k) = density::log_densities(densities[at(k)], x).array() + std::log(prior(k));
  return out;
}

Matrix DensityClassifierModel::probabilities(const MatrixView& x) const {
  Matrix out = decision(x);
  softmax_rows(out);
  return out;
}

Labels DensityClassifierModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

Vector DensityClassifierModel::log_density(const MatrixView& x) const { return log_sum_exp_rows(decision(x)); }

DrawnRows DensityClassifierModel::draw(Index count, std::uint64_t seed) const {
  std::vector<Matrix> drawn;
  for (Index k = 0; k < class_count(); ++k)
    drawn.push_back(densities[at(k)]->draw(count, RandomStream(seed, at(k)).split(1).bits()).x);
  DrawnRows out{Matrix(count, width()), Labels(at(count))};
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, at(i));
    Index k = 0;
    for (double left = random.uniform() - prior(0); left >= 0 && k + 1 < prior.size(); left -= prior(k)) ++k;
    out.x.row(i) = drawn[at(k)].row(i);
    out.label[at(i)] = static_cast<int>(k);
  }
  return out;
}

std::string DensityClassifierModel::summary(const Names& names) const {
  TextTable table;
  table.words("class", names.classes)
      .numbers("rows", {counts.begin(), counts.end()}, 7)
      .numbers("prior", {prior.begin(), prior.end()}, 5);
  std::string out =
      fmt::format("Bayes' rule over {}, one for each class\n\n", spec.inside().text()) + table.str({.width = 100});
  constexpr Index kMost = 3;
  for (Index k = 0; k < std::min(kMost, class_count()); ++k)
    out += fmt::format("\n{}: ", names.classes[at(k)]) + densities[at(k)]->summary(names);
  if (class_count() > kMost) out += fmt::format("\n... and {} more\n", class_count() - kMost);
  return out;
}

DensityClassifierModel fit(const Valid<DensityClassifier>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const AnySpec inside = spec->inside();
  density::require_density(DensityClassifier::name, inside, true);
  check_prior(DensityClassifier::name, spec->prior, rows.classes);
  const ByClass data = by_class(rows, execution.part(0, 0.05));
  DensityClassifierModel model;
  model.spec = *spec;
  model.spec.base = inside;
  model.counts = data.counts;
  const Index classes = data.counts.size();
  Index wrong = 0;
  std::string first;
  for (Index k = 0; k < classes; ++k) {
    const std::string& class_name = rows.classes[at(k)];
    if (data.rows[at(k)].empty())
      throw Error(
          fmt::format("density_classifier: class '{}' of '{}' has no rows to learn from", class_name, rows.target));
    if (execution.cancelled()) throw Cancelled();
    Quietly quiet(options.progress);
    FitOptions own = options;
    own.progress = &quiet;
    const density::PlainRows part(rows, data.x, data.weight, data.rows[at(k)]);
    try {
      model.densities.push_back(inside.fit(part, own));
    } catch (const Error& error) {
      throw Error(fmt::format("density_classifier: class '{}': {}", class_name, error.what()));
    }
    if (execution.cancelled()) throw Cancelled();
    const AnyModel& found = model.densities.back();
    for (const auto& warning : found->warnings())
      model.warnings.push_back(fmt::format("{} of {}: {}", inside.method().name(), class_name, warning));
    if (found->certificate().fails() && wrong++ == 0)
      first = fmt::format("{} of class '{}' does not hold: {}", inside.method().name(), class_name,
                          found->certificate().message);
    execution.report(0.05 + 0.9 * static_cast<double>(k + 1) / static_cast<double>(classes), class_name);
  }
  model.prior = prior_of(spec->prior, model.counts);
  model.certificate = certificate_of(static_cast<double>(wrong), first, inside.method().name(), classes);
  return model;
}

Certificate certify(const DensityClassifierModel& model, const Rows& rows, const Execution& execution) {
  const AnySpec inside = model.spec.inside();
  const ByClass data = by_class(rows, execution.part(0, 0.05));
  const Index classes = model.class_count();
  Index wrong = 0;
  std::string first;
  const auto count = [&](bool is_wrong, const std::string& why) {
    if (is_wrong && wrong++ == 0) first = why;
  };
  count((data.counts - model.counts).cwiseAbs().maxCoeff() > 1e-9 * data.counts.sum(),
        "The counts of the classes are not those of the rows.");
  count((prior_of(model.spec.prior, data.counts) - model.prior).cwiseAbs().maxCoeff() > 1e-12,
        "The priors are not those that were asked for.");
  for (Index k = 0; k < classes; ++k) {
    const density::PlainRows part(rows, data.x, data.weight, data.rows[at(k)]);
    const auto share = [&](Index j) { return 0.05 + 0.95 * static_cast<double>(j) / static_cast<double>(classes); };
    const Certificate found = look_again(model.densities[at(k)], inside, part, execution.part(share(k), share(k + 1)));
    count(found.fails(), fmt::format("{} of class '{}' does not hold: {}", inside.method().name(), rows.classes[at(k)],
                                     found.message));
  }
  return certificate_of(static_cast<double>(wrong), first, inside.method().name(), classes);
}

template const Method& method_of<DensityClassifier>();

}  // namespace lemma
