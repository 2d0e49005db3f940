// lemma/mixture/mixture/products.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/special.hpp>
#include <lemma/mixture/mixture/products.hpp>
#include <numbers>

namespace lemma::products {
namespace {

constexpr double kNoMass = 1e-12;  // of all rows: a component with less has died

/// Keeps `value` at least `least`.
void lift(double& value, double least, bool& binds) {
  if (value >= least) return;
  value = least;
  binds = true;
}

/// log v!, of small whole numbers from a table.
double log_factorial(double v) {
  static const std::vector<double> small = [] {
    std::vector<double> out;
    for (int n = 0; n < 512; ++n) out.push_back(log_gamma(n + 1.0));
    return out;
  }();
  if (!(v > 0)) return 0;
  return v < 512 && v == std::floor(v) ? small[static_cast<std::size_t>(v)] : log_gamma(v + 1);
}

double clipped_probability(double p, double floor, bool& binds) {
  if (p < floor || p > 1 - floor) binds = true;
  return std::clamp(p, floor, 1 - floor);
}

}  // namespace

Vector shares_above(const Vector& counts, double floor, bool& binds) {
  const Index n = counts.size();
  floor = std::min(floor, 1 / static_cast<double>(n));
  std::vector<bool> low(lemma::at(n), false);
  Vector out(n);
  for (bool changed = true; changed;) {
    changed = false;
    double left = 1, total = 0;
    for (Index l = 0; l < n; ++l) (low[lemma::at(l)] ? left : total) += low[lemma::at(l)] ? -floor : counts(l);
    for (Index l = 0; l < n; ++l) {
      out(l) = low[lemma::at(l)] ? floor : total > 0 ? left * counts(l) / total : left / static_cast<double>(n);
      if (!low[lemma::at(l)] && out(l) < floor) low[lemma::at(l)] = changed = true;
    }
  }
  binds = binds || std::find(low.begin(), low.end(), true) != low.end();
  return out;
}

Index parameter_count(const Ground& ground, Index k) {
  Index each = 0;
  for (Index j = 0; j < ground.width(); ++j)
    each += ground.is(j, Kind::gaussian) ? 2 : ground.is(j, Kind::categorical) ? ground.levels[at(j)] - 1 : 1;
  if (!ground.counts.empty()) each -= 1;  // shares of one
  return k - 1 + k * each;
}

Products::Products(std::shared_ptr<const Ground> ground, Matrix values, Matrix variances, Matrix probabilities)
    : ground_(std::move(ground)),
      values_(std::move(values)),
      variances_(std::move(variances)),
      probabilities_(std::move(probabilities)) {
  hold_up();
  make_tables();
}

void Products::hold_up() {
  const Ground& g = *ground_;
  if (g.floor == 0) return;
  for (Index k = 0; k < count(); ++k) {
    for (Index j = 0; j < g.width(); ++j) {
      double& value = values_(k, j);
      switch (g.kind[lemma::at(j)]) {
        case Kind::gaussian: lift(variances_(k, j), g.floor * g.variance(j), floor_binds_); break;
        case Kind::bernoulli: value = clipped_probability(value, g.floor, floor_binds_); break;
        case Kind::poisson:
        case Kind::exponential: lift(value, g.floor * g.mean(j), floor_binds_); break;
        case Kind::categorical: {
          const Index first = g.first[lemma::at(j)], levels = g.levels[lemma::at(j)];
          probabilities_.row(k).segment(first, levels) =
              shares_above(probabilities_.row(k).segment(first, levels).transpose(), g.floor, floor_binds_).transpose();
          break;
        }
        case Kind::multinomial: break;
      }
    }
    if (g.counts.empty()) continue;
    const Vector shares = shares_above(values_.row(k)(g.counts).transpose(), g.floor, floor_binds_);
    for (std::size_t c = 0; c < g.counts.size(); ++c) values_(k, g.counts[c]) = shares(static_cast<Index>(c));
  }
}

void Products::make_tables() {
  const Ground& g = *ground_;
  log_values_ = log_others_ = Matrix::Zero(count(), g.width());
  log_probabilities_ = probabilities_.array().log().matrix();
  for (Index k = 0; k < count(); ++k)
    for (Index j = 0; j < g.width(); ++j) {
      if (g.is(j, Kind::categorical)) continue;
      const bool gaussian = g.is(j, Kind::gaussian);
      log_values_(k, j) = std::log(gaussian ? variances_(k, j) : values_(k, j));
      if (gaussian) log_values_(k, j) = -0.5 * (std::log(2 * std::numbers::pi) + log_values_(k, j));
      if (g.is(j, Kind::bernoulli)) log_others_(k, j) = std::log1p(-values_(k, j));
    }
}

void Products::log_densities(const MatrixView& x, Eigen::Ref<Matrix> out) const {
  const Ground& g = *ground_;
  for (Index i = 0; i < x.rows(); ++i) {
    out.row(i).setZero();
    double trials = 0, common = 0;  // what is the same for all components
    for (Index j = 0; j < g.width(); ++j) {
      const double v = x(i, j);
      if (std::isnan(v)) continue;
      switch (g.kind[lemma::at(j)]) {
        case Kind::gaussian:
          for (Index k = 0; k < count(); ++k) {
            const double d = v - values_(k, j);
            out(i, k) += log_values_(k, j) - 0.5 * d * d / variances_(k, j);
          }
          break;
        case Kind::bernoulli:
          for (Index k = 0; k < count(); ++k) out(i, k) += v > 0 ? log_values_(k, j) : log_others_(k, j);
          break;
        case Kind::categorical: {
          const auto level = static_cast<Index>(v);
          if (!(v >= 0 && level < g.levels[lemma::at(j)])) break;  // a level that was never seen
          for (Index k = 0; k < count(); ++k) out(i, k) += log_probabilities_(k, g.first[lemma::at(j)] + level);
          break;
        }
        case Kind::poisson:
          common -= log_factorial(v);
          for (Index k = 0; k < count(); ++k) out(i, k) += v * log_values_(k, j) - values_(k, j);
          break;
        case Kind::exponential:
          for (Index k = 0; k < count(); ++k) out(i, k) -= v / values_(k, j) + log_values_(k, j);
          break;
        case Kind::multinomial:
          trials += v;
          common -= log_factorial(v);
          for (Index k = 0; k < count(); ++k) out(i, k) += v * log_values_(k, j);
          break;
      }
    }
    if (!g.counts.empty()) common += log_factorial(trials);
    for (Index k = 0; k < count(); ++k) out(i, k) += common;
  }
}

void Products::add(const MatrixView& x, const MatrixView& r, std::span<double> sums) const {
  const Ground& g = *ground_;
  const Index p = g.width(), each = 3 * p + g.all_levels;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < p; ++j) {
      const double v = x(i, j);
      if (std::isnan(v)) continue;
      const bool gaussian = g.is(j, Kind::gaussian);
      if (g.is(j, Kind::categorical)) {
        const auto level = static_cast<Index>(v);
        if (!(v >= 0 && level < g.levels[lemma::at(j)])) continue;
        for (Index k = 0; k < count(); ++k) {
          double* own = sums.data() + k * each;
          own[3 * j] += r(i, k);
          own[3 * p + g.first[lemma::at(j)] + level] += r(i, k);
        }
        continue;
      }
      const double d = gaussian ? v - g.mean(j) : v;
      for (Index k = 0; k < count(); ++k) {
        double* own = sums.data() + k * each + 3 * j;
        own[0] += r(i, k);
        own[1] += r(i, k) * d;
        if (gaussian) own[2] += r(i, k) * d * d;
      }
    }
}

