// lemma/bayes/naive_bayes/certify.cpp: the model held against the rows, seen anew.
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/naive_bayes/parts.hpp>
#include <limits>

namespace lemma {
namespace naive_bayes {
namespace {

constexpr double kTolerance = 1e-8;

/// d / (unit + d) for the difference d of two numbers: at most 1, and NaN where one is.
double apart(double a, double b, double unit) {
  const double d = std::abs(a - b);
  return d == 0 ? 0 : std::isfinite(d) ? d / (unit + d) : d - d + 1;
}

double worst_of(double worst, double next) {
  return std::isnan(worst) || std::isnan(next) ? NAN : std::max(worst, next);
}

double apart(const Matrix& a, const Matrix& b, double unit) {
  double worst = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) worst = worst_of(worst, apart(a(i, j), b(i, j), std::abs(b(i, j)) + unit));
  return worst;
}

}  // namespace

Certificate certificate_of(const NaiveBayesModel& model, const Layout& layout, const Look& look) {
  double of_rows = worst_of(apart(Matrix(model.counts), Matrix(look.counts), 0), apart(model.known, look.known, 1e-9));
  of_rows = worst_of(of_rows, apart(model.level_weights, look.levels, 1e-9));
  for (Index k = 0; k < model.class_count(); ++k)
    for (Index j = 0; j < layout.columns(); ++j) {
      const double n = look.known(k, j), stored = model.means(k, j);
      if (!(n > 0) || layout.is(j, ColumnKind::categorical)) {
        of_rows = worst_of(of_rows, apart(stored, 0, 1e-9));
        of_rows = worst_of(of_rows, apart(model.variances(k, j), 0, 1e-9));
        continue;
      }
      const double off = look.shift(k, j) / n, squares = look.squares(k, j) - n * off * off;
      const double spread = std::sqrt(std::max(squares, 0.0) / n), rounding = 1e-7 * std::abs(stored);
      of_rows = worst_of(of_rows, apart(off, 0, std::max(spread, rounding) + 1e-300));
      const double by = divisor(model.spec.variance, n);
      const double variance = layout.is(j, ColumnKind::gaussian) && by > 0 ? squares / by : 0;
      of_rows =
          worst_of(of_rows, apart(model.variances(k, j), variance, std::abs(variance) + rounding * rounding + 1e-300));
    }
  NaiveBayesModel anew = model;
  std::vector<Values> values;
  for (const Values& each : look.values) values.push_back(joined(each));
  keep(anew, values);
  if (layout.densities > 0) {  // values are kept as they are
    const bool same = anew.values.size() == model.values.size() && anew.value_counts == model.value_counts &&
                      (anew.values.array() == model.values.array()).all();
    of_rows = worst_of(of_rows, same ? apart(Matrix(model.value_weights), Matrix(anew.value_weights), 0) : 1);
  }
  finish(anew, layout);
  double follows = apart(Matrix(model.prior), Matrix(anew.prior), 0);
  follows = worst_of(follows, apart(model.parameters, anew.parameters, 1e-9));
  follows = worst_of(follows, apart(model.deviations, anew.deviations, 1e-9));
  follows = worst_of(follows, apart(model.level_probabilities, anew.level_probabilities, 0));

  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "distance from the counts and moments of the rows";
  out.value = of_rows + follows;  // a sum: one NaN is enough
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  if (out.holds())
    out.message = fmt::format(
        "Counts, means and variances are those of the rows, and the estimates those that follow from them, to within "
        "{:.1e} (allowed {:.0e}).",
        out.value, out.tolerance);
  else if (!(of_rows <= kTolerance))
    out.message = fmt::format("Counts, means or variances are not those of these rows: off by {:.1e} (allowed {:.0e}).",
                              std::isnan(of_rows) ? 1.0 : of_rows, out.tolerance);
  else
    out.message =
        fmt::format("The estimates do not follow from the counts and moments: off by {:.1e} (allowed {:.0e}).",
                    std::isnan(follows) ? 1.0 : follows, out.tolerance);
  return out;
}

}  // namespace naive_bayes

Certificate certify(const NaiveBayesModel& model, const Rows& rows, const Execution& execution) {
  for (Index j = 0; j < rows.width(); ++j)
    require((rows.holds_codes(j) ? rows.levels[at(j)].size() : 0) == static_cast<std::size_t>(model.levels[at(j)]),
            "naive_bayes: the rows do not have the levels of the model");
  const naive_bayes::Layout layout(model.spec.kinds, model.levels);
  return naive_bayes::certificate_of(model, layout, naive_bayes::look_at(model, layout, rows, execution));
}

}  // namespace lemma
