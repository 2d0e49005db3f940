// lemma/mixture/variational_gmm.cpp: the way to the greatest bound, and what the beliefs say of rows.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/lloyd/start.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>
#include <lemma/mixture/gmm/components.hpp>
#include <lemma/mixture/shared/searched.hpp>
#include <lemma/mixture/shared/spread.hpp>
#include <lemma/mixture/variational_gmm/beliefs.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace variational {
namespace {

constexpr double kLeastShare = 0.5;  // of a row: a component with fewer is switched off

struct Run {
  Beliefs at;
  std::vector<double> trace;
  double movement = 0;
  bool cancelled = false;
};

/// The beliefs after rows that belong to the components of a mixture.
struct Begun {
  const em::Mixture* mixture;
  const Prior* prior;
  Sums sums;
  void accumulate(const Block& block) {
    Matrix r;
    em::responsibilities(*mixture, block.x, r);
    for (Index i = 0; i < r.rows(); ++i) r.row(i) *= block.weight_of(i);
    sums.add(block.x, prior->centre, r);
  }
  void merge(const Begun& other) { sums.merge(other.sums); }
};

Beliefs start_of(const Prior& prior, const Rows& rows, const std::shared_ptr<const gmm::Ground>& ground,
                 std::uint64_t seed, Index start, const Execution& execution) {
  const em::Mixture mixture = gmm::start_of(Gmm{}, prior.components, rows, ground, seed, start, execution.part(0, 0.7));
  const Matrix origin = Matrix::Zero(prior.components, prior.centre.size());
  return updated(prior, scan(rows, Begun{&mixture, &prior, Sums(origin)}, execution.part(0.7, 1)).sums);
}

Run run(const VariationalGmm& spec, const Prior& prior, const Rows& rows, Beliefs at, const Execution& execution) {
  Run out;
  out.at = std::move(at);
  for (int i = 0; i < spec.max_iterations; ++i) {
    const double done = static_cast<double>(i) / spec.max_iterations;
    if (execution.cancelled() && !out.trace.empty()) {
      out.cancelled = true;
      return out;
    }
    Step next = step(rows, prior, out.at, execution.part(done, done, "steps"));
    out.trace.push_back(next.bound);
    out.movement = next.movement;
    if (next.movement <= 0.5 * spec.tolerance || i + 1 == spec.max_iterations) break;
    out.at = std::move(next.next);
  }
  return out;
}

/// Those with the most rows first.
Beliefs ordered(const Beliefs& beliefs) {
  const Index count = beliefs.rows.size(), p = beliefs.means.cols();
  std::vector<Index> order(at(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return beliefs.rows(a) > beliefs.rows(b); });
  Beliefs out = beliefs;
  for (Index k = 0; k < count; ++k) {
    out.rows(k) = beliefs.rows(order[at(k)]);
    out.means.row(k) = beliefs.means.row(order[at(k)]);
    out.scales.middleRows(k * p, p) = beliefs.scales.middleRows(order[at(k)] * p, p);
  }
  return out;
}

VariationalGmm completed(const VariationalGmm& spec, const Rows& rows) {
  VariationalGmm out = spec;
  const auto p = static_cast<double>(rows.width());
  if (!out.concentration) out.concentration = 1.0 / spec.components;
  if (!out.degrees) out.degrees = p;
  if (!(*out.degrees > p - 1))
    throw Error(fmt::format("variational_gmm: degrees is {:g}, must be above {} for {}", *out.degrees, p - 1,
                            count_of(rows.width(), "column")));
  return out;
}

std::shared_ptr<const gmm::Ground> survey(const VariationalGmm& spec, const Rows& rows, const Execution& execution) {
  constexpr std::string_view name = VariationalGmm::name;
  const auto spread = mixture::spread_of(name, rows, execution.part(0, 0.9));
  if (const Index distinct = distinct_rows(rows, spec.components, execution.part(0.9, 1)); distinct < spec.components)
    throw Error(
        fmt::format("variational_gmm: components is {}, but there {} only {} among {}; components can be at most {}",
                    spec.components, distinct == 1 ? "is" : "are", count_of(distinct, "different row"),
                    format_count(rows.count()), distinct));
  mixture::require_spread_in_each(name, spread, rows, "");
  auto out = std::make_shared<gmm::Ground>();
  out->weight = spread.weight;
  out->origin = spread.mean;
  out->covariance = spread.covariance;
  out->root = mixture::triangle_of(name, spread, rows, "");
  out->floor = 1e-6;
  return out;
}

void take(VariationalGmmModel& model, const Prior& prior, const Run& best) {
  const Beliefs beliefs = ordered(best.at);
  const Index p = prior.centre.size();
  model.rows = beliefs.rows;
  model.means = beliefs.means.rowwise() + prior.centre.transpose();
  model.covariances = beliefs.scales;
  for (Index k = 0; k < prior.components; ++k)
    model.covariances.middleRows(k * p, p) /= prior.degrees + beliefs.rows(k);
  model.weights = (beliefs.rows.array() + prior.concentration) /
                  (beliefs.rows.sum() + prior.concentration * static_cast<double>(prior.components));
  model.alive = alive_of(beliefs.rows);
  model.lower_bound = best.trace.back();
  model.iterations = static_cast<int>(best.trace.size());
  model.trace = Eigen::Map<const Vector>(best.trace.data(), std::ssize(best.trace));
}

Certificate unverified(const VariationalGmmModel& model) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "movement in one more step";
  out.value = std::numeric_limits<double>::quiet_NaN();
  out.iterations = model.iterations;
  out.stopped = "cancelled";
  out.message = fmt::format("Cancelled after {}, and nothing was checked. 'lemma verify' looks again.",
                            count_of(model.iterations, "iteration"));
  return out;
}

}  // namespace

