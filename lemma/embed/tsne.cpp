// lemma/embed/tsne.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/embed/shared/value_order.hpp>
#include <lemma/embed/tsne.hpp>
#include <lemma/embed/tsne/parts.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/optimize/minimise.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kUsualPerplexity = 30;
constexpr Index kMostExact = 1000;     // rows
constexpr double kStartSpread = 1e-4;  // of the first dimension
constexpr int kLook = 25;              // rounds from one look at the length of the gradient to the next

void choose(Tsne& spec, Index n) {
  const auto others = static_cast<double>(n - 1);
  if (!spec.perplexity) spec.perplexity = std::min(kUsualPerplexity, std::max(1.5, others / 3));
  if (*spec.perplexity >= others)
    throw Error(fmt::format("tsne: perplexity is {:g}, must be below {}: there are {}", *spec.perplexity, n - 1,
                            count_of(n, "row")));
  if (!spec.forces) spec.forces = n <= kMostExact || spec.dimensions > 3 ? TsneForces::exact : TsneForces::barnes_hut;
  if (!spec.learning_rate)
    spec.learning_rate = std::max(50.0, static_cast<double>(n) / (4 * std::max(1.0, spec.exaggeration)));
  const double bytes = 8.0 * static_cast<double>(n) * static_cast<double>(n);
  if (*spec.forces == TsneForces::exact && bytes > 1e9 * spec.gigabytes)
    throw Error(
        fmt::format("tsne: the affinities of {} take {} of memory, and {} are allowed; take "
                    "'--forces barnes_hut', or raise --gigabytes",
                    count_of(n, "row"), format_bytes(bytes), format_bytes(1e9 * spec.gigabytes)));
}

/// Scores along the principal components; the places of classical scaling where dissimilarities are given.
Matrix scores_of(const Tsne& spec, const Compared& data, const Execution& execution) {
  const Matrix& points = data.points;
  if (points.rows() == 0) return classical_places(Tsne::name, data.dissimilarities, spec.dimensions, execution);
  const Index axes = std::min<Index>({spec.dimensions, points.cols(), points.rows() - 1});
  const double unit = points.cwiseAbs().maxCoeff();
  const Matrix x = points / (unit > 0 ? unit : 1);
  const Vector mean = x.colwise().mean();
  const LeadingSvd found = randomised_svd(MemoryRows(x), mean, {.count = axes, .seed = 1}, execution);
  return (x.rowwise() - mean.transpose()) * found.v;
}

/// Small places: scores along the principal components, or normal numbers.
Matrix start_of(const Tsne& spec, const Compared& data, std::uint64_t seed, const Execution& execution) {
  const Index n = data.count();
  Matrix out = normal_matrix(n, spec.dimensions, seed);
  if (spec.start == TsneStart::random) return kStartSpread * out;
  const Matrix scores = scores_of(spec, data, execution);
  const Index axes = scores.cols();
  const double spread = scores.col(0).norm() / std::sqrt(static_cast<double>(n));
  if (spread > 0) out.leftCols(axes) = scores / spread;
  out.rightCols(spec.dimensions - axes) *= 1e-2;  // an empty dimension would stay so: its gradient is 0
  return kStartSpread * out;
}

struct AsVector {
  const tsne::Affinities* p;
  double constant;  // Σ p log p
  Index dimensions;

  Matrix places(const Vector& y) const { return Eigen::Map<const Matrix>(y.data(), y.size() / dimensions, dimensions); }
  double value(const Vector& y) const {
    Vector gradient;
    return value(y, gradient);
  }
  double value(const Vector& y, Vector& gradient) const {
    const tsne::Forces forces = tsne::exact_forces(*p, places(y), true, *execution);
    const Matrix slope = forces.gradient();
    gradient = Eigen::Map<const Vector>(slope.data(), slope.size());
    return constant + forces.cross + std::log(forces.z);
  }
  const Execution* execution;
};

struct Found {
  Matrix places;
  long long rounds = 0;
  bool converged = false, cancelled = false;
};

