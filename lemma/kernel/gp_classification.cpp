// lemma/kernel/gp_classification.cpp: the mode is that of kernel logistic regression with λ = 1 and no intercept.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/gp_classification.hpp>
#include <lemma/kernel/gp_classification/ep.hpp>
#include <lemma/kernel/kernel_logistic/parts.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/special.hpp>
#include <lemma/math/tiled_cholesky.hpp>
#include <lemma/model/claim.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <mutex>

namespace lemma {

/// W^½, or T^½, and R with RᵀR = I + W^½ K W^½, of each process.
class LaplaceFactors {
 public:
  struct Factor {
    Vector root;  // W^½
    Matrix r;
  };
  const std::vector<Factor>& get(const GpClassificationModel& model) {
    std::call_once(made_, [&] {
      const BoundKernel kernel(model.spec.kernel, model.points.points(model.spec.kernel, {}));
      const Matrix f = kernel.expand_own(model.dual_coefficients.of.transpose());
      for (Index k = 0; k < model.functions(); ++k) {
        const Vector root = model.by_sites() ? Vector(model.site_precision.of.row(k).cwiseSqrt())
                                             : curvature_root(f.col(k), model.weights);
        factors_.push_back(factorised(kernel, root, {}));
        require(factors_.back().r.size() > 0, "gp_classification: the matrix of the kept rows cannot be factorised");
      }
    });
    return factors_;
  }
  static Vector curvature_root(const Vector& f, const Vector& weights) {
    Vector out(f.size());
    for (Index i = 0; i < f.size(); ++i) out(i) = std::sqrt(weights(i) * logistic(f(i)) * logistic(-f(i)));
    return out;
  }
  /// No r where B is not positive definite.
  static Factor factorised(const BoundKernel& kernel, const Vector& root, const Execution& execution) {
    const Index n = root.size();
    Factor out{root, Matrix(n, n)};
    kernel.gram_upper(out.r, execution);
    for (Index i = 0; i < n; ++i)
      out.r.row(i).tail(n - i).array() *= out.root(i) * out.root.tail(n - i).transpose().array();
    out.r.diagonal().array() += 1;
    if (!tiled_cholesky(out.r, execution)) out.r.resize(0, 0);
    return out;
  }

