// lemma/reduce/pca.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/rows_like.hpp>
#include <lemma/reduce/pca.hpp>
#include <lemma/reduce/pca/parts.hpp>

namespace lemma {
namespace {

constexpr double kSquaresKeepDigits =
    1e-9;  // a smaller share of the first variance is found by svd, not through squares

/// How many components were asked for as a number; nothing when it is a share, or left open.
std::optional<Index> count_asked(const Pca& spec) {
  if (!spec.components || *spec.components < 1) return {};
  return static_cast<Index>(*spec.components);
}

PcaSolver chosen_solver(const Pca& spec, const Rows& rows) {
  if (spec.solver) return *spec.solver;
  return rows.count() < rows.width() ? PcaSolver::gram : PcaSolver::covariance;
}

void check_count(const Pca& spec, const Rows& rows, const pca::Ground& ground) {
  const auto count = count_asked(spec);
  const Index most = ground.most(spec.center);
  if (!count || *count <= most) return;
  throw Error(fmt::format("pca: components is {}, must be at most {}: there are {} and {}", *count, most,
                          count_of(rows.width(), "column"), count_of(ground.rows, "row")));
}

/// Of the axes found, as many as carry variance, and of these as many as were asked for.
Index count_kept(const Pca& spec, const pca::Ground& ground, const pca::Axes& axes) {
  Index carrying = 0;
  while (carrying < axes.variances.size() && carrying < ground.most(spec.center) &&
         axes.variances(carrying) > axes.rounding * axes.variances(0))
    ++carrying;
  if (!spec.components) return carrying;
  if (const auto count = count_asked(spec)) return std::min(*count, carrying);
  const double wanted = *spec.components * ground.variances.sum();
  double reached = 0;
  for (Index k = 0; k < carrying; ++k) {
    reached += axes.variances(k);
    if (reached >= wanted) return k + 1;
  }
  return carrying;
}

void keep(PcaModel& model, const pca::Axes& axes, Index count) {
  model.sdev = axes.variances.head(count).cwiseSqrt();
  model.explained = axes.variances.head(count) / model.total_variance;
  model.loadings = axes.loadings.leftCols(count);
}

/// A variance small beside the first, or one that is missing though its columns vary: squares are no witness there.
bool squares_lost_digits(const Pca& spec, const pca::Ground& ground, const pca::Axes& axes, Index kept) {
  const auto varying = static_cast<Index>((ground.variances.array() > 0).count());
  const Index expected = count_asked(spec).value_or(spec.components ? kept : ground.most(spec.center));
  return kept < std::min(varying, expected) || axes.variances(kept - 1) < kSquaresKeepDigits * axes.variances(0);
}

void warn_of_missing(PcaModel& model, const pca::Ground& ground) {
  const bool fewer = model.spec.components ? *model.spec.components < 1 : model.spec.rule.has_value();
  if (fewer) return;
  const Index expected = count_asked(model.spec).value_or(ground.most(model.spec.center)),
              missing = expected - model.components();
  if (missing > 0)
    model.warnings.push_back(fmt::format("{} of {} components {} no variance beyond rounding and {} left out", missing,
                                         expected, missing == 1 ? "carries" : "carry", missing == 1 ? "is" : "are"));
}

/// How many axes a solver is to find: a rule looks at all.
std::optional<Index> count_sought(const Pca& spec) { return spec.rule ? std::nullopt : count_asked(spec); }

/// What one solver finds; S itself where the solver made it.
struct Found {
  pca::Ground ground;
  pca::Axes axes;
  std::optional<Matrix> spread;
  std::optional<Moments> moments;
};

Found find_by_covariance(const Valid<Pca>& spec, const Rows& rows, const Execution& execution) {
  const auto moments = pca::moments_of(rows, execution.part(0, 0.8, "scatter of the columns"));
  Found found{pca::ground_of(spec, rows, moments, execution), {}, {}, {}};
  check_count(*spec, rows, found.ground);
  found.spread = pca::spread(spec, found.ground, moments);
  execution.report(0.8, "axes of the scatter");
  found.axes = pca::by_covariance(*found.spread, count_sought(*spec));
  found.moments = moments;
  return found;
}

Found find(const Valid<Pca>& spec, PcaSolver solver, const Rows& rows, std::uint64_t seed, const Execution& execution) {
  if (solver == PcaSolver::covariance) return find_by_covariance(spec, rows, execution);
  Found found{pca::ground_of(spec, rows, execution.part(0, 0.1, "means of the columns")), {}, {}, {}};
  check_count(*spec, rows, found.ground);
  const auto rest = execution.part(0.1, 0.8, "axes of the rows");
  if (solver == PcaSolver::gram) found.axes = pca::by_gram(rows, found.ground, count_sought(*spec), rest);
  else if (solver == PcaSolver::svd) found.axes = pca::by_svd(rows, found.ground, rest);
  else found.axes = pca::by_random(spec, rows, found.ground, *count_asked(*spec), seed, rest);
  return found;
}

constexpr std::string_view kRules[] = {"permutation", "broken stick", "Kaiser"};

/// What the rules say, and how many components to keep by the one that was asked for; at least one.
Index by_rule(PcaModel& model, const Rows& rows, const Found& found, Index kept, std::uint64_t seed,
              const Execution& execution) {
  model.seed = static_cast<std::int64_t>(seed);
  model.scree = pca::scree_of(model.spec, rows, found.ground, found.axes.variances, seed, execution);
  model.suggested = pca::suggested_by(model.scree);
  if (model.spec.components) return kept;
  const auto rule = static_cast<Index>(*model.spec.rule);
  const auto count = static_cast<Index>(model.suggested(rule));
  if (count == 0)
    model.warnings.push_back(fmt::format("no component has more variance than {} allows by chance; one is kept",
                                         rule == 2 ? "the mean of the columns" : kRules[rule]));
  return std::clamp<Index>(count, 1, kept);
}

PcaModel start(const Valid<Pca>& spec, const pca::Ground& ground) {
  PcaModel model;
  model.spec = *spec;
  model.mean = ground.frame.mean;
  model.scale = ground.frame.scale;
  model.total_variance = ground.variances.sum();
  model.warnings = ground.warnings;
  return model;
}

std::string rules_table(const PcaModel& model) {
  const Index shown = std::min<Index>(model.scree.rows(), 8);
  TextTable table;
  table.words("", {"Variance", "By chance", "Broken stick", "Mean variance"});
  for (Index k = 0; k < shown; ++k) {
    std::vector<std::string> cells;
    for (Index rule = 0; rule < 4; ++rule) cells.push_back(format_significant(model.scree(k, rule), 4));
    table.right(fmt::format("PC{}", k + 1), cells);
  }
  std::string text = fmt::format("\nHow many ({} shuffles, {:g} % of them below):\n", model.spec.permutations,
                                 100 * model.spec.level) +
                     table.str();
  if (shown < model.scree.rows()) text += fmt::format("… and {} more\n", model.scree.rows() - shown);
  return text + fmt::format("Components to keep: {:.0f} by permutation, {:.0f} by broken stick, {:.0f} by Kaiser\n",
                            model.suggested(0), model.suggested(1), model.suggested(2));
}

}  // namespace

void Pca::check() const {
  if (components && *components > 1 && *components != std::floor(*components))
    throw Error(
        fmt::format("pca: components is {}, must be a whole number, or a share of the variance below 1", *components));
  if (solver == PcaSolver::randomized && !(components && *components >= 1))
    throw Error("pca: the randomized solver finds a given number of components; set components to a whole number");
  if (rule && solver == PcaSolver::randomized)
    throw Error("pca: a rule looks at the variances of all components, which the randomized solver does not find");
  if (level * (permutations + 1) > permutations)
    throw Error(fmt::format("pca: permutations is {}, must be at least {:.0f} for a level of {:g}", permutations,
                            std::ceil(level / (1 - level) * (1 - 1e-12)), level));
}

void PcaModel::check() const {
  const Index p = width(), k = components();
  require(k > 0 && mean.size() == p && scale.size() == p, "pca: loadings, mean and scale do not fit together");
  require(sdev.size() == k && explained.size() == k, "pca: loadings, sdev and explained do not fit together");
  require(loadings.allFinite() && mean.allFinite() && explained.allFinite(), "pca: a loading or mean is not finite");
  require(sdev.allFinite() && (sdev.array() > 0).all(), "pca: a standard deviation is not above 0");
  require(scale.allFinite() && (scale.array() > 0).all(), "pca: a scale is not above 0");
  const Index seen = seen_mean.size();
  require((seen == 0 || seen == p) && seen_scatter.rows() == seen && seen_scatter.cols() == seen &&
              seen_mean.allFinite() && seen_scatter.allFinite() && (seen > 0 ? seen_weight > 1 : seen_weight == 0) &&
              seen_scatter == seen_scatter.transpose() && (seen_scatter.diagonal().array() >= 0).all(),
          "pca: what was seen of the rows is not usable");
  require(spec.rule ? scree.cols() == 4 && scree.rows() >= k && scree.allFinite() && (scree.array() >= 0).all() &&
                          suggested.size() == 3
                    : scree.size() == 0 && suggested.size() == 0 && seed == 0,
          "pca: the variances that a rule looked at are not usable");
  require(spec.center || mean.isZero(0), "pca: there is a mean, but columns are not centred");
  require(spec.scale || (scale.array() == 1).all(), "pca: there is a scale, but columns are not scaled");
}

Matrix PcaModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Matrix framed = ((x.rowwise() - mean.transpose()).array().rowwise() / scale.transpose().array()).matrix();
  Matrix z = row_products(framed, loadings);
  if (spec.whiten) z.array().rowwise() /= sdev.transpose().array();
  return z;
}