std::shared_ptr<const em::Components> Products::maximised(const Vector&, std::span<const double> sums) const {
  const Ground& g = *ground_;
  const Index p = g.width(), each = 3 * p + g.all_levels;
  Matrix values = values_, variances = variances_, probabilities = probabilities_;
  for (Index k = 0; k < count(); ++k) {
    const double* own = sums.data() + k * each;
    for (Index j = 0; j < p; ++j) {
      const double mass = own[3 * j], sum = own[3 * j + 1];
      if (!(mass > kNoMass * g.weight)) continue;  // it stays as it is
      switch (g.kind[lemma::at(j)]) {
        case Kind::gaussian: {
          const double shift = sum / mass;
          values(k, j) = g.mean(j) + shift;
          variances(k, j) = std::max(0.0, own[3 * j + 2] / mass - shift * shift);
          break;
        }
        case Kind::categorical:
          for (Index l = 0; l < g.levels[lemma::at(j)]; ++l)
            probabilities(k, g.first[lemma::at(j)] + l) = own[3 * p + g.first[lemma::at(j)] + l] / mass;
          break;
        case Kind::multinomial: break;
        default: values(k, j) = sum / mass;
      }
    }
    double trials = 0;
    for (const Index j : g.counts) trials += own[3 * j + 1];
    for (const Index j : g.counts)
      if (trials > 0 && own[3 * j] > kNoMass * g.weight) values(k, j) = own[3 * j + 1] / trials;
  }
  return std::make_shared<Products>(ground_, std::move(values), std::move(variances), std::move(probabilities));
}

