// lemma/linear/lasso.cpp: lasso and elastic_net: one path, two specs.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/lasso/parts.hpp>
#include <lemma/linear/shared/share_explained.hpp>
#include <lemma/model/comparison.hpp>
#include <numeric>

namespace lemma {

void Lasso::check() const {
  require(!bound || lambda.empty(), "lasso: lambda and bound are both given; each is a form of its own");
}

namespace net {

ElasticNet as_net(const Lasso& spec) {
  return {.alpha = 1,
          .lambda = spec.lambda,
          .path_length = spec.path_length,
          .path_ratio = spec.path_ratio,
          .intercept = spec.intercept,
          .standardize = spec.standardize,
          .penalty_factors = spec.penalty_factors,
          .positive = spec.positive,
          .choose = spec.choose,
          .tolerance = spec.tolerance,
          .max_iterations = spec.max_iterations};
}

NetPenalty penalty_of(std::string_view method, const ElasticNet& net, const Rows& rows) {
  const auto given = static_cast<Index>(net.penalty_factors.size());
  require(given == 0 || given == rows.width(), fmt::format("{}: there are {} penalty_factors for {} columns ({})",
                                                           method, given, rows.width(), join_words(rows.features)));
  Vector factors = Vector::Ones(rows.width());
  if (given > 0) factors = Eigen::Map<const Vector>(net.penalty_factors.data(), given);
  return {net.alpha, factors, net.positive};
}

double choose_lambda(const ElasticNet& net, const Vector& lambda, const Vector& rss, const Vector& df, double n) {
  Index best = net.choose == PathChoice::last ? lambda.size() - 1 : 0;
  double least = INFINITY;
  const double price = net.choose == PathChoice::bic ? std::log(n) : 2;
  for (Index k = 0; k < lambda.size() && net.choose != PathChoice::last; ++k) {
    const double floor = 1e-28 * rss.maxCoeff();  // a perfect fit has no logarithm
    const double criterion = n * std::log(std::max(rss(k), floor) / n) + price * df(k);
    if (df(k) > n / 2 || !(criterion < least)) continue;
    least = criterion;
    best = k;
  }
  return lambda(best);
}

double norm_of(const NetPenalty& penalty, const PathPoint& point) {
  double norm = 0;
  for (std::size_t k = 0; k < point.support.size(); ++k)
    norm += penalty.factors(point.support[k]) * std::abs(point.values(static_cast<Index>(k)));
  return norm;
}

/// Down the path until the norm reaches the bound; then the line between the two nearest points, which is the path itself
/// as soon as no coefficient enters or leaves between them.
PathPoint bounded_point(CoordinatePath& path, const NetPenalty& penalty, double bound, bool to_zero,
                        const Execution& execution) {
  PathPoint high = path.move_to(path.largest_lambda()), low = high;
  double above = high.lambda;  // where the norm is too small
  long long sweeps = high.sweeps;
  const double last = 1e-8 * high.lambda;
  while (norm_of(penalty, low) < bound && low.lambda > last && low.converged) {
    high = low;
    low = path.move_to(0.85 * high.lambda);
    sweeps += low.sweeps;
    execution.report(std::min(0.9, norm_of(penalty, low) / bound), "looking for the bound");
  }
  if (norm_of(penalty, low) < bound && to_zero && low.converged) low = path.move_to(0);
  above = high.lambda;
  for (int step = 0; step < 200 && norm_of(penalty, low) > bound * (1 + 1e-13) && low.converged; ++step) {
    const double norm_high = norm_of(penalty, high), norm_low = norm_of(penalty, low);
    const double share = step % 4 == 3 ? 0.5 : (bound - norm_high) / (norm_low - norm_high);
    const double lambda = above + share * (low.lambda - above);
    if (!(lambda < above && lambda > low.lambda)) break;
    PathPoint between = path.move_to(lambda);
    sweeps += between.sweeps;
    if (norm_of(penalty, between) >= bound) {
      low = std::move(between);
    } else {
      high = std::move(between);
      above = high.lambda;
      if (bound - norm_of(penalty, high) <= 1e-13 * bound) low = high;
    }
  }
  const double norm = norm_of(penalty, low);
  if (norm > bound) low.values *= norm > 0 ? bound / norm : 1;  // the last digit
  if (bound == 0) {
    low.support.clear();
    low.values.resize(0);
  }
  low.sweeps = sweeps;
  return low;
}

namespace {

std::vector<double> lambdas_of(CoordinatePath& path, const ElasticNet& net, const Rows& rows) {
  if (!net.lambda.empty()) return net.lambda;
  const double largest = path.largest_lambda() * (1 + 1e-15);  // rounding must not let a coefficient in
  if (!(largest > 0)) return {0};                              // nothing to explain, or nothing to explain it
  return lambda_path(largest, net.path_length, net.path_ratio.value_or(rows.count() > rows.width() ? 1e-4 : 1e-2));
}

/// From the largest λ down, where each solution is the start of the next; given back in the order of `lambdas`.
std::vector<PathPoint> follow(CoordinatePath& path, const std::vector<double>& lambdas, const Execution& execution) {
  std::vector<std::size_t> order(lambdas.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lambdas[a] > lambdas[b]; });
  std::vector<std::optional<PathPoint>> found(lambdas.size());
  for (std::size_t k = 0; k < order.size() && !(k > 0 && execution.cancelled()); ++k) {
    found[order[k]] = path.move_to(lambdas[order[k]]);
    execution.report(0.2 + 0.7 * static_cast<double>(k + 1) / static_cast<double>(lambdas.size()),
                     "following the path");
  }
  std::vector<PathPoint> out;
  for (auto& point : found)
    if (point) out.push_back(std::move(*point));
  return out;
}

std::vector<std::string> warnings_of(const StandardisedColumns& columns, const std::vector<std::string>& features) {
  std::vector<std::string> names;
  for (const Index j : columns.constant) names.push_back("'" + features[static_cast<std::size_t>(j)] + "'");
  if (names.empty()) return {};
  return {fmt::format("{} {} constant and {} no part: {} 0", join_words(names), names.size() == 1 ? "is" : "are",
                      names.size() == 1 ? "takes" : "take",
                      names.size() == 1 ? "its coefficient is" : "their coefficients are")};
}

double intercept_of(const StandardisedColumns& columns, const Vector& b) {
  return columns.y_mean - columns.mean.dot(b);
}

/// A column without a penalty is taken out of the dual points by itself.
StandardisedColumns columns_of(std::string_view method, const ElasticNet& net, const NetPenalty& penalty,
                               const Rows& rows, const Execution& execution) {
  const bool all_penalised =
      (penalty.factors.array() > 0).all() && std::ranges::find(net.lambda, 0.0) == net.lambda.end();
  return standardise(method, rows, net.intercept, net.standardize,
                     all_penalised ? ColumnsAsked::together : ColumnsAsked::singly, execution);
}

template <class Spec>
PathModel<Spec> fit_path(const Spec& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const ElasticNet net = as_net(spec);
  const NetPenalty penalty = penalty_of(Spec::name, net, rows);
  const StandardisedColumns columns =
      columns_of(Spec::name, net, penalty, rows, execution.part(0, 0.1, "reading rows"));
  CoordinatePath path(columns, penalty, {0.5 * net.tolerance, net.max_iterations}, execution.part(0.1, 0.2));
  std::vector<PathPoint> points;
  std::size_t asked_for = 1;
  if (const auto bound = bound_of(spec)) {
    points.push_back(bounded_point(path, penalty, *bound, columns.count <= columns.rows, execution.part(0.2, 0.9)));
  } else {
    const auto lambdas = lambdas_of(path, net, rows);
    asked_for = lambdas.size();
    points = follow(path, lambdas, execution);
  }

  PathModel<Spec> model;
  model.spec = spec;
  model.scale = columns.scale;
  const auto count = static_cast<Index>(points.size());
  Matrix c = Matrix::Zero(count, columns.count);
  for (PathNumbers* each : {&model.lambda, &model.intercept, &model.df, &model.rss, &model.deviance_ratio, &model.norm,
                            &model.objective, &model.gap})
    each->of.resize(count);
  long long sweeps = 0;
  Index unfinished = 0;
  for (Index k = 0; k < count; ++k) {
    const PathPoint& point = points[static_cast<std::size_t>(k)];
    model.lambda.of(k) = point.lambda;
    model.df.of(k) = static_cast<double>(point.support.size());
    for (std::size_t i = 0; i < point.support.size(); ++i) c(k, point.support[i]) = point.values(static_cast<Index>(i));
    sweeps += point.sweeps;
    unfinished += !point.converged;
  }
  model.coefficients.of = c * columns.scale.cwiseInverse().asDiagonal();
  // A cancelled fit gives back what it has; its evidence is found all the same.
  const Execution unasked{execution.threads, nullptr, 0, 1, {}};
  const Hearing to_the_end(execution.cancelled() ? unasked : execution);
  const auto found = duality(columns, penalty, model.lambda.of, c, bound_of(spec), unasked);
  for (Index k = 0; k < count; ++k) {
    const Duality& at = found[static_cast<std::size_t>(k)];
    model.intercept.of(k) = net.intercept ? intercept_of(columns, model.coefficients.of.row(k)) : 0;
    model.rss.of(k) = at.rss;
    model.norm.of(k) = at.norm;
    model.objective.of(k) = at.objective;
    model.gap.of(k) = at.gap;
    model.deviance_ratio.of(k) = columns.total > 0 ? share_explained(at.rss, columns.total) : PathModel<Spec>::kNone;
  }
  if (!bound_of(spec)) model.spec.lambda.assign(model.lambda.of.begin(), model.lambda.of.end());
  model.chosen_lambda = choose_lambda(net, model.lambda.of, model.rss.of, model.df.of, columns.weight);
  model.warnings = warnings_of(columns, rows.features);
  if (unfinished > 0)
    model.warnings.push_back(
        fmt::format("{} of {} λ stopped before the gap was below the tolerance", unfinished, count));
  if (execution.cancelled()) model.warnings.push_back("cancelled: the path ends early");
  model.certificate = certificate_of(model.gap.of, net.tolerance, sweeps,
                                     execution.cancelled() ? "cancelled"
                                     : unfinished > 0      ? "iteration limit"
                                                           : "converged");
  if (points.size() < asked_for) {  // what is there may be right, but it is not what was asked for
    model.certificate.value = PathModel<Spec>::kNone;
    model.certificate.message =
        fmt::format("Cancelled after {} of {} λ. {}", points.size(), asked_for, model.certificate.message);
  }
  return model;
}

/// Every number but the coefficients, from the rows and the numbers it follows from.
template <class Spec>
void compare_numbers(Comparison& same, const PathModel<Spec>& model, const StandardisedColumns& columns,
                     const std::vector<Duality>& found) {
  const ElasticNet net = as_net(model.spec);
  for (Index k = 0; k < model.lambda.size() && !bound_of(model.spec); ++k)
    same.entry("lambda", k, model.lambda.of(k), net.lambda[static_cast<std::size_t>(k)], 0);
  for (Index j = 0; j < columns.count; ++j) same.entry("scale", j, model.scale(j), columns.scale(j), columns.scale(j));
  for (Index k = 0; k < model.lambda.size(); ++k) {
    const Duality& at = found[static_cast<std::size_t>(k)];
    const Vector b = model.coefficients.of.row(k);
    const double intercept = net.intercept ? intercept_of(columns, b) : 0;
    const double spread = std::sqrt(columns.total / columns.mass);
    same.entry("intercept", k, model.intercept.of(k), intercept,
               std::abs(columns.y_mean) + columns.mean.cwiseAbs().dot(b.cwiseAbs()) + 1e-3 * spread);
    same.entry("df", k, model.df.of(k), static_cast<double>((b.array() != 0).count()), 0);
    same.entry("rss", k, model.rss.of(k), at.rss, at.rss + 1e-6 * columns.total);
    const double share = columns.total > 0 ? 1 - at.rss / columns.total : PathModel<Spec>::kNone;
    same.entry("deviance_ratio", k, model.deviance_ratio.of(k), share, 1);
    same.entry("norm", k, model.norm.of(k), at.norm, at.norm);
    same.entry("objective", k, model.objective.of(k), at.objective, at.objective + 1e-6 * columns.total);
    same.entry("gap", k, model.gap.of(k), at.gap, 1, net.tolerance);
  }
  same.relative("chosen_lambda", model.chosen_lambda,
                choose_lambda(net, model.lambda.of, model.rss.of, model.df.of, columns.weight));
}

template <class Spec>
Certificate certify_path(const PathModel<Spec>& model, const Rows& rows, const Execution& execution) {
  const ElasticNet net = as_net(model.spec);
  const NetPenalty penalty = penalty_of(Spec::name, net, rows);
  const StandardisedColumns columns = columns_of(Spec::name, net, penalty, rows, execution.part(0, 0.5));
  const Matrix c = model.coefficients.of * columns.scale.asDiagonal();
  const auto found = duality(columns, penalty, model.lambda.of, c, bound_of(model.spec), execution.part(0.5, 1));
  Vector gaps(model.lambda.size());
  for (Index k = 0; k < gaps.size(); ++k) gaps(k) = found[static_cast<std::size_t>(k)].gap;
  Certificate out = certificate_of(gaps, net.tolerance, 0, "converged");
  if (!out.holds()) return out;
  Comparison same;
  compare_numbers(same, model, columns, found);
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace
}  // namespace net

LassoModel fit(const Valid<Lasso>& spec, const Rows& rows, const FitOptions& options) {
  return net::fit_path(*spec, rows, options);
}
Certificate certify(const LassoModel& model, const Rows& rows, const Execution& execution) {
  return net::certify_path(model, rows, execution);
}
ElasticNetModel fit(const Valid<ElasticNet>& spec, const Rows& rows, const FitOptions& options) {
  return net::fit_path(*spec, rows, options);
}
Certificate certify(const ElasticNetModel& model, const Rows& rows, const Execution& execution) {
  return net::certify_path(model, rows, execution);
}

template const Method& method_of<ElasticNet>();
template const Method& method_of<Lasso>();

}  // namespace lemma
