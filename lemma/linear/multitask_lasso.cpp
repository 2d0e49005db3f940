// lemma/linear/multitask_lasso.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/multitask_lasso.hpp>
#include <lemma/linear/shared/several_responses.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/model/claim.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/path.hpp>
#include <lemma/optimize/stop.hpp>

namespace lemma {
namespace {

/// Products of columns and responses, in their units sⱼ and tₖ; about the means where intercepts are fitted.
struct Products {
  Matrix columns, across;  // G = ZᵀWZ and H = ZᵀWY
  Vector responses;        // of each with itself
  Vector mean, response_mean, scale, response_scale;
  double weight = 0;
};

/// Standard deviations with the divisor n; 1 for a column without spread.
Vector units(const Vector& squares, double n, bool standardize) {
  Vector out = Vector::Ones(squares.size());
  for (Index j = 0; standardize && j < out.size(); ++j)
    if (squares(j) > 0) out(j) = std::sqrt(squares(j) / n);
  return out;
}

Products products_of(const MultitaskLasso& spec, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.3));
  const Index p = rows.width(), m = responses_of(rows);
  const JointMoments joint = scan(rows, JointMoments(p, m), execution.part(0.3, 1, "covariances"));
  Products out;
  out.weight = joint.moments.weight();
  require(out.weight > 0, "multitask_lasso: all weights are 0, so there are no rows to learn from");
  const Vector mean = joint.moments.mean();
  Matrix scatter = joint.moments.scatter();
  require(scatter.allFinite(),
          "multitask_lasso: the values are so large that their squares are not finite; divide them by a constant");
  out.mean = mean.head(p);
  out.response_mean = mean.tail(m);
  out.scale = units(scatter.diagonal().head(p), out.weight, spec.standardize);
  out.response_scale = units(scatter.diagonal().tail(m), out.weight, spec.standardize_responses);
  if (!spec.intercept) {
    scatter += out.weight * mean * mean.transpose();
    out.mean.setZero();
    out.response_mean.setZero();
  }
  out.columns = scatter.topLeftCorner(p, p).array().colwise() / out.scale.array();
  out.columns.array().rowwise() /= out.scale.transpose().array();
  out.across = scatter.topRightCorner(p, m).array().colwise() / out.scale.array();
  out.across.array().rowwise() /= out.response_scale.transpose().array();
  out.responses = scatter.diagonal().tail(m).cwiseQuotient(out.response_scale.cwiseAbs2());
  return out;
}

/// Where C stands, given ‖Y‖², ⟨Y, R⟩ and ‖R‖² for the residual R, the longest product of a column with R, and Σ ‖cⱼ‖.
struct Standing {
  double objective = 0, gap = 0;  // the gap in units of J at C = 0
};
Standing standing_of(double yy, double yr, double rr, double longest, double norm, double lambda) {
  Standing out;
  out.objective = 0.5 * rr + lambda * norm;
  const double most = longest > lambda ? lambda / longest : 1;  // of the residual, that a dual point may be
  const double share = rr > 0 ? std::clamp(yr / rr, -most, most) : 0;
  const double dual = share * yr - 0.5 * share * share * rr;
  out.gap = yy > 0 ? std::max(out.objective - dual, 0.0) / (0.5 * yy) : out.objective;
  return out;
}

double lengths(const Matrix& c) { return c.rowwise().norm().sum(); }
double longest_row(const Matrix& u) { return u.rowwise().norm().maxCoeff(); }
double columns_in(const Matrix& c) { return static_cast<double>((c.array() != 0).rowwise().any().count()); }

/// C for a λ after the other, each from the last.
class Descent {
 public:
  Descent(const Products& products, const MultitaskLasso& spec)
      : at_(products),
        spec_(spec),
        yy_(products.responses.sum()),
        c_(Matrix::Zero(products.across.rows(), products.across.cols())),
        left_(products.across) {}

  const Matrix& c() const { return c_; }
  double residual() const { return std::max(0.0, yy_ - c_.cwiseProduct(at_.across + left_).sum()); }
  long long sweeps() const { return sweeps_; }

  /// All columns, then those that are in the model until they rest, while the gap is too large.
  Standing run(double lambda, Stop& stopped, const Execution& execution) {
    constexpr int kAmongThose = 10;
    for (int sweep = 0;; ++sweep) {
      left_ = at_.across - at_.columns * c_;  // what rounding has added up is gone
      const double yr = yy_ - c_.cwiseProduct(at_.across).sum();
      const Standing now = standing_of(yy_, yr, residual(), longest_row(left_), lengths(c_), lambda);
      if (execution.cancelled()) throw Cancelled();
      stopped = now.gap <= spec_.tolerance      ? Stop::converged
                : sweep >= spec_.max_iterations ? Stop::iteration_limit
                                                : Stop::not_yet;
      if (stopped != Stop::not_yet) return now;
      sweep_over(lambda, false);
      for (int inner = 0; inner < kAmongThose && sweep + 1 < spec_.max_iterations; ++inner, ++sweep)
        sweep_over(lambda, true);
    }
  }