 private:
  std::once_flag made_;
  std::vector<Factor> factors_;
};
std::shared_ptr<LaplaceFactors> no_laplace_factors() { return std::make_shared<LaplaceFactors>(); }

namespace {

constexpr Index kRows = 256;       // new rows that are looked at together
constexpr Index kMostEigen = 600;  // rows up to which the evidence is held against eigenvalues

KernelLogistic as_logistic(const GpClassification& spec) {
  KernelLogistic out;
  out.kernel = spec.kernel;
  out.lambda = 1;
  out.intercept = false;
  out.tolerance = spec.tolerance;
  out.max_iterations = spec.max_iterations;
  out.gigabytes = spec.gigabytes;
  return out;
}

Certificate certificate_of(const GpClassification& spec, double worst, long long iterations, Stop stopped) {
  const bool by_sites = spec.inference == GpInference::ep;
  Certificate out;
  out.strength = by_sites ? Strength::consistent : Strength::optimal;
  out.kind = by_sites ? "change of the sites" : "relative duality gap";
  out.value = worst;
  out.tolerance = claimed(spec.tolerance);
  out.iterations = iterations;
  out.stopped = name_of(stopped);
  out.message =
      by_sites
          ? fmt::format(
                "A row's site, found anew from the kernel and the moments of its likelihood, changes f there by at "
                "most {:.1e} of its deviation (allowed {:.0e}). That q is Gaussian is an approximation.",
                out.value, out.tolerance)
          : fmt::format(
                "The objective at the mode is at most {:.1e} of itself above the least one (allowed {:.0e}), with "
                "the kernel's values made anew from the rows. That q is Gaussian about it is an approximation.",
                out.value, out.tolerance);
  if (!out.holds() && out.value <= spec.tolerance) out.message += ended_too_soon(spec.tolerance);
  return out;
}

/// ½ log |B| by eigenvalues, or of many rows by the factor of the rows in reverse: another route than the fit's.
double half_log_determinant(const BoundKernel& kernel, const Vector& root, const Execution& execution) {
  const Index n = root.size();
  Matrix b = kernel.gram(execution);
  b.array().colwise() *= root.array();
  b.array().rowwise() *= root.transpose().array();
  double sum = 0;
  if (n <= kMostEigen) {
    for (const double value : symmetric_eigen(b).values) sum += 0.5 * std::log1p(std::max(value, 0.0));
    return sum;
  }
  Matrix reversed = b.colwise().reverse().rowwise().reverse();
  reversed.diagonal().array() += 1;
  if (!tiled_cholesky(reversed, execution)) return std::numeric_limits<double>::quiet_NaN();
  return reversed.diagonal().array().log().sum();
}

/// The worst of the processes, and how it came to be.
struct Found {
  double worst = 0;
  long long iterations = 0;
  Stop stopped = Stop::converged;
};

Found fit_modes(GpClassificationModel& model, const KernelRows& data, const BoundKernel& kernel,
                const Execution& execution) {
  const KernelLogistic logistic_spec = as_logistic(model.spec);
  const Index count = model.log_evidence.size();
  model.objective.of.resize(count);
  kernel_logistic::GramAndFactor gram(kernel, execution.part(0, 0.1, "kernel matrix"));
  Found out;
  for (Index k = 0; k < count; ++k) {
    const auto share = [&](double done) { return 0.1 + 0.9 * done / static_cast<double>(count); };
    const Execution part = execution.part(share(static_cast<double>(k)), share(static_cast<double>(k) + 1));
    const kernel_logistic::Problem problem(logistic_spec, data, k, count, true);
    const auto mode = kernel_logistic::newton(logistic_spec, problem, gram, part.part(0, 0.9));
    model.dual_coefficients.of.row(k) = mode.alpha;
    model.objective.of(k) = mode.standing.objective;
    const auto factor =
        LaplaceFactors::factorised(kernel, LaplaceFactors::curvature_root(gram.times(mode.alpha), data.weight),
                                   Execution{.threads = execution.threads});
    require(factor.r.size() > 0,
            "gp_classification: the kernel's values are too large to be factorised; use a smaller factor");
    model.log_evidence.of(k) = -mode.standing.objective - factor.r.diagonal().array().log().sum();
    if (!(mode.standing.gap <= out.worst)) out.worst = mode.standing.gap;
    out.iterations += mode.iterations;
    if (mode.stopped != Stop::converged) out.stopped = mode.stopped;
  }
  return out;
}

Vector signs_of(const KernelRows& data, Index function, Index functions) {
  Vector out(data.count());
  for (Index i = 0; i < out.size(); ++i) out(i) = is_positive(data.label_of(i), function, functions) ? 1 : -1;
  return out;
}

Found fit_sites(GpClassificationModel& model, const KernelRows& data, const BoundKernel& kernel,
                const Execution& execution) {
  const Index count = model.log_evidence.size();
  model.site_precision.of.resize(count, data.count());
  const Matrix gram = kernel.gram(execution.part(0, 0.1, "kernel matrix"));
  Found out;
  for (Index k = 0; k < count; ++k) {
    const auto share = [&](double done) { return 0.1 + 0.9 * done / static_cast<double>(count); };
    auto found = expectation_propagation::propagate(
        gram, expectation_propagation::Sites(signs_of(data, k, count), data.weight), model.spec.tolerance,
        model.spec.max_iterations, execution.part(share(static_cast<double>(k)), share(static_cast<double>(k) + 1)));
    require(found.has_value(),
            "gp_classification: the kernel's values are too large to be factorised; use a smaller factor");
    model.dual_coefficients.of.row(k) = found->alpha;
    model.site_precision.of.row(k) = found->sites.all_precision();
    model.log_evidence.of(k) = found->log_evidence;
    if (!(found->change <= out.worst)) out.worst = found->change;
    out.iterations += found->iterations;
    if (found->stopped != Stop::converged) out.stopped = found->stopped;
  }
  return out;
}

/// The sites of the model, and the ones that the kernel and the rows ask for: their marginals by the factor of the rows in reverse,
/// and their moments by steps of half the size, another route than the fit's.
expectation_propagation::Turn turn_anew(const GpClassificationModel& model, Index k, const KernelRows& data,
                                        const Matrix& gram, const Vector& mean, const Execution& execution) {
  expectation_propagation::Sites sites(signs_of(data, k, model.functions()), data.weight);
  const Vector precision = model.site_precision.of.row(k), alpha = model.dual_coefficients.of.row(k);
  sites.precision = precision.cwiseQuotient(sites.copies);
  sites.shift = (alpha + precision.cwiseProduct(mean)).cwiseQuotient(sites.copies);
  auto reversed = sites;
  for (Vector* each : {&reversed.copies, &reversed.precision, &reversed.shift}) each->reverseInPlace();
  auto marginals =
      expectation_propagation::marginals_of(gram.colwise().reverse().rowwise().reverse(), reversed, execution);
  require(marginals.has_value(), "gp_classification: the matrix of the rows cannot be factorised");
  marginals->mean.reverseInPlace();
  marginals->variance.reverseInPlace();
  return expectation_propagation::turn(sites, *marginals, 2);
}

/// Equal features are told apart by the class that α tells, and by the weight.
Ties ties_of(const GpClassificationModel& model, const KernelRows& given) {
  const Matrix& alpha = model.dual_coefficients.of;
  Ties out{Matrix(alpha.cols(), 2), Matrix(given.count(), 2)};
  for (Index i = 0; i < alpha.cols(); ++i) {
    Index own = alpha(0, i) > 0 ? 1 : 0;
    if (alpha.rows() > 1) alpha.col(i).maxCoeff(&own);
    out.kept.row(i) << static_cast<double>(own), model.weights(i);
  }
  for (Index i = 0; i < given.count(); ++i) out.given.row(i) << static_cast<double>(given.label_of(i)), given.weight(i);
  return out;
}

Matrix averaged(const GpClassificationModel::Latent& latent) {
  const Index functions = latent.mean.cols();
  Matrix out(latent.mean.rows(), classes_for(functions));
  for (Index i = 0; i < out.rows(); ++i) {
    if (functions == 1) {
      const double p = averaged_logistic(latent.mean(i, 0), latent.variance(i, 0));
      out.row(i) << averaged_logistic(-latent.mean(i, 0), latent.variance(i, 0)), p;
      continue;
    }
    for (Index k = 0; k < functions; ++k) out(i, k) = averaged_logistic(latent.mean(i, k), latent.variance(i, k));
    double sum = 0;
    for (Index k = 0; k < functions; ++k) sum += out(i, k);
    for (Index k = 0; k < functions; ++k) out(i, k) /= sum;
  }
  return out;
}

}  // namespace

/// The trapezoidal rule, which for a function without singularities near the line converges faster than any power: those of the
/// logistic function are π away, so a step of a half leaves e^(−4π²).
double averaged_logistic(double mean, double variance) {
  const double sd = std::sqrt(std::max(variance, 0.0));
  if (!(sd > 0)) return logistic(mean);
  const double step = std::min(0.25, 0.5 / sd);  // in standard deviations
  const auto each_side = static_cast<Index>(std::ceil(std::min(9 / step, 1e6)));
  double sum = 0, mass = 0;
  for (Index i = -each_side; i <= each_side; ++i) {
    const double z = static_cast<double>(i) * step, weight = std::exp(-0.5 * z * z);
    sum += weight * logistic(mean + sd * z);
    mass += weight;
  }
  return sum / mass;
}

void GpClassification::check() const {
  require(!kernel.contains<Precomputed>(),
          "gp_classification: a precomputed kernel does not tell the variance of f at new rows; name the kernel");
}

void GpClassificationModel::check() const {
  const Index rows = dual_coefficients.of.cols();
  require(rows > 0 && dual_coefficients.of.allFinite(), "gp_classification: a dual coefficient is not usable");
  points.check(GpClassification::name, spec.kernel, rows);
  require(weights.size() == rows && weights.allFinite() && (weights.array() > 0).all(),
          "gp_classification: a weight is not usable");
  require(counts.size() >= 2 && counts.allFinite() && functions() == functions_for(counts.size()),
          "gp_classification: the processes are not those of the classes");
  require(log_evidence.size() == functions() && log_evidence.of.allFinite() &&
              objective.size() == (by_sites() ? 0 : functions()) && objective.of.allFinite(),
          "gp_classification: a number is missing or not usable");
  const Matrix& t = site_precision.of;
  require(by_sites() ? t.rows() == functions() && t.cols() == rows && t.allFinite() && (t.array() >= 0).all()
                     : t.size() == 0,
          "gp_classification: the sites are not usable");
}

GpClassificationModel::Latent GpClassificationModel::latent(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, points.points(spec.kernel, {}));
  const auto& factor = factors->get(*this);
  const RightFactor alpha{Matrix(dual_coefficients.of.transpose())};
  Latent out{Matrix(x.rows(), functions()), kernel.diagonal_of(x).replicate(1, functions())};
  parallel_for((x.rows() + kRows - 1) / kRows, {}, [&](Index tile) {
    const Index first = tile * kRows, rows = std::min(kRows, x.rows() - first);
    Matrix block(rows, kernel.count()), means(rows, functions());
    kernel.cross_block(x.middleRows(first, rows), 0, block);
    alpha.multiply(block, means);
    out.mean.middleRows(first, rows) = means;
    for (Index k = 0; k < functions(); ++k) {
      Matrix seen = block.array().rowwise() * factor[at(k)].root.transpose().array();
      RightTriangle(factor[at(k)].r).divide(seen);
      for (Index i = 0; i < rows; ++i)
        out.variance(first + i, k) = std::max(0.0, out.variance(first + i, k) - seen.row(i).squaredNorm());
    }
  });
  return out;
}

