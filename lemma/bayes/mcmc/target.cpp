// lemma/bayes/mcmc/target.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/mcmc/gibbs.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>

namespace lemma::mcmc {
namespace {

/// Weights by class, and of numbers their mean, squares about a centre, and size.
struct Response {
  Vector counts;
  double centre = 0, weight = 0, sum = 0, squares = 0, size = 0;
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      weight += w;
      if (counts.size() > 0) {
        counts(block.label[at(i)]) += w;
      } else if (w > 0) {
        const double off = block.y[at(i)] - centre;
        sum += w * off;
        squares += w * off * off;
        size = std::max(size, std::abs(block.y[at(i)]));
      }
    }
  }
  void merge(const Response& other) {
    counts += other.counts;
    weight += other.weight;
    sum += other.sum;
    squares += other.squares;
    size = std::max(size, other.size);
  }
};

void require_counts(const Rows& rows) {
  BlockBuffer buffer;
  const Block all = rows.outcome(0, rows.count(), buffer);
  for (Index i = 0; i < all.rows(); ++i) {
    const double y = all.y[at(i)];
    if (!(y >= 0) || y != std::floor(y))
      throw Error(
          fmt::format("mcmc: the poisson family is for counts, and '{}' is {:g} in row {}; use --family gaussian",
                      rows.target, y, i + 1));
  }
}

}  // namespace

McmcFamily family_of(const Mcmc& spec, const Rows& rows) {
  const std::size_t classes = rows.classes.size();
  const McmcFamily family = spec.family.value_or(classes == 0  ? McmcFamily::gaussian
                                                 : classes > 2 ? McmcFamily::softmax
                                                               : McmcFamily::logistic);
  const bool of_classes = family == McmcFamily::logistic || family == McmcFamily::softmax;
  if (of_classes && classes == 0)
    throw Error(fmt::format("mcmc: the {} family is for classes, and '{}' is numeric; use --family gaussian or poisson",
                            name_of(family), rows.target));
  if (!of_classes && classes > 0)
    throw Error(
        fmt::format("mcmc: the {} family is for numbers, and '{}' holds classes; use --family logistic or softmax",
                    name_of(family), rows.target));
  if (family == McmcFamily::logistic && classes > 2)
    throw Error(fmt::format("mcmc: the logistic family tells two classes apart, and '{}' has {}; use --family softmax",
                            rows.target, classes));
  if (family == McmcFamily::poisson) require_counts(rows);
  if (spec.noise && family != McmcFamily::gaussian)
    throw Error(fmt::format("mcmc: noise is for the gaussian family, and this is {}", name_of(family)));
  return family;
}

Index planes_of(McmcFamily family, std::size_t classes) {
  return family == McmcFamily::softmax ? static_cast<Index>(classes) : 1;
}

Sizes sizes_of(const Mcmc& spec, const Rows& rows, const Execution& execution) {
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution.part(0, 0.5));
  Sizes out{Vector::Zero(rows.width()), Vector::Ones(rows.width())};
  Response empty{Vector::Zero(static_cast<Index>(rows.classes.size()))};
  Response found = scan(rows, empty, execution.part(0.5, 0.75));
  out.rows = found.weight;
  if (!(out.rows > 0)) throw Error("mcmc: no row has a weight above 0");
  for (Index k = 0; k < found.counts.size(); ++k)
    if (!(found.counts(k) > 0))
      throw Error(fmt::format("mcmc: no row of class '{}' has a weight", rows.classes[at(k)]));
  if (*spec.family == McmcFamily::gaussian) {
    if (!std::isfinite(found.sum) || found.size > 1e140)
      throw Error(
          fmt::format("mcmc: the values of '{}' are too large to be squared (they reach {:.0e}); use another unit",
                      rows.target, found.size));
    if (spec.intercept) {
      out.centre = found.sum / found.weight;
      empty.centre = out.centre;
      found = scan(rows, empty, execution.part(0.75, 1));
    }
    out.unit = std::sqrt(found.squares / found.weight);
    if (!(out.unit > 1e-14 * found.size)) out.unit = found.size > 0 ? found.size : 1;
  }
  const Vector deviation = moments.deviation();
  for (Index j = 0; j < rows.width(); ++j) {
    const double size = std::max(std::abs(moments.least()(j)), std::abs(moments.greatest()(j)));
    if (!std::isfinite(deviation(j)) || !std::isfinite(moments.mean()(j)) || (!spec.standardize && size > 1e140))
      throw Error(
          fmt::format("mcmc: the values of '{}' are too large to be squared (they reach {:.0e}); use another unit",
                      rows.features[at(j)], size));
    if (spec.intercept) out.mean(j) = moments.mean()(j);
    if (!spec.standardize) continue;
    if (deviation(j) > 1e-14 * size) out.scale(j) = deviation(j) * std::sqrt((out.rows - 1) / out.rows);
    else if (size > 0) out.scale(j) = size;
  }
  return out;
}