Matrix PcaModel::inverse(const MatrixView& z) const {
  if (z.cols() != components())
    throw Error(fmt::format("pca has {} components and is given {} columns of scores", components(), z.cols()));
  Matrix scores = z;
  if (spec.whiten) scores.array().rowwise() *= sdev.transpose().array();
  Matrix x = row_products_transposed(scores, loadings);
  return ((x.array().rowwise() * scale.transpose().array()).rowwise() + mean.transpose().array()).matrix();
}

std::vector<std::string> PcaModel::output_names(const std::vector<std::string>&) const {
  std::vector<std::string> names;
  for (Index k = 1; k <= components(); ++k) names.push_back(fmt::format("PC{}", k));
  return names;
}

AffineMap PcaModel::affine() const {
  Matrix a = loadings.transpose() * scale.cwiseInverse().asDiagonal();
  if (spec.whiten) a = (sdev.cwiseInverse().asDiagonal() * a).eval();
  return {a, -(a * mean)};
}

std::string PcaModel::summary(const Names& names) const {
  constexpr Index kMost = 8;
  const Index shown = std::min(components(), kMost);
  TextTable importance, weights;
  importance.words("", {"Standard deviation", "Proportion of variance", "Cumulative proportion"});
  std::vector<std::string> features;
  for (Index j = 0; j < width(); ++j)
    features.push_back(static_cast<std::size_t>(j) < names.features.size() ? names.features[static_cast<std::size_t>(j)]
                                                                           : fmt::format("x{}", j + 1));
  weights.words("", features);
  for (Index k = 0; k < shown; ++k) {
    const auto header = fmt::format("PC{}", k + 1);
    importance.right(header, {format_significant(sdev(k), 4), format_fixed(explained(k), 4),
                              format_fixed(explained.head(k + 1).sum(), 4)});
    const Vector column = loadings.col(k);
    std::vector<std::string> cells;
    for (const double entry : column) cells.push_back(format_fixed(entry, 4));
    weights.right(header, cells);
  }
  std::string text = fmt::format("Importance of components ({}):\n", spec.scale ? "correlation" : "covariance");
  text += importance.str() + "\nLoadings:\n" + weights.str();
  if (shown < components()) text += fmt::format("… and {} more components\n", components() - shown);
  if (spec.rule) text += rules_table(*this);
  return text;
}

