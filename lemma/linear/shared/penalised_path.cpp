// lemma/linear/shared/penalised_path.cpp
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/shared/penalised_path.hpp>
#include <lemma/linear/shared/plane.hpp>

namespace lemma {

Index PenalisedPath::chosen() const {
  for (Index k = 0; k < lambda.size(); ++k)
    if (lambda.of(k) == chosen_lambda) return k;
  throw Error("the chosen lambda is none of the path");
}

Vector PenalisedPath::slopes() const { return coefficients.of.row(chosen()); }

AffineMap PenalisedPath::affine() const { return {slopes().transpose(), Vector::Constant(1, intercept.of(chosen()))}; }

Vector PenalisedPath::heights_of(const MatrixView& x) const { return heights(x, slopes(), intercept.of(chosen())); }

void PenalisedPath::check_path(std::string_view method, bool with_intercept, const std::vector<double>& penalty_factors,
                               const std::vector<const PathNumbers*>& more) const {
  const Index count = lambda.size(), features = width();
  const auto must = [&](bool holds, const char* otherwise) {
    require(holds, fmt::format("{}: {}", method, otherwise));
  };
  must(count > 0 && coefficients.size() == count, "the coefficients do not fit the path");
  std::vector<const PathNumbers*> all{&intercept, &df, &rss, &deviance_ratio, &objective};
  all.insert(all.end(), more.begin(), more.end());
  for (const PathNumbers* each : all) must(each->size() == count, "arrays over the path differ in length");
  must(scale.size() == features && scale.allFinite() && (scale.array() > 0).all(), "the scale is not usable");
  must(coefficients.of.allFinite() && intercept.of.allFinite() && lambda.of.allFinite(), "a coefficient is not usable");
  must(with_intercept || intercept.of.isZero(0), "there is an intercept where none was fitted");
  must(penalty_factors.empty() || static_cast<Index>(penalty_factors.size()) == features,
       "the penalty factors do not fit the columns");
  must((lambda.of.array() == chosen_lambda).any(), "the chosen lambda is none of the path");
}

std::string PenalisedPath::coefficient_table(const Names& names, bool with_intercept, bool standardised,
                                             bool zeros) const {
  std::vector<std::string> terms;
  std::vector<double> estimates, per_deviation;
  if (with_intercept) {
    terms.emplace_back("(Intercept)");
    estimates.push_back(intercept.of(chosen()));
    per_deviation.push_back(kNone);
  }
  const Vector b = slopes();
  for (Index j = 0; j < width(); ++j) {
    if (b(j) == 0 && !zeros) continue;
    terms.push_back(names.features[at(j)]);
    estimates.push_back(b(j));
    per_deviation.push_back(b(j) * scale(j));
  }
  TextTable table;
  table.words("", terms).numbers("estimate", estimates);
  if (standardised) {
    auto cells = format_column(per_deviation, 4);
    if (with_intercept) cells[0] = "";
    table.right("per sd", cells);
  }
  return table.str();
}

}  // namespace lemma
