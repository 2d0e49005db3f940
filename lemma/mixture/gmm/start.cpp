// lemma/mixture/gmm/start.cpp: what is known of the rows before the first step, and where EM begins.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/lloyd.hpp>
#include <lemma/geometry/lloyd/start.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/mixture/gmm/components.hpp>
#include <lemma/mixture/shared/spread.hpp>

namespace lemma::gmm {
namespace {

constexpr Index kLloydIterations = 30;

/// Columns in units of their standard deviations about their means: k-means should not depend on units.
class ScaledRows final : public Rows {
 public:
  ScaledRows(const Rows& rows, const Ground& ground) : Rows(rows), rows_(rows), origin_(ground.origin) {
    unit_ = ground.covariance.diagonal().cwiseSqrt().unaryExpr([](double v) { return v > 0 ? v : 1.0; });
  }
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override {
    const Block block = rows_.read(first, size, buffer);
    Matrix scaled = ((block.x.rowwise() - origin_.transpose()).array().rowwise() / unit_.transpose().array()).matrix();
    const RowOutcome outcome = block;
    buffer.x = std::move(scaled);
    return {buffer.x, first, outcome};
  }
  const Vector& unit() const { return unit_; }

 private:
  const Rows& rows_;
  Vector origin_, unit_;
};

Matrix repeated(Covariance kind, const Ground& ground, Index k) {
  const Matrix& s = ground.covariance;
  if (kind == Covariance::full) return s.replicate(k, 1);
  if (kind == Covariance::tied) return s;
  if (kind == Covariance::diagonal) return s.diagonal().transpose().replicate(k, 1);
  return Matrix::Constant(k, 1, ground.mean_variance());
}

/// Equal weights and the covariance of all rows about each of the means.
em::Mixture mixture_at_means(const Matrix& means, Covariance kind, std::shared_ptr<const Ground> ground) {
  const Index k = means.rows();
  const Matrix relative = means.rowwise() - ground->origin.transpose();
  const Matrix covariances = repeated(kind, *ground, k);
  return {Vector::Constant(k, 1 / static_cast<double>(k)),
          std::make_shared<Gaussians>(kind, std::move(ground), relative, covariances)};
}

/// An M-step of rows that belong to one component each: `of(block)` says to which.
template <class Of>
struct HardStep {
  const em::Components* about;
  const Of* of;
  Vector mass;
  std::vector<double> sums;

  HardStep(const em::Components& components, const Of& label)
      : about(&components),
        of(&label),
        mass(Vector::Zero(components.count())),
        sums(lemma::at(components.sums_size())) {}
  void accumulate(const Block& block) {
    const Labels label = (*of)(block);
    Matrix r = Matrix::Zero(block.rows(), mass.size());
    for (Index i = 0; i < block.rows(); ++i) {
      r(i, label[lemma::at(i)]) = block.weight_of(i);
      mass(label[lemma::at(i)]) += block.weight_of(i);
    }
    about->add(block.x, r, sums);
  }
  void merge(const HardStep& other) {
    mass += other.mass;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
  }
};

template <class Of>
em::Mixture hard_mixture(const em::Mixture& about, const Of& of, const Rows& rows, const Execution& execution) {
  const auto found = scan(rows, HardStep<Of>(*about.components, of), execution);
  return {found.mass / found.mass.sum(), about.components->maximised(found.mass, found.sums)};
}

/// A cluster of a few rows has a covariance of none: each is mixed with p + 1 rows of the pooled one, so that no component
/// begins where it has shrunk already.
em::Mixture softened(const em::Mixture& hard, Covariance kind, std::shared_ptr<const Ground> ground) {
  if (kind == Covariance::tied || ground->variance) return hard;
  const auto& gaussians = static_cast<const Gaussians&>(*hard.components);
  const Index k = hard.weights.size(), each = gaussians.covariances().rows() / k;
  Matrix covariances = gaussians.covariances(), pooled = Matrix::Zero(each, covariances.cols());
  for (Index c = 0; c < k; ++c) pooled += hard.weights(c) * covariances.middleRows(c * each, each);
  const double prior = static_cast<double>(gaussians.means().cols() + 1);
  for (Index c = 0; c < k; ++c) {
    const double own = hard.weights(c) * ground->weight;
    auto sigma = covariances.middleRows(c * each, each);
    sigma = ((own * sigma + prior * pooled) / (own + prior)).eval();
  }
  return {hard.weights, std::make_shared<Gaussians>(kind, std::move(ground), gaussians.means(), covariances)};
}

em::Mixture kmeans_mixture(Covariance kind, Index k, const Rows& rows, std::shared_ptr<const Ground> ground,
                           const RandomStream& random, const Execution& execution) {
  const ScaledRows scaled(rows, *ground);
  const auto range = scan(scaled, ColumnMoments(rows.width()), execution.part(0, 0.1));
  const double far = std::max({range.greatest().maxCoeff(), -range.least().minCoeff(), 1e-100});
  const simd::Frame frame{Vector::Zero(rows.width()), std::ldexp(1.0, -std::ilogb(far) - 1)};
  const Matrix start = start_centers(KMeansStart::plus_plus, k, scaled, random, execution.part(0.1, 0.4));
  const auto run = lloyd(scaled, frame, start, {kLloydIterations, 0}, execution.part(0.4, 0.9));
  const Matrix centers = (run.centers.array().rowwise() * scaled.unit().transpose().array()).matrix().rowwise() +
                         ground->origin.transpose();
  return softened(mixture_around(centers, kind, rows, ground, execution.part(0.9, 1)), kind, ground);
}

bool has_equal_rows(const Matrix& x) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < i; ++j)
      if (x.row(i) == x.row(j)) return true;
  return false;
}

