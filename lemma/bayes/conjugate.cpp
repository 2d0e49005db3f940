// lemma/bayes/conjugate.cpp
#include <cmath>
#include <fmt/format.h>
#include <lemma/bayes/conjugate/parts.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/special.hpp>
#include <numbers>

namespace lemma {
namespace {

using namespace conjugate;
using Family = ConjugateFamily;

/// Error where a value is none that the family knows.
void check_values(const Conjugate& spec, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution);
  for (Index j = 0; j < rows.width(); ++j)
    if (spec.family == Family::dirichlet_multinomial && !rows.holds_codes(j))
      throw Error(
          fmt::format("conjugate: '{}' holds numbers, and dirichlet_multinomial is for levels; write factor({})",
                      rows.features[at(j)], rows.features[at(j)]));
  if (spec.family != Family::beta_binomial && spec.family != Family::gamma_poisson) return;
  const bool truth = spec.family == Family::beta_binomial;
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index j = 0; j < block.x.cols(); ++j) {
        const double x = block.x(i, j);
        if (x < 0 || x != std::floor(x) || (truth && x > 1))
          throw Error(fmt::format("conjugate: '{}' is {:g} in row {}, and {} takes {}", rows.features[at(j)], x,
                                  block.first + i + 1, name_of(spec.family),
                                  truth ? "0 and 1" : "whole numbers from 0 on"));
      }
  });
}

/// Of the predictive t, normal, Bernoulli, negative binomial or categorical of one column.
double log_predictive(const ConjugateModel& m, Index start, Index levels, double x) {
  const auto row = m.posterior.row(start);
  const double a = row(0);
  switch (m.spec.family) {
    case Family::beta_binomial: return std::log((x > 0 ? a : row(1)) / (a + row(1)));
    case Family::gamma_poisson: {
      const double b = row(1);
      return log_gamma(a + x) - log_gamma(a) - log_gamma(x + 1) + a * std::log(b / (b + 1)) - x * std::log(b + 1);
    }
    case Family::dirichlet_multinomial:
      return std::log(m.posterior(start + static_cast<Index>(x), 0) / m.posterior.col(0).segment(start, levels).sum());
    case Family::normal_normal: break;
  }
  const double k = row(1), d = x - a;
  if (m.spec.variance) {
    const double variance = *m.spec.variance * (1 + 1 / k);
    return -0.5 * std::log(2 * std::numbers::pi * variance) - 0.5 * d * d / variance;
  }
  const double df = 2 * row(2), scale = std::sqrt(row(3) / row(2) * (1 + 1 / k)), z = d / scale;
  return log_gamma(0.5 * (df + 1)) - log_gamma(0.5 * df) - 0.5 * std::log(df * std::numbers::pi) - std::log(scale) -
         0.5 * (df + 1) * std::log1p(z * z / df);
}

void require_representable(const ConjugateModel& model, const Rows& rows) {
  for (Index j = 0; j < model.width(); ++j)
    if (!std::isfinite(model.means(j)) || !std::isfinite(model.squares(j)) || !std::isfinite(model.log_evidence(j)))
      throw Error(fmt::format(
          "conjugate: the values of '{}' are so large that their squares are not finite; divide them by a constant",
          rows.features[at(j)]));
  require(model.log_bayes_factor.allFinite(),
          "conjugate: a Bayes factor is beyond the range of numbers; is the other prior one for these columns?");
  require(model.posterior.allFinite() && model.quantities.allFinite(),
          "conjugate: an interval of the posterior is beyond the range of numbers; divide the columns by a constant");
}

}  // namespace

void Conjugate::check() const {
  const bool normal = family == Family::normal_normal;
  require(variance == std::nullopt || normal, "conjugate: variance is for normal_normal alone");
  const std::size_t wanted = normal && !variance ? 4 : 2;
  for (const auto& [name_of_it, numbers] : {std::pair{"prior", &prior}, std::pair{"against", &against}}) {
    const auto n = numbers->size();
    for (std::size_t i = normal ? 1 : 0; i < n; ++i)
      if (!((*numbers)[i] > 0))
        throw Error(fmt::format("conjugate: {} has {}, and these numbers must be above 0", name_of_it, (*numbers)[i]));
    if (family == Family::dirichlet_multinomial || n == 0) continue;
    if (n != wanted && !(normal && variance && n == 4))
      throw Error(fmt::format("conjugate: {} has {}, and {} takes {}", name_of_it,
                              count_of(static_cast<Index>(n), "number"), name_of(family), wanted));
  }
}

void ConjugateModel::check() const {
  const Index p = width();
  require(p >= 1 && squares.size() == p && log_evidence.size() == p && levels.size() == at(p),
          "conjugate: the columns do not fit together");
  const bool by_level = spec.family == Family::dirichlet_multinomial;
  Index all = 0;
  for (const int count : levels) {
    require((count > 0) == by_level && count < (1 << 24), "conjugate: the levels do not fit the family");
    all += count;
  }
  const Index numbers = by_level ? 1 : spec.family == Family::normal_normal && !spec.variance ? 4 : 2;
  require(level_weights.size() == all && posterior.rows() == (by_level ? all : p) && posterior.cols() == numbers,
          "conjugate: the posterior does not fit the columns");
  require(quantities.cols() == 6 && quantities.rows() == posterior.rows() * (numbers == 4 ? 2 : 1),
          "conjugate: the quantities do not fit the posterior");
  require(std::isfinite(rows) && rows >= 0 && posterior.allFinite() && quantities.allFinite() && means.allFinite() &&
              squares.allFinite() && log_evidence.allFinite() && level_weights.allFinite(),
          "conjugate: a number is not finite");
  require(log_bayes_factor.size() == (spec.against.empty() ? 0 : p) && log_bayes_factor.allFinite(),
          "conjugate: the Bayes factors do not fit the other prior");
  const Index first = spec.family == Family::normal_normal ? 1 : 0;
  require((posterior.rightCols(posterior.cols() - first).array() > 0).all() && (level_weights.array() >= 0).all() &&
              (squares.array() >= 0).all(),
          "conjugate: a number of the posterior is not above 0");
  if (spec.family == Family::beta_binomial || spec.family == Family::gamma_poisson)
    require((means.array() >= 0).all(), "conjugate: a mean of counts is below 0");
  if (spec.family == Family::beta_binomial) require((means.array() <= 1).all(), "conjugate: a share is above 1");
  if (by_level)
    for (const int count : levels) prior_of(spec, count), prior_of(held_against(spec), count);
}

