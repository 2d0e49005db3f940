// lemma/bayes/naive_bayes.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/naive_bayes/parts.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/special.hpp>

namespace lemma {
namespace {

using namespace naive_bayes;

constexpr std::string_view kAuto = "auto";

/// The kind of each column, from what was asked for and what the column holds.
std::vector<std::string> kinds_of(const NaiveBayes& spec, const Rows& rows) {
  const bool one_each = spec.kinds.size() > 1;
  if (one_each && spec.kinds.size() != rows.features.size())
    throw Error(fmt::format("naive_bayes: kinds has {} and there are {}: {}", count_of(std::ssize(spec.kinds), "name"),
                            count_of(rows.width(), "column"), join_words(rows.features)));
  std::vector<std::string> out;
  for (Index j = 0; j < rows.width(); ++j) {
    const std::string asked = spec.kinds.empty() ? std::string(kAuto) : spec.kinds[one_each ? at(j) : 0];
    const bool categories = rows.holds_codes(j);
    const std::string usual(name_of(categories ? ColumnKind::categorical : ColumnKind::gaussian));
    if (one_each && asked != kAuto && (asked == "categorical") != categories)
      throw Error(fmt::format("naive_bayes: '{}' holds {}, so its kind cannot be {}{}", rows.features[at(j)],
                              categories ? "categories" : "numbers", asked,
                              categories ? "" : "; factor() in the formula makes categories of numbers"));
    if (!one_each && asked == "categorical" && !categories)
      throw Error(fmt::format("naive_bayes: '{}' holds numbers; write factor({}) to take them as categories",
                              rows.features[at(j)], rows.features[at(j)]));
    out.push_back(asked == kAuto || (categories && !one_each) ? usual : asked);
  }
  return out;
}

void take(NaiveBayesModel& model, const Layout& layout, const Sums& sums, const Rows& rows) {
  model.counts = sums.counts;
  model.known = sums.known;
  model.means = sums.mean;
  model.level_weights = sums.levels;
  std::vector<Values> values;
  for (const Values& each : sums.values) values.push_back(joined(each));
  keep(model, values);
  model.variances = Matrix::Zero(sums.known.rows(), sums.known.cols());
  for (Index k = 0; k < model.class_count(); ++k) {
    const std::string& name = rows.classes[at(k)];
    if (!(sums.counts(k) > 0))
      throw Error(fmt::format("naive_bayes: class '{}' has no rows; leave it out of the classes", name));
    for (Index j = 0; j < layout.columns(); ++j) {
      const std::string& column = rows.features[at(j)];
      if (layout.is(j, ColumnKind::poisson) && !(sums.mean.col(j).maxCoeff() > 0))
        throw Error(fmt::format("naive_bayes: all counts of '{}' are 0; leave it out", column));
      if (layout.is(j, ColumnKind::density) && !(sums.known(k, j) > 1))
        throw Error(fmt::format("naive_bayes: class '{}' has {} of '{}', too few for a density", name,
                                sums.known(k, j) > 0 ? "one value" : "no value", column));
      if (!layout.is(j, ColumnKind::gaussian)) continue;
      const double by = divisor(model.spec.variance, sums.known(k, j));
      if (!(by > 0))
        throw Error(fmt::format("naive_bayes: class '{}' has {} of '{}', too few for a variance", name,
                                sums.known(k, j) > 0 ? "one value" : "no value", column));
      model.variances(k, j) = sums.squares(k, j) / by;
      if (!std::isfinite(model.variances(k, j)))
        throw Error(
            fmt::format("naive_bayes: the values of '{}' are so large that their squares are not finite; "
                        "divide them by a constant",
                        column));
    }
  }
  finish(model, layout);
  for (Index k = 0; k < model.class_count(); ++k)
    for (Index j = 0; j < layout.columns(); ++j) {
      const double least = 8 * std::numeric_limits<double>::epsilon() * std::abs(model.means(k, j));
      if (layout.is(j, ColumnKind::density) &&
          !(std::isfinite(model.deviations(k, j)) && model.deviations(k, j) > 1e-150))
        throw Error(fmt::format(
            "naive_bayes: the values of '{}' in class '{}' are too large, or too near to one another, to be "
            "squared; multiply them by a constant",
            rows.features[at(j)], rows.classes[at(k)]));
      if (layout.is(j, ColumnKind::gaussian) && !(model.deviations(k, j) > least && model.deviations(k, j) > 1e-150))
        throw Error(
            fmt::format("naive_bayes: '{}' has no spread in class '{}' (or one too small to be squared); leave it "
                        "out, or give --floor (1e-9)",
                        rows.features[at(j)], rows.classes[at(k)]));
    }
}

}  // namespace

void NaiveBayes::check() const {
  auto known = choices_of<ColumnKind>();
  known.emplace_back(kAuto);
  for (const auto& each : kinds) choose("naive_bayes: kinds", each, known);
  check_prior(name, prior);
}

void NaiveBayesModel::check() const {
  const Index p = width(), k = class_count();
  require(k >= 2 && p >= 1 && prior.size() == k && counts.size() == k && levels.size() == at(p) &&
              spec.kinds.size() == at(p),
          "naive_bayes: prior, counts, means and kinds do not fit together");
  Index all = 0;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    require(levels[j] >= 0 && levels[j] < (1 << 24), "naive_bayes: the levels of a column are not usable");
    require((spec.kinds[j] == "categorical") == (levels[j] > 0),
            "naive_bayes: the kind of a column does not fit its levels");
    all += levels[j];
  }
  for (const Matrix* each : {&parameters, &deviations, &known, &variances})
    require(each->rows() == k && each->cols() == p && each->allFinite(),
            "naive_bayes: the estimates do not fit together");
  for (const Matrix* each : {&level_probabilities, &level_weights})
    require((each->rows() == k || all == 0) && each->cols() == all && each->allFinite(),
            "naive_bayes: the probabilities of the levels do not fit together");
  require(means.allFinite() && counts.allFinite() && (counts.array() > 0).all(), "naive_bayes: a count is not usable");
  require(prior_of(spec.prior, counts).size() == k && prior.allFinite() && (prior.array() > 0).all(),
          "naive_bayes: the prior is not usable");
  const Layout layout(spec.kinds, levels);
  require(value_counts.size() == at(k * layout.densities) && value_weights.size() == values.size() &&
              values.allFinite() && value_weights.allFinite() && (value_weights.array() > 0).all(),
          "naive_bayes: the values that are kept do not fit together");
  Index first = 0;
  for (const int count : value_counts) {
    require(count > 0 && count <= values.size() - first &&
                std::is_sorted(values.data() + first, values.data() + first + count),
            "naive_bayes: the values that are kept are not in order");
    first += count;
  }
  require(first == values.size(), "naive_bayes: the values that are kept do not fit together");
  for (Index j = 0; j < p; ++j)
    for (Index c = 0; c < k; ++c) {
      const double v = parameters(c, j);
      const bool right = layout.is(j, ColumnKind::gaussian)    ? deviations(c, j) > 0
                         : layout.is(j, ColumnKind::density)   ? deviations(c, j) > 0 && known(c, j) > 1
                         : layout.is(j, ColumnKind::bernoulli) ? v > 0 && v < 1
                                                               : v > 0 || layout.is(j, ColumnKind::categorical);
      require(right && variances(c, j) >= 0, "naive_bayes: an estimate is not usable");
    }
  require(all == 0 || (level_probabilities.array() > 0).all(), "naive_bayes: a level has no probability");
}

