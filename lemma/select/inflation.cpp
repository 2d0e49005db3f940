// lemma/select/inflation.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/select/inflation.hpp>
#include <limits>

namespace lemma {
namespace {

/// log det of the rows' Gram matrix, the rows brought to unit length first: of C that takes the columns' units away.
double log_det_of_rows(const Matrix& inverse, const std::vector<Index>& which) {
  if (which.empty()) return 0;
  Matrix rows = inverse(which, Eigen::all);
  for (Index i = 0; i < rows.rows(); ++i) rows.row(i) /= rows.row(i).norm();
  const Matrix columns = rows.transpose();
  return log_determinant(triangle_of(columns));
}

}  // namespace

AnovaTable inflation_of(const TrainedModel& model) {
  fitness_of(model);  // is it a model with terms?
  const auto* ols = model_cast<OlsModel>(model.model);
  const auto* glm = model_cast<GlmModel>(model.model);
  const Matrix& triangle = ols ? ols->triangle : glm->triangle;
  const Labels& kept = ols ? ols->kept : glm->kept;
  const Matrix inverse = solve_upper(triangle, Matrix::Identity(triangle.rows(), triangle.cols()));
  std::vector<Index> all(kept.size());
  for (std::size_t k = 0; k < kept.size(); ++k) all[k] = static_cast<Index>(k);
  const double of_all = log_det_of_rows(inverse, all);

  AnovaTable out;
  out.columns.reserve(3);
  out.title = fmt::format("Variance inflation\n\nModel:\n{}\n", model.design.formula_text());
  std::vector<double> factors, widths, roots;
  for (const auto& term : model.design.terms()) {
    std::vector<Index> own, others;
    for (std::size_t k = 0; k < kept.size(); ++k)
      (kept[k] >= term.first && kept[k] < term.first + term.width ? own : others).push_back(static_cast<Index>(k));
    const auto df = static_cast<double>(own.size());
    const double log_factor = log_det_of_rows(inverse, own) + log_det_of_rows(inverse, others) - of_all;
    out.rows.push_back(term.name);
    widths.push_back(df);
    factors.push_back(df > 0 ? std::exp(log_factor) : std::numeric_limits<double>::quiet_NaN());
    roots.push_back(df > 0 ? std::exp(log_factor / (2 * df)) : std::numeric_limits<double>::quiet_NaN());
  }
  const bool wide = std::any_of(widths.begin(), widths.end(), [](double df) { return df > 1; });
  out.add(wide ? "GVIF" : "VIF", wide ? "gvif" : "vif").values = std::move(factors);
  if (!wide) return out;
  out.add("Df", "df").values = std::move(widths);
  out.add("GVIF^(1/(2*Df))", "gvif_root").values = std::move(roots);
  return out;
}

}  // namespace lemma