Vector ConjugateModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  const auto start = starts(spec, levels);
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < width(); ++j) {
      const double value = x(i, j);
      const bool whole = value >= 0 && value == std::floor(value);
      if ((spec.family == Family::beta_binomial && !(whole && value <= 1)) ||
          (spec.family == Family::gamma_poisson && !whole) ||
          (spec.family == Family::dirichlet_multinomial && !(whole && value < levels[at(j)])))
        throw Error(
            fmt::format("conjugate: column {} of row {} is none that {} knows", j + 1, i + 1, name_of(spec.family)));
      sum += log_predictive(*this, start[at(j)], start[at(j) + 1] - start[at(j)], value);
    }
    out(i) = sum;
  }
  return out;
}

std::string ConjugateModel::summary(const Names& names) const {
  const auto feature = [&](Index j) {
    return at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1);
  };
  std::vector<std::string> label;
  for (Index j = 0; j < width(); ++j) {
    const std::string name = feature(j);
    switch (spec.family) {
      case Family::beta_binomial: label.push_back(fmt::format("{}: P(1)", name)); break;
      case Family::gamma_poisson: label.push_back(fmt::format("{}: rate", name)); break;
      case Family::dirichlet_multinomial:
        for (int l = 1; l <= levels[at(j)]; ++l) label.push_back(fmt::format("{}: P(level {})", name, l));
        break;
      case Family::normal_normal:
        label.push_back(fmt::format("{}: mean", name));
        if (!spec.variance) label.push_back(fmt::format("{}: variance", name));
    }
  }
  const auto column = [&](Index c) {
    const Vector of = quantities.col(c);
    return std::vector<double>(of.begin(), of.end());
  };
  std::vector<std::string> deviations;
  for (const double each : column(1)) deviations.push_back(each < 0 ? "none" : format_significant(each, 4));
  TextTable table, evidence;
  table.words("", label).numbers("mean", column(0), 5).right("sd", deviations).numbers("lower", column(2), 5);
  table.numbers("upper", column(3), 5).numbers("hd lower", column(4), 5).numbers("hd upper", column(5), 5);
  for (Index j = 0; j < width(); ++j) evidence.numbers(feature(j), {log_evidence(j)}, 6);
  std::string out =
      fmt::format("{} after {} rows\n\nParameters, with intervals of {}%, central and of highest density:\n",
                  name_of(spec.family), format_significant(rows), format_significant(100 * spec.level)) +
      table.str({.gap = 2, .width = 100}) + "\nLog evidence:\n" + evidence.str({.gap = 2, .width = 100});
  if (spec.against.empty()) return out;
  std::vector<std::string> numbers;
  for (const double each : spec.against) numbers.push_back(format_significant(each));
  TextTable factors;
  factors.words("", {"logarithm", "factor"});
  for (Index j = 0; j < width(); ++j) {
    const double log = log_bayes_factor(j);
    factors.right(feature(j), {format_significant(log, 5),
                               std::abs(log) < 600 ? format_significant(std::exp(log), 5) : "beyond numbers"});
  }
  return out +
         fmt::format("\nBayes factor against the prior {}; above 1 the rows speak for the prior:\n",
                     fmt::join(numbers, ", ")) +
         factors.str({.gap = 2, .width = 100});
}

ConjugateModel fit(const Valid<Conjugate>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  check_values(*spec, rows, execution.part(0, 0.2));
  Labels levels;
  for (Index j = 0; j < rows.width(); ++j)
    levels.push_back(rows.holds_codes(j) ? static_cast<int>(rows.levels[at(j)].size()) : 0);
  ConjugateModel model;
  model.spec = *spec;
  if (spec->family != Family::dirichlet_multinomial) model.spec.prior = prior_of(*spec, 0);
  for (const int count : levels)
    prior_of(held_against(*spec), count);  // Error where it has not a number for each level
  take(model, scan(rows, Sums(levels, spec->family), execution.part(0.2, 0.6, "counts and sums")));
  finish(model);
  require_representable(model, rows);
  model.certificate = certify(model, rows, execution.part(0.6, 1, "certificate"));
  return model;
}

ConjugateModel updated(const ConjugateModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(), "conjugate: the rows do not have the columns of the model");
  const Execution execution = options.execution();
  check_values(model.spec, rows, execution.part(0, 0.2));
  const Sums past = sums_of(model);
  Sums all = past;
  all.merge(scan(rows, Sums(model.levels, model.spec.family), execution.part(0.2, 0.6)));
  ConjugateModel out = model;
  take(out, all);
  finish(out);
  require_representable(out, rows);
  Look look = scan(rows, Look(out), execution.part(0.6, 1));
  look.add(past);
  out.certificate = certificate_of(out, look);
  out.certificate.message += " The rows before the update are in it by their counts and sums.";
  return out;
}

template const Method& method_of<Conjugate>();

}  // namespace lemma