/// K different rows: two components that begin alike stay alike.
Matrix random_rows(Index k, const Rows& rows, const RandomStream& random, const Execution& execution) {
  constexpr std::uint64_t kDraws = 20;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    Matrix out = start_centers(KMeansStart::random, k, rows, random.split(draw), execution);
    if (!has_equal_rows(out)) return out;
  }
  return start_centers(KMeansStart::plus_plus, k, rows, random, execution);
}

}  // namespace

std::shared_ptr<const Ground> survey(const Gmm& spec, const Rows& rows, const Execution& execution) {
  const auto spread = mixture::spread_of("gmm", rows, execution.part(0, 0.9));
  for (const double each : spec.components) {
    const auto k = static_cast<Index>(each);
    if (const Index distinct = distinct_rows(rows, k, execution.part(0.9, 1)); distinct < k)
      throw Error(fmt::format("gmm: components is {}, but there {} only {} among {}; components can be at most {}", k,
                              distinct == 1 ? "is" : "are", count_of(distinct, "different row"),
                              format_count(rows.count()), distinct));
  }
  auto out = std::make_shared<Ground>();
  out->weight = spread.weight;
  out->origin = spread.mean;
  out->covariance = spread.covariance;
  out->floor = spec.variance ? 0 : spec.floor;
  out->variance = spec.variance;
  if (spec.covariance == Covariance::spherical) {
    if (!(out->mean_variance() > 0))
      throw Error("gmm: all rows are equal, which leaves no density; there is nothing to learn");
    return out;
  }
  mixture::require_spread_in_each("gmm", spread, rows, ", or take --covariance spherical");
  if (spec.covariance != Covariance::diagonal)
    out->root = mixture::triangle_of("gmm", spread, rows, ", or take --covariance diagonal");
  return out;
}

em::Mixture mixture_around(const Matrix& centers, Covariance kind, const Rows& rows,
                           std::shared_ptr<const Ground> ground, const Execution& execution) {
  const ScaledRows scaled(rows, *ground);
  const auto scale = [&](const MatrixView& x) -> Matrix {
    return ((x.rowwise() - ground->origin.transpose()).array().rowwise() / scaled.unit().transpose().array()).matrix();
  };
  const Matrix centers_scaled = scale(centers);
  const auto nearest = [&](const Block& block) {
    Labels label(lemma::at(block.rows()));
    std::vector<double> distance(lemma::at(block.rows()));
    simd::nearest(scale(block.x), centers_scaled, label, distance);
    return label;
  };
  return hard_mixture(mixture_at_means(centers, kind, ground), nearest, rows, execution);
}

em::Mixture mixture_of_labels(Index k, Covariance kind, const Rows& rows, std::shared_ptr<const Ground> ground,
                              const Execution& execution) {
  const Matrix middle = ground->origin.transpose().replicate(k, 1);
  const auto given = [](const Block& block) { return Labels(block.label.begin(), block.label.end()); };
  return hard_mixture(mixture_at_means(middle, kind, ground), given, rows, execution);
}

em::Mixture start_of(const Gmm& spec, Index k, const Rows& rows, std::shared_ptr<const Ground> ground,
                     std::uint64_t seed, Index start, const Execution& execution) {
  if (const auto* given = std::get_if<Matrix>(&spec.start)) return mixture_at_means(*given, spec.covariance, ground);
  const RandomStream random = RandomStream(seed, lemma::at(start)).split(lemma::at(k));
  if (std::get<GmmStart>(spec.start) == GmmStart::kmeans)
    return kmeans_mixture(spec.covariance, k, rows, ground, random, execution);
  return mixture_at_means(random_rows(k, rows, random, execution), spec.covariance, ground);
}

}  // namespace lemma::gmm
