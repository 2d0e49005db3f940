// bench/lemma_bench.cpp: Lemma's side of the benchmarks: lemma_bench WORKLOAD DATADIR --threads N does the work once and
// prints one JSON line (the protocol is in README.md).
#include <bench/lemma_job.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fmt/core.h>
#include <lemma/data/stream.hpp>
#include <lemma/data/svmlight.hpp>
#include <lemma/lemma.hpp>
#include <lemma/model/train.hpp>
#include <map>

namespace lemma::bench {
namespace {

Value csv(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  CsvOptions options;
  options.execution = task.execution();
  const Table table = timed(out, [&] { return read_csv(task.file("mixed.csv"), options); });
  Index missing = 0;
  for (const auto& column : table.all()) missing += column.missing();
  double sum = 0;
  for (const double x : table.column("x0").numbers().values) sum += std::isnan(x) ? 0.0 : x;
  quality.set("rows", table.rows());
  quality.set("missing", missing);
  quality.set("sum_x0", sum);
  out.set("quality", quality);
  out.set("table_mb", static_cast<double>(memory_needed(MemoryTableStream(table))) / 1048576.0);
  return out;
}

Value ols(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("linreg_X.npy");
  const Vector y = task.matrix("linreg_y.npy").col(0);
  const auto model = timed(out, [&] { return fit(Ols{}, x, y, task.options); });
  quality.set("rss", model.rss);
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value ridge(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("linreg_X.npy");
  const Vector y = task.matrix("linreg_y.npy").col(0);
  const auto model = timed(out, [&] { return fit(Ridge{.standardize = false}, x, y, task.options); });
  quality.set("rss", model.rss.of(0));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value logit(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("logit_X.npy");
  const Matrix y = task.matrix("logit_y.npy");
  const Labels codes(y.data(), y.data() + y.rows());
  MemoryRows rows(x);
  rows.labels(codes, {"0", "1"});
  const Valid<Logistic> spec(Logistic{.standardize = false});
  const auto model = timed(out, [&] { return fit(spec, rows, task.options); });
  quality.set("objective", model.objective.of(0));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

/// The area with DeLong's interval.
Value area(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix score = task.matrix("scores_s.npy"), y = task.matrix("scores_y.npy");
  const Labels truth(y.data(), y.data() + y.rows());
  const Auc found = timed(out, [&] { return auc(truth, score.col(0)); });
  quality.set("auc", found.value);
  out.set("quality", quality);
  return out;
}

/// The response as numbers 0 and 1, as R has it.
Value glm(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("logit_X.npy");
  const Vector y = task.matrix("logit_y.npy").col(0);
  const auto model = timed(out, [&] { return fit(Glm{.family = GlmFamily::binomial}, x, y, task.options); });
  quality.set("deviance", model.residual_deviance);
  quality.set("error", model.intercept_std_error);
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

/// The first 1/part of the rows of a table, as `lemma fit glm` does it: streamed when it may take 64 MB only.
Value glm_scan(const Job& task, Index part, bool streamed) {
  Value out = Value::object(), quality = Value::object();
  const std::string path = task.file("glm_scan.npy");
  TrainOptions how;
  how.fit = task.options;
  if (streamed) how.memory = std::size_t{64} << 20;
  std::size_t bytes = 0;
  const auto trained = timed(out, [&] {
    auto whole = std::make_unique<NpyStream>(path);
    const Index rows = whole->rows() / part;
    const SelectedStream stream(std::move(whole), {{0, rows}});
    bytes = memory_needed(stream);
    Value params;
    const auto method = method_from("glm(family=binomial)", catalog(), params);
    return train(method, params, formula("x51 ~ ."), stream, how);
  });
  quality.set("proved", trained.model->certificate().holds() ? 1 : 0);
  quality.set("deviance", trained.model->results(trained.names()).at("residual_deviance").as_double());
  out.set("quality", quality);
  out.set("table_mb", static_cast<double>(bytes) / 1048576.0);
  evidence(out, trained.model->certificate());
  return out;
}

/// The mean over the path of the objective as glmnet and scikit-learn have it: ours over n.
Value lasso(const Job& task, const std::string& name, double ratio) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix(name + "_X.npy");
  const Vector y = task.matrix(name + "_y.npy").col(0);
  const auto model = timed(out, [&] { return fit(Lasso{.path_ratio = ratio}, x, y, task.options); });
  quality.set("mean_objective", model.objective.of.mean() / static_cast<double>(x.rows()));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value sparse_logit(const Job& task, Penalty penalty) {
  Value out = Value::object(), quality = Value::object();
  const SparseData data = read_svmlight(task.file("sparse_logit.svm"));
  Labels codes;
  for (const double y : data.y) codes.push_back(y > 0);
  MemoryRows rows(data.x);
  rows.labels(codes, {"-1", "1"});
  // The digits of the objective that are compared, as with the tolerances of the peers: l1's gap is a loose bound.
  const Valid<Logistic> spec(Logistic{
      .penalty = penalty, .intercept = false, .standardize = false, .tolerance = penalty == Penalty::l1 ? 0.1 : 5e-8});
  const auto model = timed(out, [&] { return fit(spec, rows, task.options); });
  quality.set("objective", model.objective.of(0));
  if (penalty == Penalty::l1) quality.set("nonzero", model.df.of(0));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

/// The bias penalised and C = 1, as liblinear has it; to the gap that liblinear's own default stop rule comes to.
Value sparse_svm(const Job& task, MarginLoss loss, double tolerance) {
  Value out = Value::object(), quality = Value::object();
  const SparseData data = read_svmlight(task.file("sparse_logit.svm"));
  Labels codes;
  for (const double y : data.y) codes.push_back(y > 0);
  MemoryRows rows(data.x);
  rows.labels(codes, {"-1", "1"});
  const Valid<LinearSvm> spec(LinearSvm{.loss = loss, .bias = Bias::penalised, .tolerance = tolerance});
  const auto model = timed(out, [&] { return fit(spec, rows, task.options); });
  quality.set("objective", model.objective_primal.of(0));
  quality.set("gap", model.gap.of(0));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

SvmModel svm_of(const Job& task, const Matrix& x, const Matrix& y) {
  Labels codes;
  for (Index i = 0; i < x.rows(); ++i) codes.push_back(y(i, 0) > 0);
  MemoryRows rows(x);
  rows.labels(codes, {"-1", "1"});
  const double gamma = 1 / static_cast<double>(x.cols());
  return fit(Valid<Svm>(Svm{.C = 1, .kernel = Rbf{.gamma = gamma}, .cache = 1000}), rows, task.options);
}

Value svm_fit(const Job& task, const std::string& name) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix(name + "_X.npy"), y = task.matrix(name + "_y.npy");
  const auto model = timed(out, [&] { return svm_of(task, x, y); });
  quality.set("objective", -model.objective_dual.of(0));
  quality.set("gap", model.gap.of(0));
  quality.set("support", model.n_support.of(0));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value svm_predict(const Job& task, const std::string& name) {
  Value out = Value::object(), quality = Value::object();
  const auto model = svm_of(task, task.matrix(name + "_X.npy"), task.matrix(name + "_y.npy"));
  const Matrix x = task.matrix(name + "_Xt.npy"), y = task.matrix(name + "_yt.npy");
  const Matrix values = timed(out, [&] { return model.machine_values(x, task.execution()); });
  double right = 0;
  for (Index i = 0; i < x.rows(); ++i) right += (values(i, 0) > 0) == (y(i, 0) > 0);
  quality.set("right", right / static_cast<double>(x.rows()));
  out.set("quality", quality);
  return out;
}

/// Seconds by the number of rows.
Value svm_scaling(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("svm_scaling_X.npy"), y = task.matrix("svm_scaling_y.npy");
  double seconds = 0, cpu = 0;
  for (const Index n : {1000, 3000, 10000, 30000, 100000}) {
    if (n > x.rows()) break;
    const Clock clock;
    svm_of(task, x.topRows(n), y.topRows(n));
    quality.set(std::to_string(n), clock.seconds());
    if (n > 30000) break;
    seconds += clock.seconds();
    cpu += clock.cpu_seconds();
  }
  out.set("seconds", seconds);
  out.set("cpu", cpu);
  out.set("quality", quality);
  return out;
}

/// Without standard errors, as the peers.
Value lad(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("lad_X.npy");
  const Vector y = task.matrix("lad_y.npy").col(0);
  const auto model = timed(out, [&] { return fit(Lad{.errors = QuantileErrors::none}, x, y, task.options); });
  quality.set("sum", model.objective);
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value pca(const Job& task, const std::string& file, const Pca& spec) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix(file);
  const auto model = timed(out, [&] { return fit(spec, x, task.options); });
  quality.set("top10", model.sdev.head(10).squaredNorm());
  if (!spec.components) quality.set("all", model.sdev.squaredNorm());
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value kmeans(const Job& task, const std::string& name, int iterations) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix(name + "_X.npy"), start = task.matrix(name + "_init.npy");
  const auto model =
      timed(out, [&] { return fit(KMeans{.start = start, .max_iterations = iterations}, x, task.options); });
  quality.set("inertia", model.total_within);
  out.set("quality", quality);
  out.set("note", fmt::format("{} iterations", model.iterations));
  return out;
}

Value gmm(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("gmm_X.npy"), start = task.matrix("gmm_init.npy");
  const Gmm spec{.components = {static_cast<double>(start.rows())},
                 .start = start,
                 .max_iterations = 20,
                 .tolerance = 1e-300};  // all 20
  const auto model = timed(out, [&] { return fit(spec, x, task.options); });
  quality.set("log_likelihood", model.log_likelihood);
  out.set("quality", quality);
  out.set("note", fmt::format("{} iterations", model.iterations));
  return out;
}

/// The fit with its certificate, and the densities at the places.
Value kde(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("kde_X.npy"), places = task.matrix("kde_Q.npy");
  Vector said(places.rows());
  timed(out, [&] {
    const auto model = fit(Kde{.bandwidth = std::vector{0.1}, .tolerance = 1e-4}, x, task.options);
    constexpr Index kTogether = 100;
    parallel_for((places.rows() + kTogether - 1) / kTogether, task.execution(), [&](Index tile) {
      const Index first = tile * kTogether, count = std::min(kTogether, places.rows() - first);
      said.segment(first, count) = model.log_density(places.middleRows(first, count));
    });
    return model.bandwidth(0);
  });
  quality.set("log_likelihood", said.sum());
  out.set("quality", quality);
  return out;
}

double root_mean_square(const Vector& v) { return std::sqrt(v.squaredNorm() / static_cast<double>(v.size())); }

Value gp(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("gp_X.npy"), at = task.matrix("gp_Xt.npy");
  const Vector y = task.matrix("gp_y.npy").col(0), truth = task.matrix("gp_yt.npy").col(0);
  const Gp spec{.kernel = Rbf{.sigma = 1}, .noise = 0.01, .mean = GpMean::zero, .optimise = false};
  const auto [model, posterior] = timed(out, [&] {
    auto fitted = fit(spec, x, y, task.options);
    auto said = fitted.posterior(at);
    return std::pair{std::move(fitted), std::move(said)};
  });
  quality.set("lml", model.log_marginal_likelihood);
  quality.set("rmse", root_mean_square(posterior.mean - truth));
  quality.set("mean_sd", posterior.variance.cwiseSqrt().mean());
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

Value krr(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("krr_X.npy"), at = task.matrix("krr_Xt.npy");
  const Vector y = task.matrix("krr_y.npy").col(0), truth = task.matrix("krr_yt.npy").col(0);
  const KernelRidge spec{.kernel = Rbf{.gamma = 0.1}, .lambda = {0.1}, .intercept = false};
  const auto model = timed(out, [&] { return fit(spec, x, y, task.options); });
  quality.set("rss", model.rss.of(0));
  quality.set("rmse", root_mean_square(model.predict(at) - truth));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

const Workloads kWorkloads{
    {"csv", csv},
    {"lad", lad},
    {"ols", ols},
    {"ridge", ridge},
    {"lasso_tall", [](const Job& task) { return lasso(task, "lasso_tall", 1e-3); }},
    {"lasso_wide", [](const Job& task) { return lasso(task, "lasso_wide", 1e-2); }},
    {"logit", logit},
    {"glm", glm},
    {"glm_scan", [](const Job& task) { return glm_scan(task, 1, true); }},
    {"glm_scan_half", [](const Job& task) { return glm_scan(task, 2, true); }},
    {"glm_scan_quarter", [](const Job& task) { return glm_scan(task, 4, true); }},
    {"glm_scan_memory", [](const Job& task) { return glm_scan(task, 1, false); }},
    {"sparse_logit_l2", [](const Job& task) { return sparse_logit(task, Penalty::l2); }},
    {"sparse_logit_l1", [](const Job& task) { return sparse_logit(task, Penalty::l1); }},
    {"sparse_svm_hinge", [](const Job& task) { return sparse_svm(task, MarginLoss::hinge, 5e-4); }},
    {"sparse_svm_squared", [](const Job& task) { return sparse_svm(task, MarginLoss::squared_hinge, 1e-4); }},
    {"auc", area},
    {"gp", gp},
    {"krr", krr},
    {"svm_a", [](const Job& task) { return svm_fit(task, "svm_a"); }},
    {"svm_a_predict", [](const Job& task) { return svm_predict(task, "svm_a"); }},
    {"svm_b", [](const Job& task) { return svm_fit(task, "svm_b"); }},
    {"svm_b_predict", [](const Job& task) { return svm_predict(task, "svm_b"); }},
    {"svm_scaling", svm_scaling},
    {"pca_full", [](const Job& task) { return pca(task, "pca_full_X.npy", Pca{}); }},
    {"pca_top",
     [](const Job& task) {
       return pca(task, "pca_top_X.npy", Pca{.components = 10, .solver = PcaSolver::randomized});
     }},
    {"kmeans_a", [](const Job& task) { return kmeans(task, "kmeans_a", 20); }},
    {"kmeans_b", [](const Job& task) { return kmeans(task, "kmeans_b", 10); }},
    {"gmm", gmm},
    {"kde", kde},
};

}  // namespace
}  // namespace lemma::bench

int main(int argc, char** argv) {
  using namespace lemma;
  using namespace lemma::bench;
  try {
    Workloads all = kWorkloads;
    all.merge(tree_workloads());
    all.merge(cluster_workloads());
    all.merge(manifold_workloads());
    all.merge(network_workloads());
    all.merge(neighbor_workloads());
    const auto workload = argc >= 3 ? all.find(argv[1]) : all.end();
    if (workload == all.end()) throw Error("usage: lemma_bench WORKLOAD DATADIR [--threads N]");
    Job task{argv[2], {}};
    if (argc == 5 && std::strcmp(argv[3], "--threads") == 0) task.options.threads = std::stoi(argv[4]);
    fmt::print("{}\n", to_json(workload->second(task), -1));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "lemma_bench: {}\n", error.what());
    return 1;
  }
}
