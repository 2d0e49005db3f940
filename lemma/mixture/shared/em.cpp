// lemma/mixture/shared/em.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/special.hpp>
#include <lemma/mixture/shared/em.hpp>
#include <optional>

namespace lemma::em {
namespace {

constexpr Index kTile = 256;  // rows whose densities stay in the cache until the M-step has seen them

/// E, and the sums of M, at one mixture.
struct Expectation {
  const Mixture* at;
  double log_likelihood = 0, hard = 0, weight = 0;
  Vector mass;
  std::vector<double> sums;

  explicit Expectation(const Mixture& mixture)
      : at(&mixture),
        mass(Vector::Zero(mixture.components->count())),
        sums(static_cast<std::size_t>(mixture.components->sums_size())) {}

  void accumulate(const Block& block) {
    Matrix r;
    for (Index first = 0; first < block.rows(); first += kTile) {
      const auto x = block.x.middleRows(first, std::min(kTile, block.rows() - first));
      const Vector log_density = responsibilities(*at, x, r);
      for (Index i = 0; i < x.rows(); ++i) {
        const double w = block.weight_of(first + i);
        if (w == 0) {
          r.row(i).setZero();
          continue;
        }
        weight += w;
        log_likelihood += w * log_density(i);
        hard += w * std::log(r.row(i).maxCoeff());
        if (w != 1) r.row(i) *= w;
        for (Index k = 0; k < mass.size(); ++k) mass(k) += r(i, k);
      }
      at->components->add(x, r, sums);
    }
  }
  void merge(const Expectation& other) {
    log_likelihood += other.log_likelihood;
    hard += other.hard;
    weight += other.weight;
    mass += other.mass;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
  }
};

/// Weights by their logarithms, then the components.
std::optional<Vector> coordinates_of(const Mixture& mixture) {
  if (!(mixture.weights.minCoeff() > 1e-300)) return {};
  const Vector inner = mixture.components->coordinates();
  Vector out(mixture.weights.size() + inner.size());
  out << mixture.weights.array().log().matrix(), inner;
  return out;
}

std::optional<Mixture> mixture_at(const Vector& coordinates, const Mixture& like) {
  const Index k = like.weights.size();
  if (!coordinates.allFinite()) return {};
  Vector weights = (coordinates.head(k).array() - coordinates.head(k).maxCoeff()).exp().matrix();
  weights /= weights.sum();
  auto components = like.components->at(coordinates.tail(coordinates.size() - k));
  if (!components) return {};
  return Mixture{std::move(weights), std::move(components)};
}

/// The end of a long step from three mixtures in a row.
std::optional<Mixture> extrapolated(const Mixture& first, const Mixture& second, const Mixture& third) {
  const auto a = coordinates_of(first), b = coordinates_of(second), c = coordinates_of(third);
  if (!a || !b || !c) return {};
  const Vector r = *b - *a, v = *c - *b - r;
  if (!(v.norm() > 0)) return {};
  const double s = std::max(1.0, r.norm() / v.norm());
  return mixture_at(*a + 2 * s * r + s * s * v, first);
}

/// One way from a start, in scans.
class Way {
 public:
  Way(const Rows& rows, const Mixture& start, const Limits& limits, const Execution& execution)
      : rows_(rows), limits_(limits), execution_(execution) {
    run_.mixture = start;
    take(start, look(start));
  }

  Run finished() {
    try {
      while (!arrived()) {
        if (limits_.solver == Solver::squarem) long_step();
        else advance();
      }
    } catch (const Cancelled&) { run_.cancelled = true; }
    return std::move(run_);
  }

 private:
  bool arrived() const {
    return run_.movement <= limits_.movement || static_cast<Index>(run_.trace.size()) >= limits_.iterations;
  }
  Step look(const Mixture& at) {
    const double done = static_cast<double>(run_.trace.size()) / static_cast<double>(limits_.iterations);
    return step(rows_, at, execution_.part(done, done));
  }
  void take(const Mixture& at, Step found) {
    run_.mixture = at;
    run_.log_likelihood = found.log_likelihood;
    run_.movement = found.movement;
    run_.trace.push_back(found.log_likelihood);
    next_ = std::move(found.next);
    execution_.report(static_cast<double>(run_.trace.size()) / static_cast<double>(limits_.iterations),
                      "log-likelihood " + format_significant(run_.log_likelihood, 8));
  }
  void advance() {
    const Mixture at = next_;
    take(at, look(at));
  }
  void long_step() {
    const Mixture first = run_.mixture;
    advance();
    if (arrived()) return;
    if (const auto far = extrapolated(first, run_.mixture, next_)) {
      Step found = look(*far);
      if (found.log_likelihood >= run_.log_likelihood) return take(*far, std::move(found));
    }
    advance();
  }

  const Rows& rows_;
  const Limits limits_;
  const Execution& execution_;
  Run run_;
  Mixture next_;
};

}  // namespace

Vector responsibilities(const Mixture& mixture, const MatrixView& x, Matrix& r) {
  const Index k = mixture.components->count();
  r.resize(x.rows(), k);
  mixture.components->log_densities(x, r);
  for (Index c = 0; c < k; ++c) r.col(c).array() += std::log(mixture.weights(c));
  return softmax_rows(r);
}

Step step(const Rows& rows, const Mixture& at, const Execution& execution) {
  const auto found = scan(rows, Expectation(at), execution);
  Step out;
  out.log_likelihood = found.log_likelihood;
  out.hard = found.hard;
  out.weight = found.weight;
  out.mass = found.mass;
  out.next.weights = found.mass / found.mass.sum();
  out.next.components = at.components->maximised(found.mass, found.sums);
  out.movement =
      std::max((out.next.weights - at.weights).cwiseAbs().maxCoeff(), at.components->distance(*out.next.components));
  return out;
}

Run run(const Rows& rows, const Mixture& start, const Limits& limits, const Execution& execution) {
  return Way(rows, start, limits, execution).finished();
}

}  // namespace lemma::em
