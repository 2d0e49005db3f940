// lemma/linear/ols/model.cpp: what a fitted line says of rows.
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/shared/plane.hpp>
#include <lemma/linear/shared/squared_lengths.hpp>
#include <lemma/math/distributions.hpp>

namespace lemma {
namespace {

constexpr double kNone = OlsModel::kNone;

/// R's rule: a leverage this near to 1 is 1.
constexpr double kWhole = 1 - 10 * std::numeric_limits<double>::epsilon();

struct RowDiagnostics {
  double leverage, residual, standardised, studentised, cooks_distance, loo_residual, dffits;
};

/// Of one copy of a row: h = precision · xᵀ(XᵀWX)⁻¹x. Without it Σ w r² falls by precision · r² / (1 − h).
RowDiagnostics diagnose(const OlsModel& model, double residual, double quadratic, double weight, double precision) {
  if (weight == 0) return {0, residual, kNone, kNone, kNone, residual, kNone};
  const double h = precision * quadratic;
  if (h > kWhole) return {1, residual, kNone, kNone, kNone, kNone, kNone};
  const double r = std::sqrt(precision) * residual, spread = std::sqrt(1 - h);
  const double others = model.rss - r * r / (1 - h);
  const double sigma_without =
      model.df_residual > 1 && others > 0 ? std::sqrt(others / (model.df_residual - 1)) : kNone;
  const double standardised = model.sigma > 0 ? r / (model.sigma * spread) : kNone;
  const double studentised = r / (sigma_without * spread);
  return {h,
          residual,
          standardised,
          studentised,
          standardised * standardised * h / (1 - h) / static_cast<double>(model.rank),
          residual / (1 - h),
          studentised * std::sqrt(h / (1 - h))};
}

std::vector<RowDiagnostics> diagnose_rows(const OlsModel& model, const Block& block) {
  require(static_cast<Index>(block.y.size()) == block.rows(), "ols: diagnostics need the response of each row");
  const Vector fitted = model.predict(block.x), quadratic = model.quadratic_form(block.x);
  std::vector<RowDiagnostics> out;
  out.reserve(block.y.size());
  for (Index i = 0; i < block.rows(); ++i) {
    const double residual = block.y[static_cast<std::size_t>(i)] - block.offset_of(i) - fitted(i);
    out.push_back(diagnose(model, residual, quadratic(i), block.weight_of(i), block.precision_of(i)));
  }
  return out;
}

struct LeaveOneOut {
  const OlsModel* model;
  double sum = 0, weight = 0;

  void accumulate(const Block& block) {
    const auto rows = diagnose_rows(*model, block);
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i), r = rows[static_cast<std::size_t>(i)].loo_residual;
      if (w == 0) continue;
      sum += w * r * r;
      weight += w;
    }
  }
  void merge(const LeaveOneOut& other) {
    sum += other.sum;
    weight += other.weight;
  }
};

}  // namespace

void OlsModel::check() const {
  const Index features = width(), k = triangle.rows(), terms = features + (spec.intercept ? 1 : 0);
  for (const Vector* each : {&std_errors, &t, &p, &lower, &upper, &mean, &mean_rest})
    require(each->size() == features, "ols: arrays over the features differ in length");
  require(triangle.cols() == k && static_cast<Index>(kept.size()) == k,
          "ols: the triangle does not fit the columns that take part");
  require(triangle.allFinite() && (triangle.diagonal().array() > 0).all(), "ols: the triangle is not usable");
  Vector seen = Vector::Zero(features);
  for (const int j : kept) {
    require(j >= 0 && j < features && seen(j) == 0 && std::isfinite(coefficients(j)),
            "ols: a column that takes part is not usable");
    seen(j) = 1;
  }
  require((seen.array() == 1 || coefficients.array().isNaN()).all(),
          "ols: a column has a coefficient and takes no part");
  require(mean.allFinite() && mean_rest.allFinite() && std::isfinite(intercept) && std::isfinite(mass) && mass > 0,
          "ols: a mean or the intercept is not usable");
  require(spec.intercept || intercept == 0, "ols: there is an intercept where none was fitted");
  require(rank == k + (spec.intercept ? 1 : 0), "ols: the rank does not fit the columns that take part");
  require((covariance.rows() == terms && covariance.cols() == terms) ||
              (covariance.size() == 0 && terms > kMostCovariances),
          "ols: the covariance does not fit the columns");
  const Index taking_part = k + (spec.intercept ? 1 : 0),
              robust = errors() == StandardErrors::classical ? 0 : taking_part;
  require(scatter.rows() == robust && scatter.cols() == robust,
          "ols: the scatter of the scores does not fit the errors");
  require(errors() == StandardErrors::cluster ? clusters > 0 : clusters == 0,
          "ols: the clusters do not fit the errors");
  require(updates >= 0, "ols: the number of updates is not usable");
  require(f_df.size() == 2 && (residual_quantiles.size() == 0 || residual_quantiles.size() == 5),
          "ols: an array has the wrong length");
  require(std::isfinite(rss) && rss >= 0 && std::isfinite(df_residual) && !(sigma < 0),
          "ols: the residual sum of squares is not usable");
}