int alive_of(const Vector& rows) { return static_cast<int>((rows.array() >= kLeastShare).count()); }

Beliefs beliefs_of(const VariationalGmmModel& model) {
  const Index p = model.width();
  Beliefs out{model.rows, model.means.rowwise() - model.centre.transpose(), model.covariances};
  for (Index k = 0; k < model.k(); ++k) out.scales.middleRows(k * p, p) *= *model.spec.degrees + model.rows(k);
  return out;
}

namespace {

/// Asks a model about rows.
struct Ready {
  Prior prior;
  Beliefs beliefs;
  Asker asker;
  explicit Ready(const VariationalGmmModel& model)
      : prior(prior_of(model.spec, model.centre, model.spread)), beliefs(beliefs_of(model)), asker(prior, beliefs) {}
};

}  // namespace
}  // namespace variational

void VariationalGmmModel::check() const {
  const Index p = width();
  require(k() > 0 && p > 0 && k() == spec.components && rows.size() == k() && weights.size() == k() &&
              covariances.rows() == k() * p && covariances.cols() == p && centre.size() == p && spread.rows() == p &&
              spread.cols() == p,
          "variational_gmm: the arrays do not fit together");
  require(weights.allFinite() && rows.allFinite() && (rows.array() >= 0).all() && means.allFinite() &&
              covariances.allFinite() && centre.allFinite() && spread.allFinite() && trace.allFinite() &&
              std::isfinite(lower_bound),
          "variational_gmm: a number is not finite, or fewer than no rows");
  require(spec.concentration && spec.degrees && *spec.degrees > static_cast<double>(p) - 1,
          "variational_gmm: the prior is not whole");
  for (Index c = 0; c < k(); ++c) {
    const Matrix sigma = covariances.middleRows(c * p, p);
    require(sigma == sigma.transpose() && cholesky(sigma).has_value(),
            "variational_gmm: a covariance is not symmetric and positive definite");
  }
  require(spread == spread.transpose() && cholesky(spread).has_value(),
          "variational_gmm: the covariance of all rows is not symmetric and positive definite");
  require(0 <= alive && alive <= k(), "variational_gmm: more or fewer components are told of than there are");
  require(iterations > 0 && trace.size() == iterations,
          "variational_gmm: trace must have one number for each iteration");
}

Matrix VariationalGmmModel::memberships(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix r = variational::Ready(*this).asker.log_rho(x);
  softmax_rows(r);
  return r;
}