Target::Target(const Mcmc& spec, const Sizes& sizes, const Rows& rows, const Execution& execution)
    : family_(*spec.family),
      planes_(planes_of(family_, rows.classes.size())),
      terms_(rows.width() + (spec.intercept ? 1 : 0)),
      lead_(spec.intercept ? 1 : 0),
      draws_noise_(family_ == McmcFamily::gaussian && !spec.noise),
      alpha_(spec.alpha),
      sigma_(spec.noise.value_or(1) / sizes.unit),
      rows_(sizes.rows),
      z_(rows.count(), terms_),
      t_(Vector::Zero(rows.count())),
      weight_(rows.count()),
      label_(at(rows.count()), 0) {
  const Index size = block_rows(rows.width());
  parallel_for((rows.count() + size - 1) / size, execution, [&](Index b) {
    BlockBuffer buffer;
    const Index first = b * size;
    const Block block = rows.read(first, std::min(size, rows.count() - first), buffer);
    for (Index i = 0; i < block.rows(); ++i) {
      if (lead_ == 1) z_(first + i, 0) = 1;
      for (Index j = 0; j < block.x.cols(); ++j)
        z_(first + i, lead_ + j) = (block.x(i, j) - sizes.mean(j)) / sizes.scale(j);
      weight_(first + i) = block.weight_of(i);
      if (!block.label.empty()) label_[at(first + i)] = block.label[at(i)];
      else t_(first + i) = (block.y[at(i)] - sizes.centre) / sizes.unit;
    }
  });
  if (family_ != McmcFamily::gaussian) return;
  Matrix all(z_.rows(), terms_ + 1);  // Σ w (t − zc)² = ‖R [c −1]‖²
  all << z_, t_;
  all = weight_.cwiseSqrt().asDiagonal() * all;
  const Matrix r = triangle_of(all);
  z_ = r.leftCols(terms_);
  t_ = r.col(terms_);
  weight_ = Vector::Ones(r.rows());
}

double Target::prior(const Vector& theta, Vector* gradient) const {
  double value = 0;
  for (Index k = 0; k < planes_; ++k)
    for (Index j = 0; j < terms_; ++j) {
      const double precision = j < lead_ ? kInterceptPrecision : alpha_, c = theta(k * terms_ + j);
      value += 0.5 * precision * c * c;
      if (gradient) (*gradient)(k * terms_ + j) += precision * c;
    }
  if (!draws_noise_) return value;
  const double log_sigma = theta(theta.size() - 1);
  if (gradient) (*gradient)(theta.size() - 1) += log_sigma;
  return value + 0.5 * log_sigma * log_sigma;
}

double Target::operator()(const Vector& theta, Vector* gradient) const {
  if (gradient) gradient->setZero(size());
  const double loss = family_ == McmcFamily::softmax ? of_classes(theta, gradient) : of_plane(theta, gradient);
  return loss + prior(theta, gradient);
}

double Target::of_classes(const Vector& theta, Vector* gradient) const {
  const Index n = z_.rows();
  double value = 0;
  const Eigen::Map<const Matrix> c(theta.data(), planes_, terms_);
  Matrix p = z_ * c.transpose();
  for (Index i = 0; i < n; ++i) value -= weight_(i) * p(i, label_[at(i)]);
  value += weight_.dot(softmax_rows(p));
  if (!gradient) return value;
  for (Index i = 0; i < n; ++i) {
    p(i, label_[at(i)]) -= 1;
    p.row(i) *= weight_(i);
  }
  Eigen::Map<Matrix>(gradient->data(), planes_, terms_).noalias() = p.transpose() * z_;
  return value;
}

double Target::of_plane(const Vector& theta, Vector* gradient) const {
  double value = 0;
  Vector pull = z_ * theta.head(terms_);
  if (family_ == McmcFamily::gaussian) {
    const double log_sigma = draws_noise_ ? theta(terms_) : std::log(sigma_), by = std::exp(-2 * log_sigma);
    pull -= t_;
    const double squares = pull.squaredNorm() * by;
    value = 0.5 * squares + (draws_noise_ ? rows_ * log_sigma : 0);
    if (gradient && draws_noise_) (*gradient)(terms_) = rows_ - squares;
    pull *= by;
  } else {
    for (Index i = 0; i < pull.size(); ++i) {
      const double eta = pull(i), w = weight_(i);
      if (family_ == McmcFamily::poisson) {
        const double mu = std::exp(eta);
        value += w == 0 ? 0 : w * (mu - t_(i) * eta);
        pull(i) = w == 0 ? 0 : w * (mu - t_(i));
      } else {
        const bool positive = label_[at(i)] == 1;
        value += w * log1p_exp(positive ? -eta : eta);
        if (gradient) pull(i) = w * (positive ? -logistic(-eta) : logistic(eta));
      }
    }
  }
  if (gradient) gradient->head(terms_).noalias() = z_.transpose() * pull;
  return value;
}