PcaModel fit(const Valid<Pca>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  PcaSolver solver = chosen_solver(*spec, rows);
  Found found = find(spec, solver, rows, options.seed, execution);
  Index kept = count_kept(*spec, found.ground, found.axes);
  if (!spec->solver && squares_lost_digits(*spec, found.ground, found.axes, kept)) {
    solver = PcaSolver::svd;
    found = find(spec, solver, rows, options.seed, execution);
    kept = count_kept(*spec, found.ground, found.axes);
  }
  PcaModel model = start(spec, found.ground);
  if (spec->rule) kept = by_rule(model, rows, found, kept, options.seed, execution.part(0.5, 0.8));
  keep(model, found.axes, kept);
  warn_of_missing(model, found.ground);
  model.spec.solver = solver;
  if (found.moments && rows.width() <= PcaModel::kMostKept) {
    model.seen_weight = found.moments->weight();
    model.seen_mean = found.moments->mean();
    model.seen_scatter = found.moments->scatter();
  }
  if (!spec->components) model.spec.components = static_cast<double>(kept);
  const Execution rest = execution.part(0.8, 1, "certificate");
  if (!found.spread) {
    model.certificate = pca::certificate_of(model, pca::look_at(model, rows, rest), rest);
    return model;
  }
  const Vector no_shift = Vector::Zero(rows.width());
  const auto look = pca::look_at(model, *found.spread, found.ground.weight, no_shift, rest);
  model.certificate = pca::certificate_of(model, look, rest);
  return model;
}

PcaModel updated(const PcaModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(),
          fmt::format("pca: the model has {} columns and the rows have {}", model.width(), rows.width()));
  if (model.seen_mean.size() == 0)
    throw Error(
        fmt::format("pca: this model does not keep what an update needs, which only the covariance solver does, "
                    "up to {} columns; fit it to all rows",
                    PcaModel::kMostKept));
  if (model.spec.rule)
    throw Error("pca: what shuffled columns give by chance needs the rows before the update; fit it to all rows");
  const WeightedRows past = rows_like(model.seen_weight, model.seen_mean, root_of_scatter(model.seen_scatter));
  MemoryRows before(past.x);
  before.weights(past.weight).features = rows.features;
  PcaModel out = fit(Valid<Pca>(model.spec), StackedRows({&before, &rows}), options);
  out.certificate.message += " The rows before the update are in it by their mean and covariance.";
  return out;
}

template const Method& method_of<Pca>();

}  // namespace lemma
