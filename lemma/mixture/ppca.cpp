// lemma/mixture/ppca.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/rows_like.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/mixture/ppca.hpp>
#include <lemma/mixture/shared/known_values.hpp>
#include <lemma/mixture/shared/plain_scatter.hpp>
#include <lemma/model/claim.hpp>
#include <limits>
#include <numbers>

namespace lemma {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kLeastNoise = 1e-13;  // of the greatest eigenvalue: below that noise is rounding

/// μ p, W up to a rotation, σ².
int parameter_count(Index p, Index q) { return static_cast<int>(p + p * q - q * (q - 1) / 2 + 1); }

bool by_em(const PpcaModel& model) { return model.missing || model.spec.solver == PpcaSolver::em; }

/// W and σ² of the greatest likelihood for this covariance.
factors::Factors from_covariance(const Vector& mean, const Matrix& covariance, Index q,
                                 const std::vector<std::string>& features) {
  const Index p = mean.size();
  const Eigenpairs pairs = symmetric_eigen(covariance);
  const double noise = pairs.values.tail(p - q).mean();
  if (!(noise > kLeastNoise * pairs.values(0))) {
    Index widest = 0;
    covariance.diagonal().maxCoeff(&widest);
    throw Error(
        fmt::format("ppca: beside {} no noise is left (the widest column is '{}'), which leaves no density; take fewer "
                    "components, or "
                    "scale the columns first ('scale | ppca')",
                    count_of(q, "direction"), features[at(widest)]));
  }
  factors::Factors out{mean, Matrix(p, q), Vector::Constant(p, noise)};
  for (Index k = 0; k < q; ++k)
    out.loadings.col(k) = std::sqrt(std::max(0.0, pairs.values(k) - noise)) * pairs.vectors.col(k);
  return out;
}

void take(PpcaModel& model, const factors::Factors& found) {
  model.mean = found.mean;
  model.loadings = found.loadings;
  model.noise = found.noise(0);
}

/// ℓ / n of a Gaussian with covariance C and mean μ for rows of covariance S and mean μ + δ.
double mean_log_density(const Matrix& c, const Matrix& s, const Vector& delta) {
  const Matrix root = *cholesky(c);
  const Matrix half = solve_upper_transposed(root, s);                 // R⁻ᵀ S
  const Matrix both = solve_upper_transposed(root, half.transpose());  // R⁻ᵀ S R⁻¹
  const Matrix way = solve_upper_transposed(root, delta);
  return -0.5 * (static_cast<double>(c.rows()) * std::log(2 * std::numbers::pi) + log_determinant(root) + both.trace() +
                 way.squaredNorm());
}

/// The eigenvalues of S by the singular values of its triangle, where it has one.
Vector eigenvalues_again(const Matrix& s) {
  const auto root = cholesky(s);
  if (!root) return symmetric_eigen(s).values.cwiseMax(0);
  return thin_svd(*root).s.array().square().matrix();
}

double rounding_of(const PpcaModel& model) {
  const double greatest = model.loadings.colwise().squaredNorm().maxCoeff() + model.noise;
  const double offset = model.mean.cwiseAbs().maxCoeff();
  return 16 * kEpsilon * (static_cast<double>(model.width()) * greatest + offset * std::sqrt(model.noise)) /
         model.noise;
}

/// How far what is kept for updates is from rows of that weight and covariance, in units of the columns.
double kept_apart(const PpcaModel& model, double weight, const Matrix& covariance) {
  if (model.seen_covariance.size() == 0) return 0;
  const Vector by = covariance.diagonal().cwiseSqrt().cwiseInverse();
  const Matrix change = by.asDiagonal() * (model.seen_covariance - covariance) * by.asDiagonal();
  return std::max(std::abs(model.seen_weight - weight) / weight, change.cwiseAbs().maxCoeff());
}

struct Finding {
  double value = 0, log_likelihood = 0, weight = 0;
  double kept = 0;  // how far what is kept for updates is from the rows
};

/// What ℓ lacks to the greatest, a row.
Finding lack_of_likelihood(const PpcaModel& model, const Rows& rows, const Execution& execution) {
  const auto sums = scan(rows, PlainScatter(model.mean), execution);
  const Vector delta = sums.shift / sums.weight;
  const Matrix s = sums.scatter / sums.weight - delta * delta.transpose();
  const double own = mean_log_density(model.factors().covariance(), s, delta);
  const Index p = model.width(), q = model.output_width();
  const Vector values = eigenvalues_again(s);
  const double best =
      -0.5 * (static_cast<double>(p) * (std::log(2 * std::numbers::pi) + 1) + values.head(q).array().log().sum() +
              static_cast<double>(p - q) * std::log(values.tail(p - q).mean()));
  return {std::max(0.0, best - own), own * sums.weight, sums.weight, kept_apart(model, sums.weight, s)};
}

Finding movement(const PpcaModel& model, const Rows& rows, const Execution& execution) {
  const auto at = model.factors();
  const auto again =
      factors::step_by_covariance(rows, at, factors::Noise::equal, Vector::Zero(model.width()), execution);
  return {factors::distance(at, again.next), again.log_likelihood, again.weight};
}

}  // namespace

