// lemma/linear/lasso/model.cpp: what a path of penalised fits says of rows, and of itself.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/lasso/parts.hpp>
#include <lemma/linear/shared/plane.hpp>

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
  check_path(Spec::name, spec.intercept, spec.penalty_factors, {&norm, &gap});
  const std::string name(Spec::name);
  require((lambda.of.array() >= 0).all(), name + ": a lambda is not usable");
  if (!net::bound_of(spec))
    require(static_cast<Index>(spec.lambda.size()) == lambda.size(), name + ": the path does not fit its lambda");
}

template <class Spec>
Vector PathModel<Spec>::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  return heights_of(x);
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
  out += coefficient_table(names, spec.intercept, spec.standardize, false);
  if (const auto bound = net::bound_of(spec))
    out += fmt::format("\nnorm {} of at most {}\n", format_significant(norm.of(k), 7), format_significant(*bound, 7));
  return out;
}

template struct PathModel<Lasso>;
template struct PathModel<ElasticNet>;

}  // namespace lemma