Matrix GpClassificationModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, points.points(spec.kernel, {}));
  return kernel.expand(x, dual_coefficients.of.transpose());
}
Matrix GpClassificationModel::map_probability(const MatrixView& x) const {
  return decision(x).unaryExpr([](double f) { return logistic(f); });
}
Matrix GpClassificationModel::probabilities(const MatrixView& x) const { return averaged(latent(x)); }
Labels GpClassificationModel::predict(const MatrixView& x) const { return greatest_class(probabilities(x)); }

Prediction GpClassificationModel::prediction(const MatrixView& x, const PredictOptions& options) const {
  Prediction out;
  if (options.asks(kClassPart) || options.asks(kProbabilitiesPart)) {
    Matrix p = probabilities(x);
    out.add(kClassPart, greatest_class(p)).add(kProbabilitiesPart, std::move(p));
  }
  if (options.asks(kDecisionPart)) out.add(kDecisionPart, decision(x));
  return out;
}

std::string GpClassificationModel::summary(const Names& names) const {
  std::vector<std::string> of;
  for (Index k = 0; k < functions(); ++k) {
    const auto at = static_cast<std::size_t>(functions() == 1 ? 1 : k);
    of.push_back(at < names.classes.size() ? names.classes[at] : fmt::format("class {}", at + 1));
  }
  const auto list = [](const Vector& v) { return std::vector<double>(v.begin(), v.end()); };
  TextTable table;
  table.words("", of).numbers("log evidence", list(log_evidence.of), 6);
  if (!by_sites()) table.numbers("objective", list(objective.of), 6);
  return fmt::format("Kernel: {}\n{} kept{}\n\nThe process of each class, against {}:\n", shown(spec.kernel),
                     count_of(weights.size(), "row"), by_sites() ? ", by expectation propagation" : "",
                     functions() == 1 ? "the other" : "all others") +
         table.str();
}