void PpcaModel::check() const {
  const Index p = width(), q = output_width();
  require(p > 1 && loadings.rows() == p && spec.components == static_cast<int>(q) && q < p,
          "ppca: mean and loadings do not fit together");
  require(mean.allFinite() && loadings.allFinite() && std::isfinite(noise) && noise > 0 &&
              std::isfinite(log_likelihood) && std::isfinite(aic) && std::isfinite(bic) && trace.allFinite(),
          "ppca: a number is not usable");
  require(parameters == parameter_count(p, q), "ppca: the number of parameters is wrong");
  const Matrix gram = loadings.transpose() * loadings;
  for (Index a = 0; a < q; ++a)
    for (Index b = 0; b < a; ++b) {
      require(std::abs(gram(a, b)) <= 1e-7 * (std::sqrt(gram(a, a) * gram(b, b)) + noise),
              "ppca: the columns of the loadings are not orthogonal");
      require(gram(a, a) <= gram(b, b) * (1 + 1e-9), "ppca: the columns of the loadings are not in their order");
    }
  require(by_em(*this) ? trace.size() > 0 : trace.size() == 0, "ppca: the trace is that of another solver");
  const Index seen = seen_covariance.rows();
  require((seen == 0 || (seen == p && !by_em(*this))) && seen_covariance.cols() == seen &&
              seen_covariance.allFinite() && seen_covariance == seen_covariance.transpose() &&
              (seen_covariance.diagonal().array() > 0).all() && std::isfinite(seen_weight) &&
              (seen > 0 ? seen_weight > 0 : seen_weight == 0),
          "ppca: what was seen of the rows is not usable");
}

Vector PpcaModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  return factors::log_densities(factors(), x);
}
Matrix PpcaModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  return factors::hidden_means(factors(), x);
}
Matrix PpcaModel::filled(const MatrixView& x) const {
  require_width(*this, x.cols());
  return factors::filled(factors(), x);
}
std::vector<std::string> PpcaModel::output_names(const std::vector<std::string>&) const {
  std::vector<std::string> names;
  for (Index k = 1; k <= output_width(); ++k) names.push_back(fmt::format("z{}", k));
  return names;
}
DrawnRows PpcaModel::draw(Index count, std::uint64_t seed) const { return {factors::draw(factors(), count, seed)}; }

std::string PpcaModel::summary(const Names& names) const {
  TextTable table;
  std::vector<std::string> features;
  for (Index j = 0; j < width(); ++j)
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
  table.words("column", features).numbers("mean", {mean.begin(), mean.end()});
  for (Index k = 0; k < output_width(); ++k) {
    const Vector column = loadings.col(k);
    table.numbers(fmt::format("z{}", k + 1), {column.begin(), column.end()});
  }
  std::string out = fmt::format(
      "Probabilistic principal components: {} and noise of variance {}{}\n\nMeans and loadings:\n",
      count_of(output_width(), "direction"), format_significant(noise, 5), missing ? ", some values missing" : "");
  out += table.str({.width = 100});
  return out + fmt::format("\nlog-likelihood {}   {}   AIC {}   BIC {}\n", format_significant(log_likelihood, 7),
                           count_of(parameters, "parameter"), format_significant(aic, 7), format_significant(bic, 7));
}