Matrix NaiveBayesModel::probabilities(const MatrixView& x) const {
  Matrix posterior = decision(x);
  softmax_rows(posterior);
  return posterior;
}

Labels NaiveBayesModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

Matrix NaiveBayesModel::contributions(const MatrixView& x) const {
  const Matrix delta = decision(x);
  const Densities log_density(*this);
  Matrix out(x.rows(), width());
  for (Index i = 0; i < x.rows(); ++i) {
    Index best = 1, next = 0;
    if (class_count() > 2) {
      delta.row(i).maxCoeff(&best);
      next = best == 0 ? 1 : 0;
      for (Index k = 0; k < class_count(); ++k)
        if (k != best && delta(i, k) > delta(i, next)) next = k;
    }
    for (Index j = 0; j < width(); ++j) out(i, j) = log_density(best, j, x(i, j)) - log_density(next, j, x(i, j));
  }
  return out;
}

NaiveBayesModel fit(const Valid<NaiveBayes>& spec, const Rows& rows, const FitOptions& options) {
  check_prior(NaiveBayes::name, spec->prior, rows.classes);
  const Execution execution = options.execution();
  NaiveBayesModel model;
  model.spec = *spec;
  model.spec.kinds = kinds_of(*spec, rows);
  for (Index j = 0; j < rows.width(); ++j)
    model.levels.push_back(rows.holds_codes(j) ? static_cast<int>(rows.levels[at(j)].size()) : 0);
  const Layout layout(model.spec.kinds, model.levels);
  check_values(layout, rows, execution.part(0, 0.2));
  const Sums sums =
      sums_of(layout, rows, std::ssize(rows.classes), execution.part(0.2, 0.6, "counts and moments of the classes"));
  take(model, layout, sums, rows);
  model.certificate = certify(model, rows, execution.part(0.6, 1, "certificate"));
  return model;
}

NaiveBayesModel updated(const NaiveBayesModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width() && static_cast<Index>(rows.classes.size()) == model.class_count(),
          "naive_bayes: the rows do not have the columns and classes of the model");
  const Execution execution = options.execution();
  const Layout layout(model.spec.kinds, model.levels);
  check_values(layout, rows, execution.part(0, 0.2));
  const Sums past = sums_of(model, layout);
  Sums all = past;
  all.merge(sums_of(layout, rows, model.class_count(), execution.part(0.2, 0.6)));
  NaiveBayesModel out = model;
  take(out, layout, all, rows);
  Look look = look_at(out, layout, rows, execution.part(0.6, 1));
  look.add(past);
  out.certificate = certificate_of(out, layout, look);
  out.certificate.message += " The rows before the update are in it by their counts and moments.";
  return out;
}

template const Method& method_of<NaiveBayes>();

}  // namespace lemma
