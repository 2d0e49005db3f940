// bench/lemma_trees.cpp: trees, forests, boosting.
#include <algorithm>
#include <bench/lemma_job.hpp>
#include <cmath>

namespace lemma::bench {
namespace {

/// Two classes: rows to learn from, and rows to be judged by.
struct TwoClasses {
  Matrix x, new_x;
  Labels codes, new_codes;
  MemoryRows rows;
  TwoClasses(const Job& task, const std::string& name)
      : x(task.matrix(name + "_X.npy")),
        new_x(task.matrix(name + "_Xt.npy")),
        codes(labels(task.matrix(name + "_y.npy"))),
        new_codes(labels(task.matrix(name + "_yt.npy"))),
        rows(x) {
    rows.labels(codes, {"0", "1"});
  }
  TwoClasses(const TwoClasses&) = delete;
  static Labels labels(const Matrix& y) { return {y.data(), y.data() + y.rows()}; }

  double error(const Labels& said) const {
    Index wrong = 0;
    for (std::size_t i = 0; i < said.size(); ++i) wrong += said[i] != new_codes[i];
    return static_cast<double>(wrong) / static_cast<double>(said.size());
  }
  double log_loss(const Matrix& p) const {
    double sum = 0;
    for (std::size_t i = 0; i < new_codes.size(); ++i)
      sum -= std::log(std::max(p(static_cast<Index>(i), new_codes[i]), 1e-300));
    return sum / static_cast<double>(new_codes.size());
  }
};

/// The fit with its certificate under the clock, then the share of wrong classes of the new rows.
template <class Spec>
Value classified(const Job& task, const std::string& name, const Spec& how) {
  Value out = Value::object(), quality = Value::object();
  const TwoClasses data(task, name);
  const Valid<Spec> spec(how);
  const auto model = timed(out, [&] { return fit(spec, data.rows, task.options); });
  if constexpr (requires { model.classify(data.new_x); })
    quality.set("test_error", data.error(model.classify(data.new_x)));
  else quality.set("test_error", data.error(model.predict(data.new_x)));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

/// Grown out, as scikit-learn's trees are by default.
constexpr int kDeepest = 52;
Tree grown_out() { return {.min_split = 2, .min_leaf = 1, .cp = 0, .depth = kDeepest, .surrogates = 0, .folds = 0}; }

Value boost(const Job& task, const std::string& name, bool categories) {
  Value out = Value::object(), quality = Value::object();
  TwoClasses data(task, name);
  if (categories) {  // the first ten columns are codes
    std::vector<std::string> levels;
    for (int k = 0; k < 1000; ++k) levels.push_back(std::to_string(k));
    data.rows.levels.assign(static_cast<std::size_t>(data.x.cols()), {});
    for (std::size_t j = 0; j < 10; ++j) data.rows.levels[j] = levels;
  }
  const Valid<Boost> spec(Boost{});
  const auto model = timed(out, [&] { return fit(spec, data.rows, task.options); });
  quality.set("log_loss", data.log_loss(model.probabilities(data.new_x)));
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

/// What a model says of the rows it was fitted to.
template <class Spec>
Value predicted(const Job& task, const std::string& name, const Spec& how) {
  Value out = Value::object(), quality = Value::object();
  const TwoClasses data(task, name);
  const Valid<Spec> spec(how);
  TrainedModel trained;
  trained.model = AnySpec(*spec).fit(data.rows, task.options);
  PredictOptions options;
  options.what = {std::string(kProbabilitiesPart.name)};
  const Prediction said = timed(out, [&] { return trained.predict(data.rows, options, task.execution()); });
  quality.set("mean_probability", said.probabilities().col(1).mean());
  out.set("quality", quality);
  return out;
}

/// Processor seconds by rows, which other processes disturb least. Ten times the rows: n log n would be 12.5, 12 and 11.7 times as long.
Value tree_scaling(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix("tree_scaling_X.npy"), y = task.matrix("tree_scaling_y.npy");
  double seconds = 0, cpu = 0;
  for (const Index n : {10'000, 100'000, 1'000'000, 10'000'000}) {
    if (n > x.rows()) break;
    const Matrix part = x.topRows(n);
    const Labels codes(y.data(), y.data() + n);
    MemoryRows rows(part);
    rows.labels(codes, {"0", "1"});
    const Clock clock;
    fit(Valid<Tree>(grown_out()), rows, task.options);
    quality.set(std::to_string(n), clock.cpu_seconds());
    seconds += clock.seconds();
    cpu += clock.cpu_seconds();
  }
  out.set("seconds", seconds);
  out.set("cpu", cpu);
  out.set("quality", quality);
  return out;
}

}  // namespace

Workloads tree_workloads() {
  return {
      {"tree", [](const Job& task) { return classified(task, "cart", grown_out()); }},
      {"forest", [](const Job& task) { return classified(task, "forest", Forest{}); }},
      {"extra_trees", [](const Job& task) { return classified(task, "forest", ExtraTrees{}); }},
      {"adaboost", [](const Job& task) { return classified(task, "forest", AdaBoost{.rounds = 100}); }},
      {"boost", [](const Job& task) { return boost(task, "gbm", false); }},
      {"boost_categories", [](const Job& task) { return boost(task, "gbm_categories", true); }},
      {"boost_predict", [](const Job& task) { return predicted(task, "gbm", Boost{}); }},
      {"forest_predict", [](const Job& task) { return predicted(task, "forest", Forest{}); }},
      {"tree_scaling", tree_scaling},
  };
}

}  // namespace lemma::bench
