// lemma/report/candidates.cpp
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/report/candidates.hpp>

namespace lemma::reporting {
namespace {

class List {
 public:
  explicit List(const Shape& shape) : shape_(shape) {}
  void add(std::string method, std::string why) { out_.methods.push_back({std::move(method), std::move(why)}); }
  /// Only up to so many rows.
  void up_to(Index most, std::string method, std::string why) {
    if (shape_.rows <= most) return add(std::move(method), std::move(why));
    out_.left_out.push_back(
        {std::move(method), fmt::format("its work grows faster than the rows: up to {}", count_of(most, "row"))});
  }
  /// Only where there are more rows than columns, by enough.
  void with_room(std::string method, std::string why) {
    if (shape_.rows > 2 * shape_.features + shape_.classes) return add(std::move(method), std::move(why));
    out_.left_out.push_back(
        {std::move(method),
         fmt::format("{} are too many for {}", count_of(shape_.features, "column"), count_of(shape_.rows, "row"))});
  }
  Candidates done() { return std::move(out_); }

 private:
  const Shape& shape_;
  Candidates out_;
};

/// Of a large table fewer trees: what they add after the first hundred is small there.
std::string forest_for(const Shape& shape) {
  constexpr double kLarge = 1e6;  // numbers in the table
  const bool large = static_cast<double>(shape.rows) * static_cast<double>(shape.features) > kLarge;
  return fmt::format("forest(trees={})", large ? 100 : 300);
}

Candidates for_classes(const Shape& shape) {
  List list(shape);
  list.with_room("lda", "classes as Gaussians of one shape: straight borders, nothing to tune");
  if (shape.classes == 2) list.add("logistic(lambda=1)", "straight borders, probabilities, a small penalty");
  else list.add("multinomial(lambda=1)", "straight borders, probabilities, a small penalty");
  list.add("naive_bayes", "each column on its own");
  list.add("tree", "questions one after the other, easy to read");
  list.up_to(20'000, "scale | knn(k=15)", "as the fifteen nearest rows are");
  list.add(forest_for(shape), "many trees of drawn rows and columns");
  list.add("boost", "trees that mend one another's errors");
  list.up_to(5'000, "svm(standardize=true)", "curved borders with a wide margin");
  return list.done();
}

Candidates for_numbers(const Shape& shape) {
  List list(shape);
  list.with_room("ols", "least squares: a straight line, nothing to tune");
  list.add("ridge(lambda=auto)", "a straight line drawn to zero, by how much is chosen inside");
  list.add("lasso", "a straight line of few columns");
  list.add("tree", "questions one after the other, easy to read");
  list.up_to(20'000, "scale | knn(k=10)", "as the ten nearest rows are");
  list.add(forest_for(shape), "many trees of drawn rows and columns");
  list.add("boost", "trees that mend one another's errors");
  list.up_to(1'000, "scale | gp", "a smooth function, with how sure it is");
  return list.done();
}

Candidates for_clusters() {
  Candidates out;
  for (int k = 2; k <= 6; ++k)
    out.methods.push_back({fmt::format("scale | kmeans(k={})", k), "round clusters of one size, columns alike"});
  for (int k = 2; k <= 4; ++k)
    out.methods.push_back({fmt::format("scale | gmm(components={})", k), "clusters as ellipses, rows between them"});
  return out;
}

}  // namespace

Candidates candidates_for(const Shape& shape) {
  if (shape.task == Task::classification) return for_classes(shape);
  if (shape.task == Task::regression) return for_numbers(shape);
  return for_clusters();
}

Plan plan_for(const Shape& shape) {
  Plan out;
  out.folds = shape.rows <= 1'000 ? 10 : shape.rows <= 20'000 ? 5 : 3;
  if (shape.task == Task::clustering) out.folds = 3;
  while (out.folds > 2 && shape.rows < 5 * out.folds) --out.folds;
  return out;
}

}  // namespace lemma::reporting
