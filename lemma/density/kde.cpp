// lemma/density/kde.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/kde/bandwidth.hpp>
#include <limits>
#include <mutex>

namespace lemma {
namespace kde {

class Kept {
 public:
  const Sums& get(const KdeModel& model) {
    std::call_once(once_, [&] { sums_.emplace(model.points, model.weights, model.bandwidth, model.spec.kernel); });
    return *sums_;
  }

 private:
  std::once_flag once_;
  std::optional<Sums> sums_;
};

std::shared_ptr<Kept> nothing_kept() { return std::make_shared<Kept>(); }

}  // namespace kde

namespace {

/// log (c_d h₁ ⋯ h_d).
double log_volume(const KdeModel& model) {
  return kde::log_volume(model.spec.kernel, model.width()) + model.bandwidth.array().log().sum();
}

/// ‖u‖ ≤ 1 with a density in proportion to D(‖u‖): a direction, and a radius that is taken with the probability D.
void draw_bump(DensityKernel kernel, RandomStream& random, Vector& u) {
  for (double& each : u) each = random.normal();
  if (kernel == DensityKernel::gaussian) return;
  double radius = 0;
  do {
    radius = std::pow(random.uniform(), 1 / static_cast<double>(u.size()));
  } while (!(random.uniform() < kde::profile(kernel, radius * radius)));
  u *= radius / u.norm();
}

}  // namespace

void KdeModel::check() const {
  const Index n = points.rows();
  require(n > 0 && width() > 0 && weights.size() == n && bandwidth.size() == width(),
          "kde: rows, weights and bandwidth do not fit together");
  require(all_finite(points) && weights.allFinite() && (weights.array() > 0).all(), "kde: a kept row is not usable");
  require(bandwidth.allFinite() && (bandwidth.array() > 0).all() && std::isfinite(loo_log_likelihood),
          "kde: a bandwidth or the likelihood is not usable");
  if (const auto* given = std::get_if<std::vector<double>>(&spec.bandwidth))
    require(kde::given_bandwidth(*given, width()) == bandwidth, "kde: the bandwidth is not the one given");
}

Vector KdeModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  const kde::Sums& sums = kept->get(*this);
  double mass = 0;
  for (const double w : weights) mass += w;
  const double constant = log_volume(*this) + std::log(mass);
  const double least =
      spec.kernel == DensityKernel::gaussian ? -std::numeric_limits<double>::max() : density::kLogOfNothing;
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    const bool known = x.row(i).allFinite();
    out(i) = known ? std::max(sums.log_sum(x.row(i).data(), 1, spec.tolerance) - constant, least)
                   : std::numeric_limits<double>::quiet_NaN();
  }
  return out;
}

DrawnRows KdeModel::draw(Index count, std::uint64_t seed) const {
  std::vector<double> end(at(weights.size()));
  double mass = 0;
  for (Index i = 0; i < weights.size(); ++i) end[at(i)] = mass += weights(i);
  DrawnRows out{Matrix(count, width())};
  Vector u(width());
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, at(i));
    const auto found = std::upper_bound(end.begin(), end.end(), random.uniform() * mass);
    const Index row = std::min<Index>(found - end.begin(), weights.size() - 1);
    draw_bump(spec.kernel, random, u);
    for (Index j = 0; j < width(); ++j) out.x(i, j) = points(row, j) + bandwidth(j) * u(j);
  }
  return out;
}

std::string KdeModel::summary(const Names& names) const {
  TextTable table;
  std::vector<std::string> features;
  for (Index j = 0; j < width(); ++j)
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
  table.words("column", features).numbers("bandwidth", {bandwidth.begin(), bandwidth.end()}, 5);
  const auto* rule = std::get_if<BandwidthRule>(&spec.bandwidth);
  return fmt::format("Density of {} with {} kernels, bandwidth {}\n\n", count_of(points.rows(), "row"),
                     name_of(spec.kernel), rule ? fmt::format("by {}", name_of(*rule)) : "given") +
         table.str({.width = 100}) +
         fmt::format("\nlog-likelihood of rows by the others {}{}\n", format_significant(loo_log_likelihood, 7),
                     points.rows() > kMostJudged ? fmt::format(" (from {} of them)", format_count(kMostJudged)) : "");
}

KdeModel fit(const Valid<Kde>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  density::DensityRows data = density::density_rows(Kde::name, rows, execution.part(0, 0.1));
  if (data.mass <= 1) throw Error("kde: one row leaves nothing when it is left out; give at least 2");
  KdeModel model;
  model.spec = *spec;
  model.bandwidth = kde::bandwidth_of(*spec, data, rows.features, execution.part(0.1, 0.6));
  if (!model.bandwidth.allFinite() || !(model.bandwidth.array() > 0).all())
    throw Error("kde: the rows' spread is beyond the range of numbers; scale the columns first ('scale | kde')");
  model.points = std::move(data.x);
  model.weights = std::move(data.weight);
  const kde::Sums& sums = model.kept->get(model);
  model.loo_log_likelihood =
      kde::left_out_likelihood(sums, model.weights, data.mass, 1, log_volume(model), KdeModel::kMostJudged,
                               model.spec.tolerance, execution.part(0.6, 0.8, "leaving rows out"));
  model.certificate = certify(model, rows, execution.part(0.8, 1));
  return model;
}

template const Method& method_of<Kde>();

}  // namespace lemma