PpcaModel fit(const Valid<Ppca>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  PpcaModel model;
  model.spec = *spec;
  const Index p = rows.width();
  if (!model.spec.components) model.spec.components = p == 2 ? 1 : 2;
  const Index q = *model.spec.components;
  if (q >= p)
    throw Error(fmt::format("ppca: components is {}, and there {}; it must be fewer, so that noise is left", q,
                            p == 1 ? "is 1 column" : fmt::format("are {} columns", p)));
  const auto known = factors::known_values(Ppca::name, rows, execution.part(0, 0.1));
  model.missing = known.missing;
  if (known.missing && spec->solver == PpcaSolver::closed_form)
    throw Error("ppca: values are missing, and the closed form needs all of them; take --solver em");
  bool cancelled = false;
  if (!by_em(model)) {
    const auto moments = scan(rows, Moments(p), execution.part(0.1, 0.6));
    const Matrix covariance = moments.covariance(moments.weight());
    take(model, from_covariance(moments.mean(), covariance, q, rows.features));
    if (p <= PpcaModel::kMostKept) {
      model.seen_weight = moments.weight();
      model.seen_covariance = covariance;
    }
  } else {
    auto start = from_covariance(known.mean, factors::filled_covariance(rows, known.mean, execution.part(0.1, 0.15)), q,
                                 rows.features);
    const double greatest = known.variance.maxCoeff();
    for (Index k = 0; k < q; ++k)  // a column of zeros would stay one
      if (!(start.loadings.col(k).squaredNorm() > 1e-12 * greatest))
        start.loadings(k % p, k) += 1e-3 * std::sqrt(greatest);
    const auto run = factors::run(rows, start, factors::Noise::equal, Vector::Constant(p, kLeastNoise * greatest),
                                  spec->max_iterations, 0.5 * spec->tolerance, execution.part(0.15, 0.8));
    cancelled = run.cancelled;
    take(model, factors::turned(run.factors));
    model.trace = Eigen::Map<const Vector>(run.trace.data(), static_cast<Index>(run.trace.size()));
    if (!(model.noise > 2 * kLeastNoise * greatest))
      throw Error("ppca: no noise is left beside the components, which leaves no density; take fewer of them");
  }
  model.parameters = parameter_count(p, q);
  const auto tell = [&](double log_likelihood, double weight) {
    model.log_likelihood = log_likelihood;
    model.aic = -2 * log_likelihood + 2.0 * model.parameters;
    model.bic = -2 * log_likelihood + model.parameters * std::log(weight);
  };
  if (by_em(model)) tell(model.trace(model.trace.size() - 1), known.weight);
  try {
    if (!by_em(model)) {
      const auto at = model.factors();
      const auto found = factors::step(rows, at, factors::Noise::equal, Vector::Zero(p), execution.part(0.6, 0.9));
      tell(found.log_likelihood, found.weight);
    }
    if (cancelled) throw Cancelled();
    model.certificate = certify(model, rows, execution.part(0.9, 1));
  } catch (const Cancelled&) {
    if (!by_em(model)) throw;
    model.certificate = {.strength = Strength::consistent,
                         .kind = "movement in one more EM step",
                         .value = std::numeric_limits<double>::quiet_NaN(),
                         .iterations = model.trace.size(),
                         .stopped = "cancelled",
                         .message = fmt::format("Cancelled after {}; nothing was checked. 'lemma verify' looks again.",
                                                count_of(model.trace.size(), "iteration"))};
  }
  return model;
}