GpClassificationModel fit(const Valid<GpClassification>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_memory(GpClassification::name, rows.count(), spec->gigabytes);
  const KernelRows data = kernel_rows(GpClassification::name, spec->kernel, rows, execution);
  GpClassificationModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  model.counts = class_counts(GpClassification::name, data, rows.classes);
  const BoundKernel kernel(model.spec.kernel, data.points);
  if (!model.spec.kernel.is_positive())
    if (const GramCheck check = check_gram(kernel, execution); !check.is_positive())
      throw Error(fmt::format("gp_classification: {} is no covariance: its matrix has {}; take another kernel",
                              model.spec.kernel.text(), check.text()));
  const Index count = functions_for(model.counts.size());
  model.weights = data.weight;
  model.dual_coefficients.of.resize(count, data.count());
  model.log_evidence.of.resize(count);
  const Found found =
      model.by_sites() ? fit_sites(model, data, kernel, execution) : fit_modes(model, data, kernel, execution);
  require(model.dual_coefficients.of.allFinite() && model.log_evidence.of.allFinite(),
          "gp_classification: the kernel's values are too large to be added up; use other units, or a smaller factor");
  model.points = KeptRows::of(model.spec.kernel, data.points);
  model.certificate = certificate_of(model.spec, found.worst, found.iterations, found.stopped);
  if (!model.certificate.holds() && model.by_sites())
    model.warnings.push_back(fmt::format("the sites may still change by {} of a deviation of f ({})",
                                         format_significant(found.worst, 2), name_of(found.stopped)));
  else if (!model.certificate.holds())
    model.warnings.push_back(
        fmt::format("the mode may not be found: the objective may be {} of itself above the least ({})",
                    format_significant(found.worst, 2), name_of(found.stopped)));
  return model;
}