 private:
  void sweep_over(double lambda, bool among_those_in) {
    ++sweeps_;
    for (Index j = 0; j < c_.rows(); ++j) {
      const double own = at_.columns(j, j);
      if (!(own > 0) || (among_those_in && c_.row(j).isZero(0))) continue;
      const Vector u = (left_.row(j) + own * c_.row(j)).transpose();
      const double length = u.norm(), share = length > lambda ? (1 - lambda / length) / own : 0;
      const Vector change = share * u - c_.row(j).transpose();
      if (change.isZero(0)) continue;
      c_.row(j) = share * u.transpose();
      left_.noalias() -= at_.columns.col(j) * change.transpose();
    }
  }

  const Products& at_;
  const MultitaskLasso& spec_;
  double yy_;
  Matrix c_, left_;  // left: ZᵀWR
  long long sweeps_ = 0;
};

double bic_of(double rss, double weight, Index responses, double columns) {
  const double numbers = weight * static_cast<double>(responses);
  return numbers * std::log(std::max(rss, 1e-300) / numbers) +
         static_cast<double>(responses) * columns * std::log(numbers);
}

std::vector<double> path_for(const Products& products, int length) {
  const double largest = longest_row(products.across);
  const bool wide = static_cast<double>(products.across.rows()) >= products.weight;
  return lambda_path(largest > 0 ? largest : 1, length, wide ? 1e-2 : 1e-4);
}

struct Chosen {
  Matrix c;
  Standing standing;
  double lambda = 0;
  Vector path, bic;
  long long sweeps = 0;
  Stop stopped = Stop::not_yet;
};
Chosen solve(const MultitaskLasso& spec, bool choose, const Products& products, const Execution& execution) {
  Descent descent(products, spec);
  Chosen out;
  const std::vector<double> tried =
      choose ? path_for(products, spec.path_length) : std::vector<double>{spec.lambda.value_or(0)};
  const auto count = static_cast<Index>(tried.size());
  if (choose) {
    out.path = Eigen::Map<const Vector>(tried.data(), count);
    out.bic.resize(count);
  }
  double least = std::numeric_limits<double>::infinity();
  for (Index l = 0; l < count; ++l) {
    execution.report(static_cast<double>(l) / static_cast<double>(count), "coordinate descent");
    Stop stopped = Stop::not_yet;
    const Standing standing = descent.run(tried[at(l)], stopped, execution);
    const double bic = bic_of(descent.residual(), products.weight, products.across.cols(), columns_in(descent.c()));
    if (choose) out.bic(l) = bic;
    if (l == 0 || bic < least) {
      least = bic;
      out.c = descent.c();
      out.standing = standing;
      out.lambda = tried[at(l)];
    }
    if (out.stopped == Stop::not_yet || stopped != Stop::converged) out.stopped = stopped;
  }
  out.sweeps = descent.sweeps();
  return out;
}

/// Plain sums of the rows and of what the model leaves of them, in the units sⱼ and tₖ.
struct PlainSums {
  const MultitaskLassoModel* model;
  double weight = 0;
  Vector x, y, xx, yy, r, rr, yr;  // about the model's means, where it fits intercepts
  Matrix xr;
  explicit PlainSums(const MultitaskLassoModel& of) : model(&of) {
    x = xx = Vector::Zero(of.width());
    y = yy = r = rr = yr = Vector::Zero(of.responses());
    xr = Matrix::Zero(of.width(), of.responses());
  }
  void accumulate(const Block& block) {
    const Index m = y.size();
    Vector from(m), off(m);
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      const Vector about = block.x.row(i).transpose() - model->mean, row = about.cwiseQuotient(model->scale);
      for (Index k = 0; k < m; ++k) {
        const double own = response(block, i, k) - model->response_mean(k);
        from(k) = own / model->response_scale(k);
        off(k) = (own - about.dot(model->coefficients.col(k))) / model->response_scale(k);
      }
      weight += w;
      x += w * row;
      y += w * from;
      xx += w * row.cwiseAbs2();
      yy += w * from.cwiseAbs2();
      r += w * off;
      rr += w * off.cwiseAbs2();
      yr += w * from.cwiseProduct(off);
      xr += w * row * off.transpose();
    }
  }
  void merge(const PlainSums& other) {
    weight += other.weight;
    x += other.x;
    y += other.y;
    xx += other.xx;
    yy += other.yy;
    r += other.r;
    rr += other.rr;
    yr += other.yr;
    xr += other.xr;
  }
};