Certificate certify(const PpcaModel& model, const Rows& rows, const Execution& execution) {
  const auto known = factors::known_values(Ppca::name, rows, execution.part(0, 0.1));
  const bool em = by_em(model);
  const Finding found =
      em ? movement(model, rows, execution.part(0.1, 1)) : lack_of_likelihood(model, rows, execution.part(0.1, 1));
  const double unit = std::abs(found.log_likelihood) + found.weight * static_cast<double>(model.width());
  const auto apart = [&](double told, double expected) { return std::abs(told - expected) / unit; };
  double told = std::max({apart(model.log_likelihood, found.log_likelihood),
                          apart(model.aic, -2 * found.log_likelihood + 2.0 * model.parameters),
                          apart(model.bic, -2 * found.log_likelihood + model.parameters * std::log(found.weight))});
  for (Index i = 0; i + 1 < model.trace.size(); ++i)
    told = std::max(told, (model.trace(i) - model.trace(i + 1)) / unit);
  if (em) told = std::max(told, apart(model.trace(model.trace.size() - 1), model.log_likelihood));
  if (known.missing != model.missing) told = std::max(told, 1.0);
  told = std::max(told, found.kept);
  const double rounding = rounding_of(model);
  Certificate out;
  out.strength = em ? Strength::consistent : Strength::optimal;
  out.kind = em ? "movement in one more EM step" : "log-likelihood short of the greatest, a row";
  out.tolerance = em ? std::min(kLoosestClaim, std::max(1e-8, claimed(model.spec.tolerance)) + rounding)
                     : 1e-9 + std::min(1e-4, rounding);
  const bool same = told <= 1e-9 + rounding;
  out.value = same ? found.value : std::max(found.value, told + 2 * out.tolerance);
  out.iterations = em ? model.trace.size() : 1;
  out.stopped = !em                                               ? "closed form"
                : out.holds()                                     ? "converged"
                : model.trace.size() >= model.spec.max_iterations ? "iteration limit"
                                                                  : "not converged";
  const std::string off = residue_text(out.value, out.tolerance), allowed = format_significant(out.tolerance, 2);
  if (!same)
    out.message = fmt::format(
        "The likelihood, its way, the criteria or what is kept for updates are not those of these "
        "rows (off by {}).",
        format_significant(told, 2));
  else if (!em)
    out.message = fmt::format(
        "No {} and noise alike in all columns are likelier: the log-likelihood is short of the "
        "greatest by {} a row (allowed {}).",
        count_of(model.output_width(), "direction"), off, allowed);
  else
    out.message = fmt::format(
        "{}: one more step moves a mean, a loading or the noise by {} (allowed {}){}.",
        out.holds() ? "The likelihood of the known values never fell, and its end is a fixed point"
                    : "Not a fixed point",
        off, allowed, out.holds() ? "" : fmt::format("; raise max_iterations ({})", model.spec.max_iterations));
  return out;
}

PpcaModel updated(const PpcaModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(), "ppca: the rows do not have the columns of the model");
  if (by_em(model))
    throw Error(
        "ppca: EM looks at single rows, which a model does not keep, so that only the closed form can be "
        "updated; fit it to all rows");
  if (model.seen_covariance.size() == 0)
    throw Error(
        fmt::format("ppca: this model does not keep the covariance of its rows, which an update needs: it is "
                    "kept up to {} columns, and not by earlier versions; fit it to all rows",
                    PpcaModel::kMostKept));
  const WeightedRows past =
      rows_like(model.seen_weight, model.mean, root_of_scatter(Matrix(model.seen_weight * model.seen_covariance)));
  MemoryRows before(past.x);
  before.weights(past.weight).features = rows.features;
  const StackedRows all({&before, &rows});
  if (factors::known_values(Ppca::name, all, options.execution().part(0, 0.05)).missing)
    throw Error(
        "ppca: values of the new rows are missing, and only the closed form can be updated; leave these rows out "
        "(--missing drop), or fit the model to all rows");
  PpcaModel out = fit(Valid<Ppca>(model.spec), all, options);
  out.certificate.message += " The rows before the update are in it by their mean and covariance.";
  return out;
}

template const Method& method_of<Ppca>();

}  // namespace lemma
