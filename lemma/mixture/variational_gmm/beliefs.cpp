// lemma/mixture/variational_gmm/beliefs.cpp: the two halves of a step, and the bound between them.
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/wishart.hpp>
#include <lemma/mixture/shared/spread.hpp>
#include <lemma/mixture/variational_gmm/beliefs.hpp>

namespace lemma::variational {
namespace {

Matrix triangle(const MatrixView& scale) {
  const auto r = cholesky(scale);
  require(r.has_value(),
          "variational_gmm: the scale of a component is lost to rounding; scale the columns, or take fewer");
  return *r;
}

/// One step's sums, and Σ w log Σ_k ρ_k.
struct Looked {
  const Asker* asker;
  const Prior* prior;
  Sums sums;
  double log_rho = 0;

  void accumulate(const Block& block) {
    Matrix r = asker->log_rho(block.x);
    const Vector total = softmax_rows(r);
    for (Index i = 0; i < r.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w > 0) log_rho += w * total(i);
      r.row(i) *= w;
    }
    sums.add(block.x, prior->centre, r);
  }
  void merge(const Looked& other) {
    sums.merge(other.sums);
    log_rho += other.log_rho;
  }
};

/// The farthest way of a share, of a mean in standard deviations, of a covariance relative to itself.
double distance(const Prior& prior, const Beliefs& from, const Beliefs& to, const Asker& asker) {
  const Index p = prior.centre.size();
  double most = (to.rows - from.rows).cwiseAbs().maxCoeff() / std::max(from.rows.sum(), 1e-300);
  for (Index k = 0; k < prior.components; ++k) {
    const Matrix& u = asker.triangle(k);
    const double nu = prior.degrees + from.rows(k), next = prior.degrees + to.rows(k);
    const double way = std::sqrt(nu) * divide_by_upper(to.means.row(k) - from.means.row(k), u).norm();
    const Matrix change = to.scales.middleRows(k * p, p) * (nu / next) - from.scales.middleRows(k * p, p);
    const Matrix turned = solve_upper_transposed(u, divide_by_upper(change, u));
    most = std::max({most, way, turned.cwiseAbs().maxCoeff()});
  }
  return most;
}

}  // namespace

Prior prior_of(const VariationalGmm& spec, const Vector& centre, const Matrix& spread) {
  const Index k = spec.components;
  return {k,
          spec.concentration.value_or(1 / static_cast<double>(k)),
          spec.strength,
          spec.degrees.value_or(static_cast<double>(centre.size())),
          centre,
          spec.size * spread};
}

Asker::Asker(const Prior& prior, const Beliefs& beliefs) : prior_(prior), beliefs_(beliefs) {
  const Index p = prior.centre.size();
  for (Index k = 0; k < prior.components; ++k) {
    roots_.push_back(variational::triangle(beliefs.scales.middleRows(k * p, p)));
    triangles_.emplace_back(roots_.back());
  }
}

Matrix Asker::squares(const MatrixView& x) const {
  Matrix out(x.rows(), prior_.components), y(x.rows(), x.cols());
  for (Index k = 0; k < prior_.components; ++k) {
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j) y(i, j) = (x(i, j) - prior_.centre(j)) - beliefs_.means(k, j);
    triangles_[at(k)].divide(y);
    for (Index i = 0; i < x.rows(); ++i) out(i, k) = mixture::square_sum(&y(i, 0), x.cols());
  }
  return out;
}

double Asker::expected_log_det(Index k) const {
  const Index p = prior_.centre.size();
  double out = static_cast<double>(p) * std::numbers::ln2 - log_determinant(roots_[at(k)]);
  for (Index j = 0; j < p; ++j) out += digamma(0.5 * (prior_.degrees + beliefs_.rows(k) - static_cast<double>(j)));
  return out;
}

double Asker::expected_log_share(Index k) const {
  const double all = prior_.concentration * static_cast<double>(prior_.components) + beliefs_.rows.sum();
  return digamma(prior_.concentration + beliefs_.rows(k)) - digamma(all);
}

Matrix Asker::log_rho(const MatrixView& x) const {
  const auto p = static_cast<double>(x.cols());
  Matrix out = squares(x);
  for (Index k = 0; k < prior_.components; ++k) {
    const double n = beliefs_.rows(k), nu = prior_.degrees + n, beta = prior_.strength + n;
    const double constant =
        expected_log_share(k) + 0.5 * (expected_log_det(k) - p * std::log(2 * std::numbers::pi) - p / beta);
    for (Index i = 0; i < x.rows(); ++i) out(i, k) = constant - 0.5 * nu * out(i, k);
  }
  return out;
}

