// examples/from_cpp.cpp: the examples of docs/from_cpp.md: `from_cpp NAME` runs one of them. The page shows what stands between
// its marks and what it prints.
#include <cstdio>
#include <functional>
#include <lemma/lemma.hpp>
#include <map>
#include <string>

using namespace lemma;

namespace {

void by_formula() {
  // [by_formula]
  const Table boston = dataset("boston");  // or read_csv("boston.csv")
  const auto model = fit(Ols{}, formula("medv ~ rm + log(lstat)"), boston);
  std::printf("%.4f\n", model.coefficient("log(lstat)"));
  std::printf("%s", model.summary().c_str());  // what `lemma fit ols` prints
  // [end]
}

void matrices() {
  // [matrices]
  const Matrix x{{0.0, 1.0}, {1.0, 0.0}, {2.0, 1.0}, {3.0, 0.0}};  // a row is an example
  const Vector y{{1.0, 3.5, 5.0, 7.5}};
  const auto model = fit(Ridge{.lambda = {0.1}, .standardize = false}, x, y);
  const Vector said = model.predict(Matrix{{4.0, 1.0}});
  std::printf("%.4f %.4f -> %.4f\n", model.coefficients.of(0, 0), model.coefficients.of(0, 1), said(0));
  // [end]
}

void certificate() {
  // [certificate]
  const Table pima = dataset("pima_train");
  const auto model = fit(Logistic{}, formula("type ~ ."), pima);
  const Certificate& claim = model.certificate;                              // of the fit
  const Verification again = model.trained.verify(MemoryTableStream(pima));  // by another route, from the rows
  std::printf("%s, %s\n", claim.holds() ? "holds" : "fails", again.certificate.holds() ? "verified" : "not verified");
  // [end]
}

void classes() {
  // [classes]
  const Table iris = dataset("iris");
  const auto model = fit(Lda{}, formula("species ~ ."), iris);
  const Table flower({numeric("sepal_length", {6.0}), numeric("sepal_width", {2.7}), numeric("petal_length", {5.0}),
                      numeric("petal_width", {1.7})});
  const int code = model.predict(flower)[0];
  const double p = model.probabilities(flower)(0, code);
  std::printf("%s, %.3f\n", model.design.classes()[static_cast<std::size_t>(code)].c_str(), p);
  // [end]
}

void pipeline() {
  // [pipeline]
  const TrainedModel model =
      fit(Scale{} | Pca{.components = 2} | Svm{.C = 10}, formula("species ~ ."), dataset("iris"));
  std::printf("%s: %d columns in\n", model.model->method().name().c_str(), static_cast<int>(model.model->width()));
  // [end]
}

void keep() {
  // [keep]
  const auto model = fit(KMeans{.k = 3}, formula("~ petal_length + petal_width"), dataset("iris"), {.seed = 7});
  save(model, "iris.lemma");  // what `lemma predict` and `lemma verify` read
  const TrainedModel again = load("iris.lemma", catalog());
  const Table centers = again.result_table("centers");
  std::printf("%d centres, columns %s", static_cast<int>(centers.rows()), format_csv(centers.slice(0, 0)).c_str());
  // [end]
}

void parts() {
  // [parts]
  const auto model = fit(KMeans{.k = 2}, formula("~ petal_length + petal_width"), dataset("iris"));
  PredictOptions options;
  options.what = {"cluster", "distances"};  // parts by their names, as --what takes them
  const Prediction said = model.trained.predict(dataset("iris").slice(0, 1), options);
  std::printf("%d, %.3f away\n", said.label()[0], said.matrix("distances")(0, said.label()[0]));
  // [end]
}

void by_name() {
  // [by_name]
  Value params;  // a method by its name, as the tool has it
  const auto method = method_from("scale | kernel_ridge(lambda=0.5)", catalog(), params);
  const TrainedModel model = train(method, params, formula("accel ~ times"), MemoryTableStream(dataset("mcycle")));
  std::printf("%s\n", model.model->certificate().holds() ? "holds" : "fails");
  // [end]
}

/// Σ x² of each column: anything that can be added up over rows.
struct Squares {
  Vector sum;
  void accumulate(const Block& block) { sum += block.x.colwise().squaredNorm().transpose(); }
  void merge(const Squares& other) { sum += other.sum; }
};

void one_pass() {
  // [one_pass]
  // struct Squares { Vector sum; void accumulate(const Block&); void merge(const Squares&); };
  const Matrix x{{1.0, 2.0}, {3.0, 4.0}};
  const Squares found = scan(MemoryRows(x), Squares{Vector::Zero(2)});  // the same bits on any number of threads
  std::printf("%g %g\n", found.sum(0), found.sum(1));
  // [end]
}

void mistakes() {
  // [mistakes]
  try {
    fit(Lda{}, formula("species ~ petal_lenght"), dataset("iris"));
  } catch (const Error& error) {  // the caller's mistake; outcomes are values in the model
    std::printf("%s\n", error.what());
  }
  // [end]
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, std::function<void()>> examples{
      {"by_formula", by_formula}, {"matrices", matrices}, {"certificate", certificate},
      {"classes", classes},       {"pipeline", pipeline}, {"keep", keep},
      {"parts", parts},           {"by_name", by_name},   {"one_pass", one_pass},
      {"mistakes", mistakes}};
  const auto found = examples.find(count == 2 ? arguments[1] : "");
  if (found == examples.end()) {
    for (const auto& [name, run] : examples) std::printf("%s\n", name.c_str());
    return 2;
  }
  found->second();
  return 0;
}
