// lemma/linear/quantile/model.cpp: what a fitted quantile says of rows, and how it is printed.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/quantile/parts.hpp>
#include <lemma/linear/shared/coefficient_table.hpp>
#include <lemma/linear/shared/plane.hpp>
#include <lemma/math/distributions.hpp>

namespace lemma {

Vector QuantileNumbers::slopes() const { return usable_slopes(coefficients); }

Vector QuantileNumbers::predict(const MatrixView& x) const {
  require_width("quantile", width(), x.cols());
  return heights(x, slopes(), intercept);
}

template <class Spec>
void QuantileFit<Spec>::check() const {
  const Index features = width(), terms = features + (spec.intercept ? 1 : 0);
  const auto must = [](bool holds, const char* what) { require(holds, fmt::format("{}: {}", Spec::name, what)); };
  for (const Vector* each : {&std_errors, &t, &p})
    must(each->size() == features, "arrays over the features differ in length");
  must(covariance.rows() == terms && covariance.cols() == terms, "the covariance does not fit the columns");
  Vector seen = Vector::Zero(features);
  for (const int j : kept) {
    must(j >= 0 && j < features && seen(j) == 0 && std::isfinite(coefficients(j)),
         "a column that takes part is not usable");
    seen(j) = 1;
  }
  must((seen.array() == 1 || coefficients.array().isNaN()).all(), "a column has a coefficient and takes no part");
  must(std::isfinite(intercept) && (spec.intercept || intercept == 0), "the intercept is not usable");
  must(rank == static_cast<Index>(kept.size()) + (spec.intercept ? 1 : 0),
       "the rank does not fit the columns that take part");
  must(std::isfinite(objective) && objective >= 0 && std::isfinite(df_residual), "the objective is not usable");
}

template <class Spec>
Interval QuantileFit<Spec>::interval(const MatrixView& x, IntervalKind kind, double level) const {
  require(
      kind != IntervalKind::prediction,
      fmt::format("{} has no prediction interval; fit two quantiles, such as 0.05 and 0.95, to get one", Spec::name));
  require(level > 0 && level < 1, fmt::format("the level of an interval is {}, must be above 0 and below 1", level));
  const Index lead = spec.intercept ? 1 : 0, k = static_cast<Index>(kept.size());
  std::vector<Index> terms;
  if (lead == 1) terms.push_back(0);
  for (const int j : kept) terms.push_back(j + lead);
  const Matrix v = covariance(terms, terms);
  require(v.allFinite() && df_residual > 0,
          fmt::format("{}: the fit has no standard errors, so no interval", Spec::name));
  const Vector fitted = predict(x);
  const double reach = t_upper_quantile((1 - level) / 2, df_residual);
  Vector half(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    Vector row(k + lead);
    if (lead == 1) row(0) = 1;
    for (Index j = 0; j < k; ++j) row(lead + j) = x(i, kept[static_cast<std::size_t>(j)]);
    half(i) = reach * std::sqrt(std::max(0.0, row.dot(v * row)));
  }
  return {fitted - half, fitted + half};
}

template <class Spec>
std::string QuantileFit<Spec>::summary(const Names& names) const {
  require(static_cast<Index>(names.features.size()) == width(), "each column needs a name");
  CoefficientTable table;
  if (spec.intercept) table.add("(Intercept)", intercept, intercept_std_error, intercept_t, intercept_p);
  for (Index j = 0; j < width(); ++j)
    table.add(names.features[static_cast<std::size_t>(j)], coefficients(j), std_errors(j), t(j), p(j));
  const auto asked = quantile::asked(spec);
  std::string out = fmt::format("tau: {}\n\n", format_significant(asked.tau));
  const Index aliased = width() - static_cast<Index>(kept.size());
  const std::string note = aliased > 0 ? fmt::format(" ({} not defined because of singularities)", aliased) : "";
  out += table.names.empty() ? std::string("No Coefficients\n") : "Coefficients:" + note + "\n" + table.str();
  return out + fmt::format("\n{}: {} on {} degrees of freedom; the fit passes through {} rows\n",
                           asked.unit == 2 ? "Sum of absolute residuals" : "Sum of weighted residuals",
                           format_significant(objective), format_significant(df_residual),
                           format_significant(on_plane));
}

template struct QuantileFit<Quantile>;
template struct QuantileFit<Lad>;

}  // namespace lemma