/// Rounds with momentum, each number with a gain that grows while it keeps its direction (Jacobs 1988).
Found descend(const Tsne& spec, const tsne::Affinities& p, Matrix y, const Execution& execution) {
  const Execution silent = to_the_end(execution);
  const Hearing hearing(silent);
  Matrix velocity = Matrix::Zero(y.rows(), y.cols()), gains = Matrix::Ones(y.rows(), y.cols());
  Found out;
  for (int round = 0; round < spec.max_iterations && !out.converged; ++round) {
    execution.report(static_cast<double>(round) / spec.max_iterations, "places");
    if (execution.cancelled()) {
      if (round == 0) throw Cancelled();
      out.cancelled = true;
      break;
    }
    const bool early = round < spec.exaggerated;
    const tsne::Forces forces = *spec.forces == TsneForces::exact ? tsne::exact_forces(p, y, false, silent)
                                                                  : tsne::grouped_forces(p, y, spec.theta, silent);
    const Matrix slope = forces.gradient(early ? spec.exaggeration : 1);
    if (!early && round % kLook == 0 && slope.norm() <= spec.tolerance) {
      out.converged = true;
      break;
    }
    for (Index e = 0; e < y.size(); ++e) {
      double &gain = gains.data()[e], &v = velocity.data()[e];
      gain = v * slope.data()[e] < 0 ? gain + 0.2 : std::max(0.01, 0.8 * gain);
      v = (early ? 0.5 : 0.8) * v - *spec.learning_rate * gain * slope.data()[e];
    }
    y += velocity;
    y.rowwise() -= y.colwise().mean().eval();
    out.rounds = round + 1;
  }
  out.places = std::move(y);
  return out;
}

/// The quasi-Newton search that follows where forces are exact.
void finish(const Tsne& spec, const tsne::Affinities& p, Found& found, const Execution& execution) {
  const Execution silent = to_the_end(execution);
  const Hearing hearing(silent);
  const AsVector objective{&p, tsne::negative_entropy(p), found.places.cols(), &silent};
  MinimiseOptions options;
  options.most_iterations = spec.max_iterations;
  options.tolerance = 0;
  options.stop = [&](const Iterate& at) {
    execution.report(static_cast<double>(at.iteration) / spec.max_iterations, "least divergence");
    found.cancelled = execution.cancelled();
    return found.cancelled || at.gradient.norm() <= spec.tolerance;
  };
  const Minimum least =
      lbfgs(objective, Eigen::Map<const Vector>(found.places.data(), found.places.size()), options, 20);
  found.places = objective.places(least.x);
  found.rounds += least.iterations;
}

Certificate certificate_of(const tsne::Look& look, const Tsne& spec) {
  const bool exact = *spec.forces == TsneForces::exact;
  Certificate out;
  out.strength = exact ? Strength::stationary : Strength::none;
  out.kind = "gradient of the divergence";
  out.value = look.gradient;
  out.tolerance = 2 * spec.tolerance;
  out.stopped = out.value <= out.tolerance ? "converged" : "iteration limit";
  if (!exact)
    out.message = fmt::format(
        "Nothing is claimed: forces were summed over groups of places, and where they vanish the divergence need not "
        "be "
        "stationary. It is {:.4g}, and its gradient has length {:.1e}; '--forces exact' has a certificate.",
        look.divergence, look.gradient);
  else if (out.holds())
    out.message = fmt::format(
        "No small move of the places lowers the divergence of {:.4g}: gradient {:.1e} (allowed {:.0e}), and all rows "
        "have "
        "the perplexity {:g}.",
        look.divergence, out.value, out.tolerance, *spec.perplexity);
  else
    out.message = fmt::format(
        "The divergence of {:.4g} would still fall: gradient {:.1e} (allowed {:.0e}); raise --max_iterations.",
        look.divergence, out.value, out.tolerance);
  return out;
}

}  // namespace