/// C of the coefficients.
Matrix scaled(const MultitaskLassoModel& model) {
  Matrix out = model.coefficients.array().colwise() * model.scale.array();
  return out.array().rowwise() / model.response_scale.transpose().array();
}

Certificate certificate_of(const MultitaskLasso& spec, double gap, long long sweeps, Stop stopped) {
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "relative duality gap";
  out.value = gap;
  out.tolerance = std::max(claimed(spec.tolerance), 1e-12);  // rounding of the rows' sums
  out.iterations = sweeps;
  out.stopped = name_of(stopped);
  out.message = fmt::format(
      "The objective is at most {:.1e} of its value without columns above the least one (allowed {:.0e}), by plain "
      "sums over "
      "the rows.",
      out.value, out.tolerance);
  if (!out.holds() && out.value <= spec.tolerance) out.message += ended_too_soon(spec.tolerance);
  else if (!out.holds()) out.message += " More iterations or a larger lambda may do it.";
  return out;
}

/// By plain sums over the rows; `again`: the path gone down anew.
Certificate held_against(const MultitaskLassoModel& model, const Rows& rows, const Chosen* again,
                         const Execution& execution) {
  const PlainSums seen = scan(rows, PlainSums(model), execution);
  const double n = seen.weight;
  const Vector left = seen.r / n;  // 0 up to rounding where intercepts are fitted
  Matrix of_columns = seen.xr;
  double yr = seen.yr.sum();
  if (model.spec.intercept) {
    of_columns -= seen.x * left.transpose();
    yr -= seen.y.dot(left);
  }
  const Matrix c = scaled(model);
  const Standing standing =
      standing_of(seen.yy.sum(), yr, seen.rr.sum(), longest_row(of_columns), lengths(c), model.lambda);
  Certificate out = certificate_of(model.spec, standing.gap, 0, Stop::looked_again);
  if (!out.holds()) return out;
  Comparison same;
  // In the model's own units and about its means: variances are 1 and means 0.
  const auto compare_unit = [&](std::string_view mean_field, std::string_view field, Index j, double sum,
                                double squares, double mean, double scale, bool divided) {
    const double size = mean * mean / (scale * scale), own = squares / n - (sum / n) * (sum / n);
    if (model.spec.intercept)
      same.entry(mean_field, j, sum / n, 0, std::sqrt(std::max(own, 0.0)) + 1e-6 * std::sqrt(size), 1e-8);
    else same.entry(mean_field, j, mean, 0, 1);
    if (!divided) same.entry(field, j, scale, 1, 1);
    else if (own > 1e-12 * (size + squares / n))
      same.entry(field, j, 1, own, 1 + 1e-6 * size, 1e-8);  // else a constant
  };
  for (Index j = 0; j < model.width(); ++j)
    compare_unit("mean", "scale", j, seen.x(j), seen.xx(j), model.mean(j), model.scale(j), model.spec.standardize);
  for (Index k = 0; k < model.responses(); ++k) {
    const double scale = model.response_scale(k), mean = model.response_mean(k);
    compare_unit("response_mean", "response_scale", k, seen.y(k), seen.yy(k), mean, scale,
                 model.spec.standardize_responses);
    const double expected = mean - model.mean.dot(model.coefficients.col(k));
    const double terms = std::abs(mean) + model.mean.cwiseAbs().dot(model.coefficients.col(k).cwiseAbs());
    same.entry("intercept", k, model.intercept(k), expected, terms + 1e-300);
    const bool varies = seen.yy(k) / n > 1e-12 * mean * mean / (scale * scale);
    same.entry("explained", k, model.explained(k), varies ? 1 - seen.rr(k) / seen.yy(k) : model.explained(k), 1, 1e-7);
  }
  same.number("objective", model.objective, standing.objective, 0.5 * seen.yy.sum() + 1e-300, 1e-8);
  same.number("norm", model.norm, lengths(c), lengths(c) + 1e-300, 1e-8);
  if (again) {
    same.number("lambda", model.lambda, again->lambda, again->lambda, 1e-8);
    for (Index l = 0; l < std::min(model.bic.size(), again->bic.size()); ++l) {
      same.entry("lambda_path", l, model.lambda_path(l), again->path(l), again->path(l), 1e-8);
      same.entry("bic", l, model.bic(l), again->bic(l), std::abs(again->bic(l)) + n, 1e-6);
    }
  }
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace

void MultitaskLassoModel::check() const {
  const Index p = width(), m = responses();
  require(p > 0 && m > 0 && coefficients.cols() == m && coefficients.allFinite() && intercept.allFinite(),
          "multitask_lasso: the coefficients are not usable");
  require(scale.size() == p && scale.allFinite() && (scale.array() > 0).all() && response_scale.size() == m &&
              response_scale.allFinite() && (response_scale.array() > 0).all() && explained.size() == m,
          "multitask_lasso: a number of a column or response is not usable");
  require(lambda > 0 && lambda == spec.lambda.value_or(lambda) && std::isfinite(objective) && std::isfinite(norm) &&
              kept == columns_in(coefficients),
          "multitask_lasso: its numbers do not fit together");
  require(mean.size() == p && mean.allFinite() && response_mean.size() == m && response_mean.allFinite(),
          "multitask_lasso: a mean is not usable");
  require(spec.intercept || intercept.isZero(0), "multitask_lasso: there are intercepts that were not to be fitted");
  require(lambda_path.size() == bic.size() && (bic.size() == 0 || bic.size() == spec.path_length) && bic.allFinite() &&
              lambda_path.allFinite(),
          "multitask_lasso: the path is not usable");
}

Matrix MultitaskLassoModel::values(const MatrixView& x) const {
  require_width(*this, x.cols());
  return row_products(x, coefficients).rowwise() + intercept.transpose();
}

Vector MultitaskLassoModel::predict(const MatrixView& x) const {
  require(responses() == 1, "multitask_lasso: it was fitted to several responses; ask it for its values");
  return values(x).col(0);
}

Prediction MultitaskLassoModel::prediction(const MatrixView& x, const PredictOptions& options) const {
  Prediction out;
  if (responses() == 1 && options.asks(kValuePart)) out.add(kValuePart, predict(x));
  return out;
}

std::string MultitaskLassoModel::summary(const Names& names) const {
  std::vector<std::string> rows{"(Intercept)"};
  std::vector<Index> in;
  for (Index j = 0; j < width(); ++j)
    if (!coefficients.row(j).isZero(0)) {
      in.push_back(j);
      rows.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
    }
  rows.emplace_back("R^2");
  TextTable table;
  table.words("", rows);
  for (Index k = 0; k < responses(); ++k) {
    std::vector<double> column{intercept(k)};
    for (const Index j : in) column.push_back(coefficients(j, k));
    column.push_back(explained(k));
    table.numbers(at(k) < names.responses.size() ? names.responses[at(k)] : "coefficient", column, 4);
  }
  return fmt::format("λ = {}{}: {} of {} in the model for all responses\n\n", format_significant(lambda, 5),
                     bic.size() > 0 ? fmt::format(" (of {}, by bic)", bic.size()) : "", format_significant(kept),
                     count_of(width(), "column")) +
         table.str();
}

MultitaskLassoModel fit(const Valid<MultitaskLasso>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Products products = products_of(*spec, rows, execution.part(0, 0.5));
  const Chosen chosen = solve(*spec, !spec->lambda, products, execution.part(0.5, 0.9));
  MultitaskLassoModel model;
  model.spec = *spec;
  model.lambda = chosen.lambda;
  model.mean = products.mean;
  model.response_mean = products.response_mean;
  model.scale = products.scale;
  model.response_scale = products.response_scale;
  model.coefficients = chosen.c.array().colwise() / model.scale.array();
  model.coefficients.array().rowwise() *= model.response_scale.transpose().array();
  model.intercept = products.response_mean - model.coefficients.transpose() * products.mean;
  model.kept = columns_in(chosen.c);
  model.objective = chosen.standing.objective;
  model.norm = lengths(chosen.c);
  const Matrix left = products.across - products.columns * chosen.c;
  const Vector residual =
      products.responses - chosen.c.cwiseProduct(products.across + left).colwise().sum().transpose();
  model.explained.resize(model.responses());
  for (Index k = 0; k < model.responses(); ++k)
    model.explained(k) = products.responses(k) > 0 ? 1 - residual(k) / products.responses(k) : 0;
  model.lambda_path = chosen.path;
  model.bic = chosen.bic;
  model.certificate = held_against(model, rows, nullptr, execution.part(0.9, 1));
  model.certificate.iterations = chosen.sweeps;
  model.certificate.stopped = name_of(chosen.stopped);
  if (!model.certificate.holds())
    model.warnings.push_back(fmt::format("the work ended early ({})", name_of(chosen.stopped)));
  return model;
}

Certificate certify(const MultitaskLassoModel& model, const Rows& rows, const Execution& execution) {
  require(responses_of(rows) == model.responses(),
          fmt::format("multitask_lasso: the model has {} and the rows have {}", count_of(model.responses(), "response"),
                      responses_of(rows)));
  if (model.spec.lambda) return held_against(model, rows, nullptr, execution);
  const Products products = products_of(model.spec, rows, execution.part(0, 0.4));
  const Chosen again = solve(model.spec, true, products, execution.part(0.4, 0.5));
  return held_against(model, rows, &again, execution.part(0.5, 1));
}

template const Method& method_of<MultitaskLasso>();

}  // namespace lemma
