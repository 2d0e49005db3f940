// tests/forge/seeds.hpp: small models of every method, and of the shapes that their files take.
#pragma once
#include <lemma/catalog.hpp>
#include <lemma/model/store.hpp>
#include <tests/contract/data.hpp>

namespace lemma::forge {

struct Seed {
  std::string name;
  Value document;
};

inline Value document_of(const TrainedModel& model) {
  constexpr std::size_t kHeader = 24;
  const auto file = encode(model);
  return from_cbor(file.data() + kHeader, file.size() - kHeader);
}

/// Twenty-four rows that every seed is fitted to: the groups of the contract, counts, and a kernel matrix.
inline const Table& table() {
  static const Table all = [] {
    Table out = contract::groups(24);
    std::vector<double> successes, failures;
    for (Index i = 0; i < out.rows(); ++i) {
      successes.push_back(static_cast<double>(i % 5));
      failures.push_back(static_cast<double>((i * 3) % 4 + 1));
    }
    out.add(numeric("s", successes));
    out.add(numeric("f", failures));
    const std::vector<double> x = out.column("x1").numbers().values;
    for (std::size_t j = 0; j < x.size(); ++j) {
      std::vector<double> column;
      for (std::size_t i = 0; i < x.size(); ++i) column.push_back(std::exp(-0.1 * (x[i] - x[j]) * (x[i] - x[j])));
      out.add(numeric("k" + std::to_string(j + 1), column));
    }
    return out;
  }();
  return all;
}

inline std::string kernel_columns() {
  std::string out = "k1";
  for (Index j = 2; j <= 24; ++j) out += " + k" + std::to_string(j);
  return out;
}

inline Value seed(const std::string& text, const std::string& how, DesignOptions design = {}) {
  Value params;
  const auto method = method_from(text, catalog(), params);
  TrainOptions options;
  options.design = std::move(design);
  options.fit.threads = 1;
  return document_of(train(method, params, formula(how), MemoryTableStream(table()), options));
}

/// The rows that a kernel method keeps, as they are kept of sparse rows. Nothing where it keeps none.
inline std::optional<Value> with_sparse_rows(Value document) {
  for (const char* name : {"points", "support_vectors"}) {
    const Value* rows = document.at("state").find(name);
    if (!rows || !rows->is_array() || rows->as_array().shape.size() != 2) continue;
    const Matrix dense = rows->as_matrix();
    std::vector<double> start{0}, column, value;
    for (Index i = 0; i < dense.rows(); ++i) {
      for (Index j = 0; j < dense.cols(); ++j)
        if (dense(i, j) != 0) {
          column.push_back(static_cast<double>(j));
          value.push_back(dense(i, j));
        }
      start.push_back(static_cast<double>(column.size()));
    }
    Value sparse = Value::object();
    sparse.set("width", dense.cols());
    sparse.set("start", Value(start));
    sparse.set("column", Value(column));
    sparse.set("value", Value(value));
    Value state = document.at("state");
    state.set(name, sparse);
    document.set("state", state);
    return document;
  }
  return {};
}

/// The method by itself, and what else its files may hold: other responses, weights, paths, kernels.
inline std::vector<Seed> seeds_of(const std::string& method) {
  const MethodAbout& about = find_method(method, catalog()).about();
  const std::string rows = "x1 + x2 + g", simple = contract::formula_for(about, rows);
  std::vector<Seed> out;
  const auto add = [&](const std::string& text, const std::string& how, DesignOptions design = {}) {
    // of so few rows not every class has a covariance of its own, nor spread in every column
    const std::string fitted = text == "qda"                  ? "qda(pooling=0.5, sphere=0.1)"
                               : text == "density_classifier" ? "density_classifier(base=kde(bandwidth=0.5))"
                                                              : text;
    out.push_back({text + " " + how, seed(fitted, how, std::move(design))});
  };
  add(method, simple);
  const std::string product = about.takes_codes ? "g" : "x3:g";  // codes have no products
  const std::string learned = contract::refuses_negative(about) ? "x1 + I(scale(x2)^2)" : "poly(x1, 2) + scale(x2)";
  add(method, contract::formula_for(about, learned + " + " + product), {.missing = Missing::mean});
  if (about.takes_weights) add(method, simple, {.weights = "w"});
  if (about.takes_precision) add(method, simple, {.precision = "f"});
  if (about.takes_offset && about.task != Task::classification) add(method, simple + " + offset(x3)");
  if (about.takes_counts) add(method, "cbind(s, f) ~ " + rows);
  if (about.task == Task::classification || about.either_response) {
    add(method, "side ~ " + rows);
    if (about.most_classes == 0 && method != "glm") add(method, "side:g ~ x1 + x2 + x3");
  }
  if (about.either_response && method != "logistic") add(method, "y ~ " + rows);
  std::string takes;
  for (const auto& info : find_method(method, catalog()).params()) takes += "," + info.name + ",";
  if (about.family == "kernel" && takes.find(",kernel,") != std::string::npos) {
    const bool refuses = method == "kernel_neighbors" || method == "gp_classification" || method == "nu_svm" ||
                         method == "one_class_svm";
    if (!refuses) add(method + "(kernel=precomputed)", contract::formula_for(about, kernel_columns()));
    add(method + "(kernel=0.5*poly(2) + linear)", simple);
    add(method + "(kernel=rbf(lengths=[1,2,3]))", simple);
    if (auto sparse = with_sparse_rows(out.front().document))
      out.push_back({method + " of sparse rows", *std::move(sparse)});
  }
  if (takes.find(",intercept,") != std::string::npos) add(method, simple + " - 1");
  if (method == "logistic" || method == "ridge" || method == "lasso" || method == "elastic_net")
    add(method + "(lambda=[3,1,0.5])", simple);
  if (method == "svm") {
    add("svm(probabilities=true)", "class ~ " + rows);
    add("svm(classes=one-vs-rest)", "class ~ " + rows);
  }
  if (method == "multinomial") add("multinomial(lambda=1)", "class ~ " + rows);
  if (method == "logistic") {
    Value params;
    const auto logistic = method_from(method, catalog(), params);
    const auto model = train(logistic, params, formula(simple), MemoryTableStream(table()));
    out.push_back({"logistic, updated", document_of(model.update(MemoryTableStream(table()), {}))});
  }
  return out;
}

inline std::vector<std::string> pipelines() {
  return {"scale | pca(components=2) | lda", "impute | polynomial(degree=2) | ridge", "whiten | lift | logistic",
          "scale | kmeans(k=2)", "scale | whiten"};
}
inline std::vector<Seed> seeds_of_pipeline(const std::string& text) {
  Value params;
  const auto method = method_from(text, catalog(), params);
  return {{text, seed(text, contract::formula_for(method->about(), "x1 + x2 + g"))}};
}

/// What the tests are named by: each method of the catalog, and the pipelines.
inline std::vector<std::string> subjects() {
  std::vector<std::string> out;
  for (const Method* method : catalog()) out.push_back(method->name());
  for (const auto& text : pipelines()) out.push_back(text);
  return out;
}
inline std::vector<Seed> seeds(const std::string& subject) {
  return subject.find('|') == std::string::npos ? seeds_of(subject) : seeds_of_pipeline(subject);
}

}  // namespace lemma::forge
