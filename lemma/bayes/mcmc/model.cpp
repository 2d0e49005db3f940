// lemma/bayes/mcmc/model.cpp: what the draws say of rows, and words.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/mcmc/diagnostics.hpp>
#include <lemma/bayes/mcmc/predictors.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/special.hpp>

namespace lemma {

void McmcModel::check() const {
  const Index p = width(), count = Index{spec.chains} * spec.draws;
  require(p >= 1 && spec.family.has_value() && planes() >= 1 && coefficients.of.cols() == p &&
              intercept.size() == planes() && scale.size() == p,
          "mcmc: the arrays do not fit together");
  require(*spec.family == McmcFamily::softmax ? planes() >= 2 : planes() == 1,
          "mcmc: the planes do not fit the family");
  require(spec.noise ? *spec.family == McmcFamily::gaussian : true, "mcmc: only the gaussian family has a noise");
  const Index size = planes() * terms() + (draws_noise() ? 1 : 0);
  require(theta.rows() == count && theta.cols() == size && energy.size() == count && quantities.rows() == size &&
              quantities.cols() == 7,
          "mcmc: the draws do not fit together");
  require(theta.allFinite() && energy.allFinite() && quantities.allFinite() && mean.allFinite() && scale.allFinite() &&
              (scale.array() > 0).all() && std::isfinite(centre) && std::isfinite(unit) && unit > 0 &&
              coefficients.of.allFinite() && intercept.of.allFinite(),
          "mcmc: a number is not finite");
  require(divergences >= 0 && divergences <= count && acceptance >= 0 && acceptance <= 1 + 1e-9 && step > 0,
          "mcmc: how the chains went is not usable");
}

Vector McmcModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  require(!of_classes(), "mcmc: this is a model of classes; ask for the class");
  const bool counts = *spec.family == McmcFamily::poisson;
  Vector out(x.rows());
  mcmc::Predictors(*this).each(x, [&](Index first, const Matrix&, const Matrix& eta) {
    for (Index i = 0; i < eta.rows(); ++i) {
      double sum = 0;
      for (Index s = 0; s < eta.cols(); ++s) sum += counts ? std::exp(eta(i, s)) : eta(i, s);
      out(first + i) = centre + unit * (sum / static_cast<double>(eta.cols()));
    }
  });
  return out;
}

Matrix McmcModel::probabilities(const MatrixView& x) const {
  require_width(*this, x.cols());
  require(of_classes(), "mcmc: this is a model of numbers; it has no probabilities of classes");
  const Index k = planes();
  const auto count = static_cast<double>(theta.rows());
  Matrix out = Matrix::Zero(x.rows(), class_count());
  mcmc::Predictors(*this).each(x, [&](Index first, const Matrix&, const Matrix& eta) {
    std::vector<double> own(at(k));
    for (Index i = 0; i < eta.rows(); ++i) {
      for (Index s = 0; s < theta.rows(); ++s) {
        if (k == 1) {
          out(first + i, 0) += logistic(-eta(i, s)) / count;
          out(first + i, 1) += logistic(eta(i, s)) / count;
          continue;
        }
        double most = eta(i, s * k), total = 0;
        for (Index c = 1; c < k; ++c) most = std::max(most, eta(i, s * k + c));
        for (Index c = 0; c < k; ++c) total += own[at(c)] = std::exp(eta(i, s * k + c) - most);
        for (Index c = 0; c < k; ++c) out(first + i, c) += own[at(c)] / total / count;
      }
      double total = 0;
      for (Index c = 0; c < out.cols(); ++c) total += out(first + i, c);
      for (Index c = 0; c < out.cols(); ++c) out(first + i, c) /= total;
    }
  });
  return out;
}

Labels McmcModel::classify(const MatrixView& x) const { return greatest_class(probabilities(x)); }

