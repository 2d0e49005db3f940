// lemma/kernel/kernel_ridge.cpp: one Cholesky factorisation for one λ, one eigendecomposition for several.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/kernel_ridge/parts.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/tiled_cholesky.hpp>

namespace lemma {
namespace kernel_ridge {
namespace {

constexpr double kNone = KernelRidgeModel::kNone;

/// From v = A⁻¹(y − ȳ), u = A⁻¹1 and the diagonal of A⁻¹: the border of the intercept.
Solution with_border(bool intercept, double mean, Vector v, const Vector& u, Vector diagonal) {
  if (!intercept) return {std::move(v), 0, std::move(diagonal)};
  const double total = u.sum(), b = v.sum() / total;
  Solution out{v - b * u, mean + b, std::move(diagonal)};
  if (out.diagonal.size() > 0) out.diagonal -= u.cwiseAbs2() / total;
  return out;
}

[[noreturn]] void refuse_indefinite(const BoundKernel& kernel, double lambda, const Execution& execution) {
  const GramCheck check = check_gram(kernel, execution);
  if (check.is_positive())
    throw Error(
        fmt::format("kernel_ridge: lambda {} is too small beside the kernel's values (largest eigenvalue {}) to "
                    "be seen in 16 digits: take at least {:.0e}",
                    lambda, format_significant(check.greatest, 3), 1e-14 * check.greatest));
  throw Error(
      fmt::format("kernel_ridge: the matrix of {} has {}, so that nothing is least at lambda {}: take lambda above {}, "
                  "or another kernel",
                  kernel.kernel().text(), check.text(), lambda, format_significant(-check.least, 3)));
}

/// From the sum of the eigenvalues, Σ w k(x, x), down to 1e-10 of it.
std::vector<double> path_for(const BoundKernel& kernel, const KernelRows& data) {
  constexpr int kLength = 50;
  const double largest = data.weight.dot(kernel.diagonal());
  return largest > 0 && std::isfinite(largest) ? lambda_path(largest, kLength, 1e-10) : std::vector<double>{1};
}

}  // namespace

Centred centred(const KernelRidge& spec, const KernelRows& data) {
  const double mean = spec.intercept ? data.weight.dot(data.y) / data.mass() : 0;
  return {data.y.array() - mean, mean};
}

Solution solve_one(const KernelRidge& spec, const BoundKernel& kernel, const KernelRows& data, double lambda,
                   bool leave_out, const Execution& execution) {
  const Index n = data.count();
  const Centred y = centred(spec, data);
  Matrix a(n, n);
  kernel.gram_upper(a, execution.part(0, 0.2, "kernel matrix"));
  a.diagonal() += lambda * data.weight.cwiseInverse();
  if (!tiled_cholesky(a, execution.part(0.2, leave_out ? 0.6 : 0.95, "factorising")))
    refuse_indefinite(kernel, lambda, execution);
  const Vector v = solve_factored(a, y.y);
  const Vector u = spec.intercept ? solve_factored(a, Vector::Ones(n)) : Vector();
  Vector diagonal;
  if (leave_out) {
    tiled_invert_upper(a, execution.part(0.6, 0.95, "leaving rows out"));
    diagonal = outer_diagonal(a);
  }
  return with_border(spec.intercept, y.mean, v, u, std::move(diagonal));
}

std::vector<Solution> solve_path(const KernelRidge& spec, const BoundKernel& kernel, const KernelRows& data,
                                 const Vector& lambdas, const Execution& execution) {
  const Index n = data.count();
  const Centred y = centred(spec, data);
  const Vector root = data.weight.cwiseSqrt();
  Matrix k(n, n);
  kernel.gram_upper(k, execution.part(0, 0.1, "kernel matrix"));
  for (Index i = 0; i < n; ++i) k.row(i).tail(n - i).array() *= root(i) * root.tail(n - i).transpose().array();
  execution.report(0.1, "eigenvalues of the kernel matrix");
  const Eigenpairs pairs = symmetric_eigen(k);
  const Vector of_y = pairs.vectors.transpose() * root.cwiseProduct(y.y), of_one = pairs.vectors.transpose() * root;
  const Matrix squares = pairs.vectors.cwiseAbs2();
  std::vector<Solution> out;
  for (const double lambda : lambdas) {
    const Vector shrunk = (pairs.values.array() + lambda).inverse();
    if (!(pairs.values.tail(1)(0) + lambda > 0) || !shrunk.allFinite()) refuse_indefinite(kernel, lambda, execution);
    const auto back = [&](const Vector& of) -> Vector {
      return root.cwiseProduct(pairs.vectors * shrunk.cwiseProduct(of));
    };
    out.push_back(
        with_border(spec.intercept, y.mean, back(of_y), back(of_one), data.weight.cwiseProduct(squares * shrunk)));
  }
  return out;
}

Numbers numbers_of(const KernelRows& data, const Solution& solution, double lambda) {
  const Vector residual = lambda * solution.alpha.cwiseQuotient(data.weight);
  Numbers out;
  out.rss = data.weight.dot(residual.cwiseAbs2());
  const double norm = solution.alpha.dot((data.y.array() - solution.intercept).matrix() - residual);
  out.objective = 0.5 * out.rss + 0.5 * lambda * norm;
  if (solution.diagonal.size() == 0) return out;
  out.effective_df = static_cast<double>(data.count()) - lambda * solution.diagonal.cwiseQuotient(data.weight).sum();
  double sum = 0;
  for (Index i = 0; i < data.count(); ++i) {  // one of wᵢ copies is left out: its share of Sᵢᵢ is 1/wᵢ
    const double w = data.weight(i), left = 1 - 1 / w + lambda * solution.diagonal(i) / (w * w);
    sum += left > 1e-12 ? w * (residual(i) / left) * (residual(i) / left) : kNone;
  }
  out.loocv_mse = sum / data.mass();
  return out;
}

bool leaves_out(const KernelRidge& spec, Index rows) {
  return spec.lambda.size() > 1 || rows <= KernelRidgeModel::kMostLeftOut;
}

Index choose(const Vector& loocv_mse, const Vector& lambdas) {
  Index best = -1;
  for (Index k = 0; k < loocv_mse.size(); ++k)
    if (std::isfinite(loocv_mse(k)) && (best < 0 || loocv_mse(k) < loocv_mse(best))) best = k;
  if (best < 0) lambdas.maxCoeff(&best);
  return best;
}

}  // namespace kernel_ridge

KernelRidgeModel fit(const Valid<KernelRidge>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_memory(KernelRidge::name, rows.count(), spec->gigabytes);
  const KernelRows data = kernel_rows(KernelRidge::name, spec->kernel, rows, execution);
  KernelRidgeModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  const BoundKernel kernel(model.spec.kernel, data.points);
  if (!model.spec.kernel.is_positive())
    if (const GramCheck check = check_gram(kernel, execution); !check.is_positive())
      model.warnings.push_back(
          fmt::format("the matrix of {} has {}: there is a solution, but no space in which it is the least",
                      model.spec.kernel.text(), check.text()));

  if (spec->lambda.empty()) model.spec.lambda = kernel_ridge::path_for(kernel, data);
  const auto count = static_cast<Index>(model.spec.lambda.size());
  model.lambda.of = Eigen::Map<const Vector>(model.spec.lambda.data(), count);
  std::vector<kernel_ridge::Solution> solutions;
  if (count > 1) solutions = kernel_ridge::solve_path(model.spec, kernel, data, model.lambda.of, execution);
  else
    solutions.push_back(kernel_ridge::solve_one(model.spec, kernel, data, model.spec.lambda[0],
                                                kernel_ridge::leaves_out(model.spec, data.count()), execution));
  for (PathNumbers* each : {&model.effective_df, &model.rss, &model.loocv_mse, &model.objective})
    each->of.resize(count);
  for (Index k = 0; k < count; ++k) {
    const auto numbers = kernel_ridge::numbers_of(data, solutions[static_cast<std::size_t>(k)], model.lambda.of(k));
    model.effective_df.of(k) = numbers.effective_df;
    model.rss.of(k) = numbers.rss;
    model.loocv_mse.of(k) = numbers.loocv_mse;
    model.objective.of(k) = numbers.objective;
  }
  require(model.rss.of.allFinite() && model.objective.of.allFinite(),
          fmt::format("kernel_ridge: the squares of '{}' are too large to be added up", rows.target));
  const Index best = kernel_ridge::choose(model.loocv_mse.of, model.lambda.of);
  const auto& solution = solutions[static_cast<std::size_t>(best)];
  model.chosen_lambda = model.lambda.of(best);
  model.intercept = solution.intercept;
  model.dual_coefficients = solution.alpha;
  model.points = KeptRows::of(model.spec.kernel, data.points);
  model.places = kept_places(model.spec.kernel, data.points);
  if (kernel_ridge::leaves_out(model.spec, data.count()) && model.loocv_mse.of.array().isNaN().any())
    model.warnings.emplace_back("without one of the rows nothing determines its prediction: no leave-one-out error");
  model.certificate = kernel_ridge::certificate_of(model, kernel, data, execution.part(0.95, 1));
  return model;
}

template const Method& method_of<KernelRidge>();

}  // namespace lemma