void Tsne::check() const {
  if (forces == TsneForces::barnes_hut && dimensions > 3)
    throw Error(
        fmt::format("tsne: dimensions is {}, must be at most 3 for barnes_hut; take '--forces exact'", dimensions));
}

void TsneModel::check() const {
  check_embedded(Tsne::name, spec.input, spec.metric, spec.dimensions);
  require(spec.perplexity && spec.forces && spec.learning_rate && *spec.perplexity < static_cast<double>(count() - 1),
          "tsne: what was chosen is not told, or does not fit the rows");
  require(std::isfinite(kl_divergence) && bandwidths.size() == count() && bandwidths.allFinite() &&
              (bandwidths.array() > 0).all(),
          "tsne: the divergence or a bandwidth is not usable");
}

std::string TsneModel::summary(const Names&) const {
  return fmt::format("Kullback-Leibler divergence {} at perplexity {:g} ({} forces)\n\n",
                     format_significant(kl_divergence, 4), *spec.perplexity, name_of(*spec.forces)) +
         picture();
}

TsneModel fit(const Valid<Tsne>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  TsneModel model;
  model.spec = *spec;
  const Compared given = things_of(Tsne::name, spec->input, rows, spec->metric, execution.part(0, 0.02));
  given.require_all(Tsne::name);
  if (spec->input == Input::rows) model.spec.metric = given.metric;
  choose(model.spec, given.count());
  std::vector<Index> order(at(given.count()));  // of given things their own
  std::iota(order.begin(), order.end(), Index{0});
  if (spec->input == Input::rows) order = order_of(given.points);
  const Compared data = reordered(given, order);
  const tsne::Affinities p =
      tsne::affinities_of(data, *model.spec.forces, *model.spec.perplexity, execution.part(0.03, 0.1, "affinities"));
  if (p.crowded > 0)
    model.warnings.push_back(
        fmt::format("{} of {} have more equally near rows than the perplexity", p.crowded, count_of(p.count(), "row")));
  Found found = descend(model.spec, p, start_of(model.spec, data, options.seed, execution.part(0.1, 0.12)),
                        execution.part(0.12, 0.6));
  if (*model.spec.forces == TsneForces::exact && !found.converged && !found.cancelled)
    finish(model.spec, p, found, execution.part(0.6, 0.85));
  const Execution rest = found.cancelled ? to_the_end(execution) : execution;
  const Hearing hearing(rest);
  const Matrix turned = along_axes(found.places);
  model.places.resize(turned.rows(), turned.cols());
  model.bandwidths.resize(turned.rows());
  for (Index i = 0; i < turned.rows(); ++i) {
    model.places.row(order[at(i)]) = turned.row(i);
    model.bandwidths(order[at(i)]) = p.bandwidths(i);
  }
  const tsne::Look look = tsne::look_again(given, model, rest.part(0.85, 0.9));
  model.kl_divergence = look.divergence;
  model.describe(given, rows.width(), rest.part(0.9, 1, "quality of the picture"));
  model.certificate = certificate_of(look, model.spec);
  if (found.cancelled) say_cancelled(model.certificate, found.rounds);
  model.certificate.iterations = found.rounds;
  return model;
}

Certificate certify(const TsneModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Compared data =
      things_again(Tsne::name, model, model.spec.input, rows, model.spec.metric, same, execution.part(0, 0.05));
  data.require_all(Tsne::name);
  const tsne::Look look = tsne::look_again(data, model, execution.part(0.05, 0.6));
  same.number("bandwidths", look.off_perplexity, 0, 1, kAgree, fmt::format("row {} of ", look.row + 1));
  same.relative("kl_divergence", model.kl_divergence, look.divergence);
  compare_quality(same, model, data, execution.part(0.6, 1));
  Certificate out = certificate_of(look, model.spec);
  if (same.finding())
    out.strength = Strength::stationary;  // what is told of a picture is claimed, however it was found
  report(same, out);
  return out;
}

template const Method& method_of<Tsne>();

}  // namespace lemma
