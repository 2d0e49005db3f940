// lemma/mixture/variational_gmm/certify.cpp: one more step, and the bound, by another route than the fit's.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/wishart.hpp>
#include <lemma/mixture/variational_gmm/beliefs.hpp>
#include <lemma/model/claim.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {
namespace variational {
namespace {

/// Entries over the units of their row and column: columns of very different sizes would hide each other's eigenvalues.
Matrix in_units(const Matrix& matrix, const Vector& unit) {
  return unit.cwiseInverse().asDiagonal() * matrix * unit.cwiseInverse().asDiagonal();
}

/// q(μ_k, Λ_k) by the eigenvectors of Ψ_k in units of its diagonal, and the part of log ρ that no row changes.
struct Form {
  Vector mean, unit;
  Eigenpairs pairs;
  double nu, beta, constant;

  Form(const VariationalGmmModel& m, Index k)
      : mean(m.means.row(k)), nu(*m.spec.degrees + m.rows(k)), beta(m.spec.strength + m.rows(k)) {
    const Index p = m.width();
    const Matrix psi = nu * m.covariances.middleRows(k * p, p);
    unit = psi.diagonal().cwiseSqrt();
    pairs = symmetric_eigen(in_units(psi, unit));
    const double a = *m.spec.concentration, all = a * static_cast<double>(m.k()) + m.rows.sum();
    double log_det = -pairs.values.array().log().sum() - 2 * unit.array().log().sum();  // E log det Λ
    for (Index j = 0; j < p; ++j) log_det += std::numbers::ln2 + digamma(0.5 * (nu - static_cast<double>(j)));
    constant = digamma(a + m.rows(k)) - digamma(all) + 0.5 * log_det -
               0.5 * static_cast<double>(p) * (std::log(2 * std::numbers::pi) + 1 / beta);
  }
  double log_rho(const auto& row) const {
    const Vector turned = pairs.vectors.transpose() * (row.transpose() - mean).cwiseQuotient(unit);
    return constant - 0.5 * nu * (turned.array().square() / pairs.values.array()).sum();
  }
};

/// Weight, mean and scatter of the rows that each component takes, pairwise; and the entropy of r.
struct Parted {
  const std::vector<Form>* forms;
  std::vector<Moments> moments;
  double entropy = 0;

  void accumulate(const Block& block) {
    const auto count = std::ssize(*forms);
    Matrix r(block.rows(), count);
    for (Index i = 0; i < block.rows(); ++i) {
      for (Index k = 0; k < count; ++k) r(i, k) = (*forms)[at(k)].log_rho(block.x.row(i));
      const double most = r.row(i).maxCoeff(), total = most + std::log((r.row(i).array() - most).exp().sum());
      for (Index k = 0; k < count; ++k) {
        const double l = r(i, k) - total, w = block.weight_of(i);
        r(i, k) = w * std::exp(l);
        if (r(i, k) > 0) entropy -= r(i, k) * l;
      }
    }
    for (Index k = 0; k < count; ++k) {
      const Vector own = r.col(k);
      Block part(block.x, block.first);
      part.weight = {own.data(), at(own.size())};
      moments[at(k)].accumulate(part);
    }
  }
  void merge(const Parted& other) {
    for (std::size_t k = 0; k < moments.size(); ++k) moments[k].merge(other.moments[k]);
    entropy += other.entropy;
  }
};

double log_det(const Matrix& scale) {
  const Vector unit = scale.diagonal().cwiseSqrt();
  return symmetric_eigen(in_units(scale, unit)).values.array().log().sum() + 2 * unit.array().log().sum();
}

struct Looked {
  double movement = 0, bound = 0;
  double digit = 0;  // the last one of the means, in standard deviations
};

/// The evidence of the rows as r parts them, each part under the conjugate prior, plus the entropy of r: the bound at the best beliefs for
/// this r. At a fixed point it is the bound.
Looked looked_at(const VariationalGmmModel& m, const std::vector<Form>& forms, const Parted& found) {
  const Index p = m.width(), count = m.k();
  const auto columns = static_cast<double>(p);
  const double a0 = *m.spec.concentration, b0 = m.spec.strength, n0 = *m.spec.degrees;
  const Matrix prior = m.spec.size * m.spread;
  Looked out;
  double all = 0;
  out.bound = found.entropy - static_cast<double>(count) * log_gamma(a0);
  for (Index k = 0; k < count; ++k) {
    const Moments& part = found.moments[at(k)];
    const double n = part.weight(), nu = n0 + n;
    const Vector apart = n > 0 ? Vector(part.mean() - m.centre) : Vector::Zero(p);
    Matrix scale = prior;
    if (n > 0) scale += part.scatter() + b0 * n / (b0 + n) * apart * apart.transpose();
    all += n;
    out.bound += log_gamma(a0 + n) - 0.5 * n * columns * std::log(std::numbers::pi) + log_multigamma(p, 0.5 * nu) -
                 log_multigamma(p, 0.5 * n0) + 0.5 * n0 * log_det(prior) - 0.5 * nu * log_det(scale) +
                 0.5 * columns * std::log(b0 / (b0 + n));
    const Form& form = forms[at(k)];
    const Vector length = form.pairs.values.cwiseSqrt();
    const Vector way =
        form.pairs.vectors.transpose() * (m.centre + n / (b0 + n) * apart - form.mean).cwiseQuotient(form.unit);
    // A mean is known to its last digit only, and no number is nearer to it.
    const Vector digit = std::numeric_limits<double>::epsilon() * (form.mean.cwiseAbs() + m.centre.cwiseAbs());
    const Vector unseen = form.pairs.vectors.transpose().cwiseAbs() * digit.cwiseQuotient(form.unit);
    const double last = std::sqrt(form.nu) * unseen.cwiseQuotient(length).norm();
    out.digit = std::max(out.digit, last);
    Matrix change = form.pairs.vectors.transpose() * in_units(form.nu / nu * scale, form.unit) * form.pairs.vectors;
    change.diagonal() -= form.pairs.values;
    change = length.cwiseInverse().asDiagonal() * change * length.cwiseInverse().asDiagonal();
    out.movement = std::max({out.movement, std::abs(n - m.rows(k)) / m.rows.sum(), change.cwiseAbs().maxCoeff(),
                             std::sqrt(form.nu) * way.cwiseQuotient(length).norm() - last});
  }
  out.bound += log_gamma(a0 * static_cast<double>(count)) - log_gamma(a0 * static_cast<double>(count) + all);
  return out;
}

}  // namespace
}  // namespace variational

