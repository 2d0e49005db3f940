// lemma/linear/glm/model.cpp: what a generalised linear model says of rows.
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/linear/shared/squared_lengths.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/simd.hpp>

namespace lemma {
namespace {

constexpr double kNone = GlmModel::kNone;

/// R's rule: a leverage this near to 1 is 1.
constexpr double kWhole = 1 - 10 * std::numeric_limits<double>::epsilon();

struct RowDiagnostics {
  double deviance, pearson, response, working, standardised_deviance, standardised_pearson, leverage, cooks_distance;
};

/// Of one copy of a row with prior weight m: h = m W xᵀ(XᵀWX)⁻¹x.
RowDiagnostics diagnose(const GlmModel& model, double y, double prior, const GlmPoint& point, double quadratic) {
  const double dispersion = model.dispersion, rank = static_cast<double>(model.rank);
  const double h = prior * point.information * quadratic;
  RowDiagnostics out{glm::deviance_residual(y, prior, point),
                     std::sqrt(prior / point.variance) * (y - point.mean),
                     y - point.mean,
                     point.residual,
                     kNone,
                     kNone,
                     h,
                     kNone};
  if (h > kWhole) {
    out.leverage = 1;
    return out;
  }
  const double spread = std::sqrt(dispersion * (1 - h));
  out.standardised_deviance = out.deviance / spread;
  out.standardised_pearson = out.pearson / spread;
  out.cooks_distance = out.standardised_pearson * out.standardised_pearson * h / (1 - h) / rank;
  return out;
}

}  // namespace

void GlmModel::check() const {
  const Index features = width(), k = triangle.rows(), terms = features + (spec.intercept ? 1 : 0);
  require(spec.family && spec.link, "glm: the model does not say its family and its link");
  const bool counts_scatter = spec.family == GlmFamily::negative_binomial;
  require(counts_scatter ? spec.theta && theta == *spec.theta : theta == 0 && !theta_learned,
          "glm: theta does not fit the family");
  require(theta_learned || theta_std_error == 0, "glm: theta was given and has no standard error");
  for (const Vector* each : {&coefficients, &std_errors, &z, &p, &lower, &upper, &mean, &mean_rest})
    require(each->size() == features, "glm: arrays over the features differ in length");
  const bool binomial = law().base() == GlmFamily::binomial, by_t = law().estimates_dispersion();
  require(t.size() == (by_t ? features : 0) && odds_ratios.size() == (binomial ? features : 0),
          "glm: arrays over the features differ in length");
  require(binomial || (!classes && !counts), "glm: the family does not fit the response");
  require(slopes.allFinite() && std::isfinite(base), "glm: a coefficient is not usable");
  require(spec.intercept || base == 0, "glm: there is an intercept where none was fitted");
  require(triangle.cols() == k && static_cast<Index>(kept.size()) == k,
          "glm: the triangle does not fit the columns that take part");
  require(triangle.allFinite() && (triangle.diagonal().array() > 0).all(), "glm: the triangle is not usable");
  require(separating.size() == 0 || (separating.size() == features + 1 && separating.allFinite()),
          "glm: the separating direction does not fit the columns");
  Vector seen = Vector::Zero(features);
  for (const int j : kept) {
    require(j >= 0 && j < features && seen(j) == 0, "glm: a column that takes part is not usable");
    seen(j) = 1;
  }
  for (Index j = 0; j < features; ++j) {
    require(seen(j) == 1 || slopes(j) == 0, "glm: a column has a coefficient and takes no part");
    const bool determined = seen(j) == 1 && (separating.size() == 0 || separating(j) == 0);
    require(determined ? coefficients(j) == slopes(j) : std::isnan(coefficients(j)),
            "glm: the coefficients are not those where the iterations ended");
  }
  const bool no_limit = separating.size() > 0 && separating(features) != 0;
  require(no_limit ? std::isnan(intercept) : intercept == base, "glm: the intercept is not where the iterations ended");
  require(mean.allFinite() && mean_rest.allFinite() && std::isfinite(mass) && mass > 0, "glm: a mean is not usable");
  require(rank == k + (spec.intercept ? 1 : 0), "glm: the rank does not fit the columns that take part");
  require(covariance.rows() == terms && covariance.cols() == terms, "glm: the covariance does not fit the columns");
  require(residual_quantiles.size() == 0 || residual_quantiles.size() == 5, "glm: an array has the wrong length");
  const Index before = updates > 0 ? k : 0;
  require(updates >= 0 && past.size() == (updates > 0 ? features + 1 : 0) && past.allFinite() &&
              past_mean.size() == before && past_mean.allFinite() && past_triangle.rows() == before &&
              past_triangle.cols() == before && past_triangle.allFinite() &&
              (updates > 0 ? past_mass > 0 : past_mass == 0) && (updates == 0 || k == features),
          "glm: what was kept of the rows before the update is not usable");
  const Index robust = errors() == StandardErrors::classical ? 0 : k + (spec.intercept ? 1 : 0);
  require(scatter.rows() == robust && scatter.cols() == robust,
          "glm: the scatter of the scores does not fit the errors");
  require(errors() == StandardErrors::cluster ? clusters > 0 : clusters == 0,
          "glm: the clusters do not fit the errors");
  require(iterations >= 1 && !(dispersion < 0), "glm: the dispersion or the number of iterations is not usable");
}

GlmLaw GlmModel::law() const {
  return {*spec.family, *spec.link, spec.variance.value_or(GlmVariance::constant), spec.theta.value_or(0),
          theta_learned};
}

std::optional<double> GlmModel::df_tests() const {
  if (!law().estimates_dispersion()) return {};
  return errors() == StandardErrors::cluster ? static_cast<double>(clusters) - 1 : df_residual;
}

CentredTriangle GlmModel::centre() const { return {kept, triangle, mean, mean_rest, spec.intercept ? 1 / mass : 0.0}; }

/// In twice the working precision: the powers of a polynomial cancel.
Vector GlmModel::linear_predictor(const MatrixView& x, std::span<const double> offset) const {
  require_width(*this, x.cols());
  require(offset.empty() || static_cast<Index>(offset.size()) == x.rows(),
          fmt::format("glm: there are {} offsets for {} rows", offset.size(), x.rows()));
  const auto columns = static_cast<std::size_t>(width());
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    out(i) = (simd::dot({x.row(i).data(), columns}, {slopes.data(), columns}) +
              exact_sum(base, offset.empty() ? 0.0 : offset[static_cast<std::size_t>(i)]))
                 .rounded();
  return out;
}

Vector GlmModel::predict(const MatrixView& x, std::span<const double> offset) const {
  require(!classes, "glm: this model tells classes, not numbers: classify() and probabilities() give them");
  return mean_of(x, offset);
}

Vector GlmModel::mean_of(const MatrixView& x, std::span<const double> offset) const {
  const GlmLaw own = law();
  return linear_predictor(x, offset).unaryExpr([&](double eta) { return or_none(own.mean(eta)); });
}

Matrix GlmModel::probabilities(const MatrixView& x, std::span<const double> offset) const {
  require(classes, "glm: this model predicts numbers, not classes: predict() gives them");
  const Vector second = mean_of(x, offset);
  Matrix out(x.rows(), 2);
  out << (1 - second.array()).matrix(), second;
  return out;
}

Labels GlmModel::classify(const MatrixView& x, std::span<const double> offset) const {
  require(classes, "glm: this model predicts numbers, not classes: predict() gives them");
  const Vector second = mean_of(x, offset);
  Labels out;
  for (const double p_second : second) out.push_back(p_second > 0.5 ? 1 : 0);
  return out;
}

Matrix GlmModel::decision(const MatrixView& x, std::span<const double> offset) const {
  return linear_predictor(x, offset);
}

Vector GlmModel::quadratic_form(const MatrixView& x) const {
  require_width(*this, x.cols());
  return squared_lengths(x, centre());
}

Interval GlmModel::interval(const MatrixView& x, IntervalKind kind, double level,
                            std::span<const double> offset) const {
  require(level > 0 && level < 1, fmt::format("the level of an interval is {}, must be above 0 and below 1", level));
  require(kind != IntervalKind::prediction,
          "glm: a new response has no interval of this kind; ask for the mean's by --interval confidence");
  require(separating.size() == 0, "glm: the likelihood has no maximum, so there is no interval");
  const auto df = df_tests();
  const bool robust = errors() != StandardErrors::classical;
  require((robust ? scatter.allFinite() : dispersion >= 0) && (!df || *df > 0),
          "glm: the fit has no residual degrees of freedom or no standard errors, so there is no interval");
  const double tail = (1 - level) / 2, reach = df ? t_upper_quantile(tail, *df) : -normal_quantile(tail);
  const Vector variance = robust ? sandwich_form(x, scatter, centre()) : Vector(dispersion * quadratic_form(x));
  const Vector eta = linear_predictor(x, offset), half = reach * variance.cwiseSqrt();
  Interval out{Vector(x.rows()), Vector(x.rows())};
  for (Index i = 0; i < x.rows(); ++i) {  // some links fall; beyond a link's domain there is no limit
    const double a = or_none(law().mean(eta(i) - half(i))), b = or_none(law().mean(eta(i) + half(i)));
    out.lower(i) = b < a ? b : a;
    out.upper(i) = b < a ? a : b;
  }
  return out;
}

std::vector<NamedColumn> GlmModel::diagnostics(const Block& block) const {
  require(!block.y.empty() || !block.label.empty() || block.rows() == 0,
          "glm: diagnostics need the response of each row");
  glm::Problem problem;
  problem.law = law();
  problem.counts = counts;
  const glm::Evaluated rows = glm::evaluate(problem, block, {base, slopes}, true);
  const Vector quadratic = quadratic_form(block.x);
  std::vector<RowDiagnostics> all;
  for (Index i = 0; i < rows.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    all.push_back(diagnose(*this, rows.y[k], rows.prior[k], rows[i], quadratic(i)));
    if (rows.frequency[k] == 0) all.back().leverage = all.back().cooks_distance = 0;  // it took no part
  }
  std::vector<NamedColumn> out;
  const auto add = [&](const char* name, double RowDiagnostics::*member) {
    Vector values(rows.size());
    for (Index i = 0; i < values.size(); ++i) values(i) = or_none(all[static_cast<std::size_t>(i)].*member);
    out.push_back({name, std::move(values)});
  };
  add("deviance_residual", &RowDiagnostics::deviance);
  add("pearson_residual", &RowDiagnostics::pearson);
  add("response_residual", &RowDiagnostics::response);
  add("working_residual", &RowDiagnostics::working);
  add("standardised_deviance_residual", &RowDiagnostics::standardised_deviance);
  add("standardised_pearson_residual", &RowDiagnostics::standardised_pearson);
  add("leverage", &RowDiagnostics::leverage);
  add("cooks_distance", &RowDiagnostics::cooks_distance);
  return out;
}

AffineMap GlmModel::affine() const { return {slopes.transpose(), Vector::Constant(1, base)}; }

}  // namespace lemma