Matrix Asker::log_predictive(const MatrixView& x) const {
  const Index p = x.cols();
  const double all = prior_.concentration * static_cast<double>(prior_.components) + beliefs_.rows.sum();
  Matrix out = squares(x);
  for (Index k = 0; k < prior_.components; ++k) {
    const double n = beliefs_.rows(k), beta = prior_.strength + n, df = prior_.degrees + n + 1 - static_cast<double>(p);
    const double by = (1 + beta) / (beta * df);  // of Ψ: the scale matrix
    const double log_det = log_determinant(roots_[at(k)]) + static_cast<double>(p) * std::log(by);
    const double share = std::log((prior_.concentration + n) / all);
    for (Index i = 0; i < x.rows(); ++i) out(i, k) = share + t_log_density(p, df, log_det, out(i, k) / by);
  }
  return out;
}

double Asker::divergence() const {
  const Index p = prior_.centre.size(), count = prior_.components;
  const auto columns = static_cast<double>(p), components = static_cast<double>(count);
  const double a0 = prior_.concentration, b0 = prior_.strength, n0 = prior_.degrees;
  const Matrix root = variational::triangle(prior_.scale);
  const auto log_b = [&](double nu, const Matrix& u) {  // of Wishart's density: its constant
    return 0.5 * nu * log_determinant(u) - 0.5 * nu * columns * std::numbers::ln2 - log_multigamma(p, 0.5 * nu);
  };
  double out =
      log_gamma(a0 * components + beliefs_.rows.sum()) - log_gamma(a0 * components) + components * log_gamma(a0);
  for (Index k = 0; k < count; ++k) {
    const double n = beliefs_.rows(k), nu = n0 + n, beta = b0 + n;
    const Matrix& u = roots_[at(k)];
    out += n * expected_log_share(k) - log_gamma(a0 + n);
    const double apart = nu * divide_by_upper(beliefs_.means.row(k), u).squaredNorm();
    out += 0.5 * (columns * b0 / beta + b0 * apart - columns + columns * std::log(beta / b0));
    out += 0.5 * n * expected_log_det(k) - 0.5 * nu * columns + 0.5 * nu * divide_by_upper(root, u).squaredNorm() +
           log_b(nu, u) - log_b(n0, root);
  }
  return out;
}

Sums::Sums(const Matrix& about_means)
    : about(about_means),
      mass(Vector::Zero(about.rows())),
      shift(Matrix::Zero(about.rows(), about.cols())),
      scatter(Matrix::Zero(about.rows() * about.cols(), about.cols())) {}

void Sums::add(const MatrixView& x, const Vector& centre, const Matrix& r) {
  const Index p = x.cols();
  Matrix d(x.rows(), p);
  for (Index k = 0; k < about.rows(); ++k) {
    for (Index i = 0; i < x.rows(); ++i) {
      const double own = r(i, k), root = std::sqrt(own);
      mass(k) += own;
      for (Index j = 0; j < p; ++j) {
        const double away = (x(i, j) - centre(j)) - about(k, j);
        shift(k, j) += own * away;
        d(i, j) = root * away;
      }
    }
    blas::gram(d, scatter.middleRows(k * p, p), 1);
  }
}

void Sums::merge(const Sums& other) {
  mass += other.mass;
  shift += other.shift;
  scatter += other.scatter;
}

Beliefs updated(const Prior& prior, const Sums& sums) {
  const Index p = prior.centre.size();
  Beliefs out{sums.mass, Matrix::Zero(prior.components, p), Matrix(prior.components * p, p)};
  for (Index k = 0; k < prior.components; ++k) {
    const double n = sums.mass(k);
    auto scale = out.scales.middleRows(k * p, p);
    scale = prior.scale;
    if (!(n > 1e-200)) continue;
    const Matrix upper = sums.scatter.middleRows(k * p, p).triangularView<Eigen::Upper>();
    const Vector way = sums.shift.row(k) / n, mean = sums.about.row(k).transpose() + way;
    const Matrix squared_way = way * way.transpose(),
                 squared_mean = mean * mean.transpose();  // symmetric to the last bit
    Matrix scatter = upper.selfadjointView<Eigen::Upper>();
    scatter -= n * squared_way;
    scale += scatter + prior.strength * n / (prior.strength + n) * squared_mean;
    out.means.row(k) = n / (prior.strength + n) * mean;
  }
  return out;
}

Step step(const Rows& rows, const Prior& prior, const Beliefs& at, const Execution& execution) {
  const Asker asker(prior, at);
  const Looked found = scan(rows, Looked{&asker, &prior, Sums(at.means)}, execution);
  Step out{found.log_rho - asker.divergence(), updated(prior, found.sums), 0};
  out.movement = distance(prior, at, out.next, asker);
  return out;
}

}  // namespace lemma::variational