Certificate certify(const VariationalGmmModel& model, const Rows& rows, const Execution& execution) {
  using namespace variational;
  const auto all = scan(rows, Moments(rows.width()), execution.part(0, 0.2));
  const double n = all.weight();
  const Matrix s = all.covariance(n);
  std::vector<Form> forms;
  for (Index k = 0; k < model.k(); ++k) forms.emplace_back(model, k);
  const Parted empty{&forms, std::vector<Moments>(at(model.k()), Moments(model.width()))};
  const Looked found = looked_at(model, forms, scan(rows, empty, execution.part(0.2, 1)));

  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "movement in one more step";
  out.tolerance = std::min(kLoosestClaim, std::max(1e-8, claimed(model.spec.tolerance)));
  out.value = std::isfinite(found.bound) ? found.movement : NAN;
  out.iterations = model.iterations;
  out.stopped = out.holds()                                     ? "converged"
                : model.iterations >= model.spec.max_iterations ? "iteration limit"
                                                                : "not converged";
  const double unit = std::abs(found.bound) + n * static_cast<double>(model.width());
  const std::string moves = fmt::format("one more step moves a share, a mean or a covariance by {} (allowed {})",
                                        residue_text(out.value, out.tolerance), format_significant(out.tolerance, 2));
  if (!out.holds()) {
    out.message = fmt::format("Not a fixed point: {}. Raise max_iterations ({}) or the concentration.", moves,
                              model.spec.max_iterations);
    return out;
  }
  Comparison same;
  for (Index j = 0; j < model.width(); ++j) {
    const double size = std::sqrt(s(j, j));
    same.entry("centre", j, model.centre(j), all.mean()(j), size + 1e-6 * std::abs(all.mean()(j)));
    for (Index l = 0; l < model.width(); ++l)
      same.entry("spread", j * model.width() + l, model.spread(j, l), s(j, l), size * std::sqrt(s(l, l)));
  }
  const double allowed = 1e-9 + out.tolerance * out.tolerance + found.digit;
  same.number("lower_bound", model.lower_bound, found.bound, unit, allowed);
  same.number("trace", model.trace(model.trace.size() - 1), model.lower_bound, unit, 1e-12);
  double fall = 0;
  for (Index i = 0; i + 1 < model.trace.size(); ++i) fall = std::max(fall, model.trace(i) - model.trace(i + 1));
  same.number("trace", fall, 0, unit);
  same.number("alive", model.alive, alive_of(model.rows), 1);
  const double a0 = *model.spec.concentration, total = model.rows.sum() + a0 * static_cast<double>(model.k());
  for (Index k = 0; k < model.k(); ++k) same.entry("weights", k, model.weights(k), (model.rows(k) + a0) / total, 1);
  out.message = fmt::format(
      "The bound never fell, is the evidence of the parted rows plus the entropy of their parting, and its end is a "
      "fixed point: {}.",
      moves);
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