Certificate certify(const GpClassificationModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows given = kernel_rows(GpClassification::name, model.spec.kernel, rows, execution.part(0, 0.1));
  const KernelRows data = in_kept_order(model.spec.kernel, model.points, given, [&] { return ties_of(model, given); });
  require(data.count() == model.dual_coefficients.of.cols(),
          fmt::format("gp_classification: the model keeps {} rows and there are {}", model.dual_coefficients.of.cols(),
                      data.count()));
  const BoundKernel kernel(model.spec.kernel, data.points);
  const KernelLogistic logistic_spec = as_logistic(model.spec);
  const Index count = model.functions();
  const Matrix f = kernel.expand_own(model.dual_coefficients.of.transpose(), execution.part(0.1, 0.3));
  std::vector<double> evidence;
  std::vector<kernel_logistic::Standing> standings;
  double worst = 0;
  const auto look = [&](double value) {
    if (!(value <= worst)) worst = value;
  };
  if (model.by_sites()) {
    const Matrix gram = kernel.gram(execution.part(0.3, 0.5));
    for (Index k = 0; k < count; ++k) {
      const auto turn = turn_anew(model, k, data, gram, f.col(k), execution.part(0.5, 1));
      look(turn.change);
      evidence.push_back(turn.log_evidence);
    }
  } else {
    const auto of_kernel = [&](const Vector& v) -> Vector { return kernel.expand_own(Matrix(v), execution).col(0); };
    for (Index k = 0; k < count; ++k) {
      const kernel_logistic::Problem problem(logistic_spec, data, k, count, true);
      standings.push_back(
          kernel_logistic::standing_of(problem, model.dual_coefficients.of.row(k), f.col(k), 0, of_kernel));
      look(standings.back().gap);
    }
  }
  Certificate out = certificate_of(model.spec, worst, 0, Stop::looked_again);
  if (!out.holds()) return out;
  Comparison same;
  compare_rows(same, model.spec.kernel, model.points, {}, data.points);
  const Vector counts = class_counts(GpClassification::name, data, rows.classes);
  for (Index k = 0; k < counts.size(); ++k) same.entry("counts", k, model.counts(k), counts(k), counts.sum());
  for (Index i = 0; i < data.count(); ++i) same.entry("weights", i, model.weights(i), data.weight(i), data.weight(i));
  for (Index k = 0; k < count && !model.by_sites(); ++k) {
    const double objective = standings[at(k)].objective;
    same.entry("objective", k, model.objective.of(k), objective, objective, 1e-8);
    const Vector root = LaplaceFactors::curvature_root(f.col(k), data.weight);
    evidence.push_back(-objective - half_log_determinant(kernel, root, execution));
  }
  for (Index k = 0; k < count; ++k)
    same.entry("log_evidence", k, model.log_evidence.of(k), evidence[at(k)], std::abs(evidence[at(k)]), 1e-7);
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<GpClassification>();

}  // namespace lemma