/// Of U; of a Gaussian with its noise the expected one, which has no terms between coefficients and noise.
Matrix Target::curvature(const Vector& theta) const {
  Matrix h = Matrix::Zero(size(), size());
  if (family_ == McmcFamily::softmax) {
    const Eigen::Map<const Matrix> c(theta.data(), planes_, terms_);
    Matrix p = z_ * c.transpose();
    softmax_rows(p);
    for (Index a = 0; a < planes_; ++a)
      for (Index b = 0; b <= a; ++b) {
        ask();
        const Vector w =
            weight_.cwiseProduct(p.col(a)).cwiseProduct(a == b ? Vector(1 - p.col(a).array()) : Vector(-p.col(b)));
        const Matrix part = z_.transpose() * (w.asDiagonal() * z_);
        h.block(a * terms_, b * terms_, terms_, terms_) = part;
        h.block(b * terms_, a * terms_, terms_, terms_) = part;
      }
  } else {
    Vector w = z_ * theta.head(terms_);
    for (Index i = 0; i < w.size(); ++i) {
      const double eta = w(i);
      if (family_ == McmcFamily::gaussian) w(i) = std::exp(draws_noise_ ? -2 * theta(terms_) : -2 * std::log(sigma_));
      else if (family_ == McmcFamily::poisson) w(i) = weight_(i) * std::exp(eta);
      else w(i) = weight_(i) * logistic(eta) * logistic(-eta);
    }
    h.topLeftCorner(terms_, terms_) = z_.transpose() * (w.asDiagonal() * z_);
    if (draws_noise_) h(terms_, terms_) = 2 * rows_ + 1;
  }
  for (Index k = 0; k < planes_; ++k)
    for (Index j = 0; j < terms_; ++j) h(k * terms_ + j, k * terms_ + j) += j < lead_ ? kInterceptPrecision : alpha_;
  return h;
}

Round round_about_the_mode(const Target& target, const Execution& execution) {
  Vector theta = Vector::Zero(target.size()), gradient, next_gradient;
  double value = target(theta, &gradient);
  std::optional<Matrix> r;
  for (int step = 0; step < 200; ++step) {
    if (execution.cancelled()) throw Cancelled();
    r = cholesky(target.curvature(theta));
    if (!r) break;
    const Vector direction = -solve_upper(*r, solve_upper_transposed(*r, Matrix(gradient)));
    const double gain = -direction.dot(gradient);
    if (!(gain > 1e-20)) break;
    double share = 1, now = NAN;
    for (; share > 1e-12; share /= 2) {
      now = target(theta + share * direction, &next_gradient);
      if (now <= value - 1e-4 * share * gain || (gain < 1e-9 && now <= value + 1e-12 * std::abs(value))) break;
    }
    if (!(share > 1e-12)) break;
    theta += share * direction;
    value = now;
    gradient = next_gradient;
  }
  if (!r || !theta.allFinite())
    throw Error("mcmc: the posterior has no mode that can be found; standardize the columns or raise alpha");
  return {theta, solve_upper(*r, Matrix::Identity(theta.size(), theta.size()))};
}

Energy rounded(const Target& target, const Round& round) {
  return [&, theta = Vector(target.size()), slope = Vector(target.size())](const Vector& q, Vector* gradient) mutable {
    theta = round.mode;
    theta.noalias() += round.from_q * q;
    const double value = target(theta, gradient ? &slope : nullptr);
    if (gradient) gradient->noalias() = round.from_q.transpose() * slope;
    return value;
  };
}

Draws drawn(const Mcmc& spec, const Target& target, const Round& round, std::uint64_t seed,
            const Execution& execution) {
  const Index d = target.size();
  const bool steps = spec.sampler != McmcSampler::gibbs;  // in q; gibbs has θ itself
  std::vector<Chain> chains(at(spec.chains));
  parallel_for(spec.chains, execution, [&](Index k) {
    const Energy energy = rounded(target, round);
    RandomStream random(seed, static_cast<std::uint64_t>(k));
    Vector start(d);
    for (double& each : start) each = 1.5 * random.normal();
    while (!std::isfinite(energy(start, nullptr)) && start.norm() > 1e-6) start /= 2;
    chains[at(k)] = steps ? run_chain(spec, energy, start, random)
                          : run_gibbs(spec, target, round.mode + round.from_q * start, random);
  });
  Draws out{Matrix(spec.chains * Index{spec.draws}, d), Vector(spec.chains * Index{spec.draws})};
  for (Index k = 0; k < spec.chains; ++k) {
    const Chain& chain = chains[at(k)];
    if (steps)
      out.theta.middleRows(k * spec.draws, spec.draws) =
          (chain.q * round.from_q.transpose()).rowwise() + round.mode.transpose();
    else out.theta.middleRows(k * spec.draws, spec.draws) = chain.q;
    out.energy.segment(k * spec.draws, spec.draws) = chain.energy;
    out.step += chain.step / spec.chains;
    out.acceptance += chain.acceptance / spec.chains;
    out.divergences += chain.divergences;
  }
  return out;
}

}  // namespace lemma::mcmc