Interval McmcModel::interval(const MatrixView& x, IntervalKind kind, double at_level) const {
  require_width(*this, x.cols());
  require(at_level > 0 && at_level < 1,
          fmt::format("the level of an interval is {}, must be above 0 and below 1", at_level));
  require(!of_classes(), "mcmc: classes have no interval");
  const bool counts = *spec.family == McmcFamily::poisson, anew = kind == IntervalKind::prediction;
  require(!(anew && counts),
          "mcmc: a new count has no interval of this kind; ask for the mean's by --interval confidence");
  Interval out{Vector(x.rows()), Vector(x.rows())};
  mcmc::Predictors(*this).each(x, [&](Index first, const Matrix&, const Matrix& eta) {
    for (Index i = 0; i < eta.rows(); ++i) {
      const Vector all = eta.row(i);
      const auto end = [&](double p) {
        double q = mcmc::quantile_of(all, p);
        if (!anew) return counts ? std::exp(q) : centre + unit * q;
        double widest = 0;  // the mixture of N(η, σ²) over the draws, by halving
        for (Index s = 0; s < all.size(); ++s) widest = std::max(widest, mcmc::sigma_of(*this, s));
        double low = all.minCoeff() - 40 * widest, high = all.maxCoeff() + 40 * widest;
        for (int halving = 0; halving < 60; ++halving) {
          q = 0.5 * (low + high);
          double below = 0;
          for (Index s = 0; s < all.size(); ++s) below += normal_cdf((q - all(s)) / mcmc::sigma_of(*this, s));
          (below < p * static_cast<double>(all.size()) ? low : high) = q;
        }
        return centre + unit * q;
      };
      out.lower(first + i) = end(0.5 - 0.5 * at_level);
      out.upper(first + i) = end(0.5 + 0.5 * at_level);
    }
  });
  return out;
}

std::string McmcModel::summary(const Names& names) const {
  std::string out =
      fmt::format("Family: {}, prior precision {}\n{} chains of {} draws by {}: acceptance {:.2f}, {} divergent\n",
                  name_of(*spec.family), format_significant(spec.alpha), spec.chains, spec.draws, name_of(spec.sampler),
                  acceptance, divergences == 0 ? "none" : fmt::format("{}", divergences));
  const auto column = [&](Index first, Index count, Index j) {
    const Vector c = quantities.col(j).segment(first, count);
    return std::vector<double>(c.begin(), c.end());
  };
  for (Index k = 0; k < planes(); ++k) {
    std::vector<std::string> rows;
    if (spec.intercept) rows.emplace_back("(Intercept)");
    for (Index j = 0; j < width(); ++j)
      rows.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
    Index count = terms();
    if (draws_noise()) {
      rows.emplace_back("sigma");
      ++count;
    }
    if (of_classes()) {
      const auto named = at(planes() == 1 ? 1 : k);
      out += fmt::format("\n{} of {}:\n", planes() == 1 ? "Log odds" : "Score",
                         named < names.classes.size() ? names.classes[named] : fmt::format("class {}", named + 1));
    } else {
      out += "\n";
    }
    const Index first = k * terms();
    std::vector<std::string> sizes, r_hats;
    for (Index j = 0; j < count; ++j) {
      sizes.push_back(fmt::format("{:.0f}", quantities(first + j, 5)));
      r_hats.push_back(fmt::format("{:.3f}", quantities(first + j, 6)));
    }
    out += TextTable()
               .words("", rows)
               .numbers("Mean", column(first, count, 0), 4)
               .numbers("SD", column(first, count, 1), 3)
               .numbers("Lower", column(first, count, 2), 4)
               .numbers("Upper", column(first, count, 3), 4)
               .numbers("MC error", column(first, count, 4), 2)
               .words("ESS", sizes)
               .words("R-hat", r_hats)
               .str({.gap = 2});
  }
  return out + fmt::format("\nLower and Upper hold {}% of the draws.\n", format_significant(100 * spec.level));
}

}  // namespace lemma