double Products::distance(const em::Components& to) const {
  const auto& other = static_cast<const Products&>(to);
  const Ground& g = *ground_;
  double most = probabilities_.size() > 0 ? (other.probabilities_ - probabilities_).cwiseAbs().maxCoeff() : 0;
  for (Index k = 0; k < count(); ++k)
    for (Index j = 0; j < g.width(); ++j) {
      const double way = std::abs(other.values_(k, j) - values_(k, j));
      switch (g.kind[lemma::at(j)]) {
        case Kind::gaussian:
          most = std::max({most, way / std::sqrt(variances_(k, j)),
                           std::abs(other.variances_(k, j) - variances_(k, j)) / variances_(k, j)});
          break;
        case Kind::poisson: most = std::max(most, way / std::max(values_(k, j), std::sqrt(values_(k, j)))); break;
        case Kind::exponential: most = std::max(most, way / values_(k, j)); break;
        default: most = std::max(most, way);
      }
    }
  return most;
}

/// Means in standard deviations of all rows, logarithms of variances, rates, scales and shares, log odds of probabilities.
Vector Products::coordinates() const {
  const Ground& g = *ground_;
  const Index p = g.width(), each = 2 * p + g.all_levels;
  Vector out = Vector::Zero(count() * each);
  for (Index k = 0; k < count(); ++k) {
    auto own = out.segment(k * each, each);
    for (Index j = 0; j < p; ++j) {
      const double value = values_(k, j);
      if (g.is(j, Kind::gaussian)) {
        own(j) = (value - g.mean(j)) / std::sqrt(g.variance(j));
        own(p + j) = std::log(variances_(k, j));
      } else if (g.is(j, Kind::bernoulli)) {
        own(j) = std::log(value) - std::log1p(-value);
      } else if (!g.is(j, Kind::categorical)) {
        own(j) = std::log(value);
      }
    }
    own.tail(g.all_levels) = log_probabilities_.row(k).transpose();
  }
  return out;
}

std::shared_ptr<const em::Components> Products::at(const Vector& coordinates) const {
  const Ground& g = *ground_;
  const Index p = g.width(), each = 2 * p + g.all_levels;
  Matrix values = values_, variances = variances_, probabilities = probabilities_;
  for (Index k = 0; k < count(); ++k) {
    const auto own = coordinates.segment(k * each, each);
    for (Index j = 0; j < p; ++j) {
      if (g.is(j, Kind::gaussian)) {
        values(k, j) = g.mean(j) + own(j) * std::sqrt(g.variance(j));
        variances(k, j) = std::exp(own(p + j));
      } else if (g.is(j, Kind::bernoulli)) {
        values(k, j) = logistic(own(j));
      } else if (!g.is(j, Kind::categorical)) {
        values(k, j) = std::exp(own(j));
      } else {
        const Index first = g.first[lemma::at(j)], levels = g.levels[lemma::at(j)];
        const auto logs = own.segment(2 * p + first, levels);
        Vector shares = (logs.array() - logs.maxCoeff()).exp().matrix();
        probabilities.row(k).segment(first, levels) = (shares / shares.sum()).transpose();
      }
    }
    double total = 0;
    for (const Index j : g.counts) total += values(k, j);
    for (const Index j : g.counts) values(k, j) /= total;
  }
  if (!values.allFinite() || !variances.allFinite() || !probabilities.allFinite()) return nullptr;
  return std::make_shared<Products>(ground_, std::move(values), std::move(variances), std::move(probabilities));
}

}  // namespace lemma::products