Vector VariationalGmmModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix l = variational::Ready(*this).asker.log_predictive(x);
  return softmax_rows(l);
}

Labels VariationalGmmModel::assign(const MatrixView& x) const { return mixture::likeliest_component(memberships(x)); }

DrawnRows VariationalGmmModel::draw(Index count, std::uint64_t seed) const {
  const variational::Ready ready(*this);
  const Index p = width();
  DrawnRows out{Matrix(count, p)};
  Vector z(p);
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, at(i));
    const Index c = mixture::drawn_component(weights, random);
    const double beta = spec.strength + rows(c), df = *spec.degrees + rows(c) + 1 - static_cast<double>(p);
    const double by = std::sqrt((1 + beta) / (beta * chi_squared_quantile(random.uniform() + 0x1p-54, df)));
    const Matrix& u = ready.asker.triangle(c);
    for (Index j = 0; j < p; ++j) z(j) = random.normal();
    for (Index j = 0; j < p; ++j) {
      double value = means(c, j);
      for (Index l = 0; l <= j; ++l) value += by * u(l, j) * z(l);
      out.x(i, j) = value;
    }
  }
  return out;
}

std::string VariationalGmmModel::summary(const Names& names) const {
  constexpr Index kMost = 50;
  const Index shown = std::min<Index>(alive, kMost);
  std::vector<std::string> component, counts;
  for (Index c = 0; c < shown; ++c) {
    component.push_back(fmt::format("{}", c + 1));
    counts.push_back(fmt::format("{:.1f}", rows(c)));
  }
  const auto head = [&](const Vector& v) { return std::vector<double>(v.begin(), v.begin() + shown); };
  TextTable table;
  table.right("component", component).numbers("weight", head(weights), 4).right("rows", counts);
  for (Index j = 0; j < width(); ++j)
    table.numbers(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1), head(means.col(j)),
                  4);
  // After how many steps hangs on rounding: that is a result, and no word of the page.
  std::string out = fmt::format("{} of {} needed\n\nShares and means:\n", alive, count_of(k(), "Gaussian")) +
                    table.str({.width = 100});
  if (shown < alive) out += fmt::format("... and {} more\n", alive - shown);
  return out + fmt::format("\nlower bound of log p(rows): {}\n", format_significant(lower_bound, 7));
}

VariationalGmmModel fit(const Valid<VariationalGmm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  VariationalGmmModel model;
  model.spec = variational::completed(*spec, rows);
  const auto ground = variational::survey(model.spec, rows, execution.part(0, 0.05));
  model.centre = ground->origin;
  model.spread = ground->covariance;
  const variational::Prior prior = variational::prior_of(model.spec, model.centre, model.spread);
  std::optional<variational::Run> best;
  bool cancelled = false;
  for (int start = 0; start < model.spec.restarts && !cancelled; ++start) {
    const double from = 0.05 + 0.85 * start / model.spec.restarts, to = from + 0.85 / model.spec.restarts;
    try {
      auto begun =
          variational::start_of(prior, rows, ground, options.seed, start, execution.part(from, 0.8 * from + 0.2 * to));
      auto found =
          variational::run(model.spec, prior, rows, std::move(begun), execution.part(0.8 * from + 0.2 * to, to));
      cancelled = found.cancelled;
      if (!best || found.trace.back() > best->trace.back()) best = std::move(found);
    } catch (const Cancelled&) {
      if (!best) throw;
      cancelled = true;
    }
  }
  variational::take(model, prior, *best);
  if (cancelled) model.warnings.emplace_back("cancelled: not all starts were finished");
  if (model.alive == model.spec.components && model.alive > 1)
    model.warnings.push_back(
        fmt::format("no component was switched off: there may be more than {}; raise --components", model.alive));
  try {
    model.certificate = cancelled ? variational::unverified(model) : certify(model, rows, execution.part(0.9, 1));
  } catch (const Cancelled&) { model.certificate = variational::unverified(model); }
  return model;
}

template const Method& method_of<VariationalGmm>();

}  // namespace lemma
