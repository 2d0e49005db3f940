// lemma/linear/lasso/model.cpp: what a path of penalised fits says of rows, and of itself.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/lasso/parts.hpp>

namespace lemma {
namespace {

constexpr std::size_t kMostLines = 40;

/// One line for each λ at which a column enters or leaves, and the last.
template <class Spec>
std::string path_lines(const PathModel<Spec>& model, const std::vector<std::string>& features) {
  std::vector<double> lambda, df, deviance;
  std::vector<std::string> changes;
  const auto in = [&](Index k, Index j) { return k >= 0 && model.coefficients.of(k, j) != 0; };
  for (Index k = 0; k < model.lambda.size(); ++k) {
    std::vector<std::string> enters, leaves;
    for (Index j = 0; j < model.width(); ++j) {
      if (in(k, j) && !in(k - 1, j)) enters.push_back(features[static_cast<std::size_t>(j)]);
      if (!in(k, j) && in(k - 1, j)) leaves.push_back(features[static_cast<std::size_t>(j)]);
    }
    const bool last = k == model.lambda.size() - 1;
    if (enters.empty() && leaves.empty() && k > 0 && !last && k != model.chosen()) continue;
    std::string text = join_words(enters, 5);
    if (!leaves.empty()) text += (text.empty() ? "" : "; ") + join_words(leaves, 5) + " out";
    if (k == model.chosen()) text += text.empty() ? "(predicts)" : " (predicts)";
    lambda.push_back(model.lambda.of(k));
    df.push_back(model.df.of(k));
    deviance.push_back(100 * model.deviance_ratio.of(k));
    changes.push_back(text);
  }
  const std::size_t shown = std::min(lambda.size(), kMostLines), more = lambda.size() - shown;
  for (auto* each : {&lambda, &df, &deviance}) each->resize(shown);
  changes.resize(shown);
  TextTable table;
  table.numbers("lambda", lambda, 4).numbers("df", df, 7).numbers("%dev", deviance, 4).words("enters", changes);
  return table.str() + (more > 0 ? fmt::format("and {} more\n", more) : "");
}

}  // namespace

template <class Spec>
void PathModel<Spec>::check() const {
  const Index count = lambda.size(), features = width();
  const std::string name(Spec::name);
  require(count > 0 && coefficients.size() == count, name + ": the coefficients do not fit the path");
  for (const PathNumbers* each : {&intercept, &df, &rss, &deviance_ratio, &norm, &objective, &gap})
    require(each->size() == count, name + ": arrays over the path differ in length");
  if (!net::bound_of(spec))
    require(static_cast<Index>(spec.lambda.size()) == count, name + ": the path does not fit its lambda");
  require(scale.size() == features && scale.allFinite() && (scale.array() > 0).all(),
          name + ": the scale is not usable");
  require(coefficients.of.allFinite() && intercept.of.allFinite() && lambda.of.allFinite() &&
              (lambda.of.array() >= 0).all(),
          name + ": a coefficient or a lambda is not usable");
  require(spec.intercept || intercept.of.isZero(0), name + ": there is an intercept where none was fitted");
  require(spec.penalty_factors.empty() || static_cast<Index>(spec.penalty_factors.size()) == features,
          name + ": the penalty factors do not fit the columns");
  chosen();
}

template <class Spec>
Index PathModel<Spec>::chosen() const {
  for (Index k = 0; k < lambda.size(); ++k)
    if (lambda.of(k) == chosen_lambda) return k;
  throw Error(std::string(Spec::name) + ": the chosen lambda is none of the path");
}

template <class Spec>
Vector PathModel<Spec>::slopes() const {
  return coefficients.of.row(chosen());
}

template <class Spec>
Vector PathModel<Spec>::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Vector b = slopes();
  const double b0 = intercept.of(chosen());
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) out(i) = x.row(i).dot(b) + b0;  // each row alone: the same bits in any company
  return out;
}

template <class Spec>
AffineMap PathModel<Spec>::affine() const {
  return {slopes().transpose(), Vector::Constant(1, intercept.of(chosen()))};
}

template <class Spec>
std::string PathModel<Spec>::summary(const Names& names) const {
  require(static_cast<Index>(names.features.size()) == width(), std::string(Spec::name) + ": each column needs a name");
  std::string out;
  if (lambda.size() > 1) out += path_lines(*this, names.features) + "\n";
  const Index k = chosen();
  const std::string how =
      lambda.size() > 1 && spec.choose != PathChoice::last
          ? fmt::format("least {}", name_of(spec.choose))
          : format_significant(100 * deviance_ratio.of(k), 4) + " % of the sum of squares explained";
  out += fmt::format("Coefficients at lambda = {} ({}), {:.0f} of {} not 0:\n", format_significant(chosen_lambda, 4),
                     how, df.of(k), width());
  std::vector<std::string> terms;
  std::vector<double> estimates, standardised;
  if (spec.intercept) {
    terms.emplace_back("(Intercept)");
    estimates.push_back(intercept.of(k));
    standardised.push_back(kNone);
  }
  for (Index j = 0; j < width(); ++j) {
    const double b = coefficients.of(k, j);
    if (b == 0) continue;
    terms.push_back(names.features[static_cast<std::size_t>(j)]);
    estimates.push_back(b);
    standardised.push_back(b * scale(j));
  }
  TextTable table;
  table.words("", terms).numbers("estimate", estimates);
  if (spec.standardize) {
    auto cells = format_column(standardised, 4);
    if (spec.intercept) cells[0] = "";
    table.right("per sd", cells);
  }
  out += table.str();
  if (const auto bound = net::bound_of(spec))
    out += fmt::format("\nnorm {} of at most {}\n", format_significant(norm.of(k), 7), format_significant(*bound, 7));
  return out;
}

template struct PathModel<Lasso>;
template struct PathModel<ElasticNet>;

}  // namespace lemma