double OlsModel::df_tests() const {
  return errors() == StandardErrors::cluster ? static_cast<double>(clusters) - 1 : df_residual;
}

CentredTriangle OlsModel::centre() const { return {kept, triangle, mean, mean_rest, spec.intercept ? 1 / mass : 0.0}; }

Vector OlsModel::slopes() const { return usable_slopes(coefficients); }

Vector OlsModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  return heights(x, slopes(), intercept);
}

Vector OlsModel::quadratic_form(const MatrixView& x) const {
  require_width(*this, x.cols());
  return squared_lengths(x, centre());
}

Interval OlsModel::interval(const MatrixView& x, IntervalKind kind, double level) const {
  require(level > 0 && level < 1, fmt::format("the level of an interval is {}, must be above 0 and below 1", level));
  require(sigma >= 0 && df_residual > 0, "ols: the fit has no residual degrees of freedom, so there is no interval");
  if (errors() != StandardErrors::classical) {
    require(kind != IntervalKind::prediction,
            fmt::format("ols: with errors {} the rows may have different variances, and that of a new response is not "
                        "known; ask for the mean's by --interval confidence, or fit with --errors classical",
                        name_of(errors())));
    require(scatter.allFinite() && df_tests() > 0,
            "ols: the standard errors are not determined, so there is no interval");
    const Vector half = t_upper_quantile((1 - level) / 2, df_tests()) * sandwich_form(x, scatter, centre()).cwiseSqrt(),
                 fitted = predict(x);
    return {fitted - half, fitted + half};
  }
  const double reach = sigma * t_upper_quantile((1 - level) / 2, df_residual),
               own = kind == IntervalKind::prediction ? 1 : 0;
  const Vector half = reach * (quadratic_form(x).array() + own).sqrt(), fitted = predict(x);
  return {fitted - half, fitted + half};
}

std::vector<NamedColumn> OlsModel::diagnostics(const Block& block) const {
  const auto rows = diagnose_rows(*this, block);
  std::vector<NamedColumn> out;
  const auto add = [&](const char* name, double RowDiagnostics::*member) {
    Vector values(block.rows());
    for (Index i = 0; i < values.size(); ++i) values(i) = rows[static_cast<std::size_t>(i)].*member;
    out.push_back({name, std::move(values)});
  };
  add("leverage", &RowDiagnostics::leverage);
  add("residual", &RowDiagnostics::residual);
  add("standardised_residual", &RowDiagnostics::standardised);
  add("studentised_residual", &RowDiagnostics::studentised);
  add("cooks_distance", &RowDiagnostics::cooks_distance);
  add("loo_residual", &RowDiagnostics::loo_residual);
  add("dffits", &RowDiagnostics::dffits);
  return out;
}

AffineMap OlsModel::affine() const { return {slopes().transpose(), Vector::Constant(1, intercept)}; }

double leave_one_out_mse(const OlsModel& model, const Rows& rows, const Execution& execution) {
  check_rows(Ols::name, Ols::about, rows);
  const auto of = scan(rows, LeaveOneOut{&model}, execution);
  return of.sum / of.weight;
}

}  // namespace lemma
