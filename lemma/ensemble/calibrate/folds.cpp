// lemma/ensemble/calibrate/folds.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/ensemble/calibrate/folds.hpp>
#include <lemma/model/row_hash.hpp>
#include <map>
#include <numeric>

namespace lemma::calibrating {
namespace {

/// Probabilities are not taken nearer to 0 and 1 than this: a leaf that saw one class alone is not certain.
constexpr double kSurest = 1e-6;
constexpr Index kTogether = 4096;

struct Outcomes {
  std::vector<std::uint64_t> hash;
  Labels label;
  Vector weight;
};
Outcomes outcomes_of(const Rows& rows, const Execution& execution) {
  Outcomes out{{}, Labels(at(rows.count())), Vector(rows.count())};
  out.hash.resize(at(rows.count()));
  const RowKey key = key_of(rows, true);
  for_each_block(rows, execution, [&](const Block& block) {
    RowHashes hashes;
    hash_rows(block, 0, block.rows(), rows, key, hashes);
    std::copy(hashes.ascending.begin(), hashes.ascending.end(), out.hash.begin() + block.first);
    for (Index i = 0; i < block.rows(); ++i) {
      out.label[at(block.first + i)] = block.label[at(i)];
      out.weight(block.first + i) = block.weight_of(i);
    }
  });
  return out;
}

bool gives(const AnyModel& model, const PartInfo& wanted) {
  const auto parts = model->parts();
  return std::any_of(parts.begin(), parts.end(), [&](const PartInfo& part) { return part.name == wanted.name; });
}

}  // namespace

std::vector<int> folds_of(const Rows& rows, int folds, const Execution& execution) {
  const Outcomes all = outcomes_of(rows, execution);
  std::vector<std::map<std::uint64_t, int>> of_class(rows.classes.size());  // the fold of each different row
  for (std::size_t i = 0; i < all.hash.size(); ++i)
    if (all.weight(static_cast<Index>(i)) > 0) of_class[at(all.label[i])].emplace(all.hash[i], 0);
  for (std::size_t k = 0; k < of_class.size(); ++k) {
    if (of_class[k].size() == 1)
      throw Error(
          fmt::format("calibrate: class '{}' has one row, or copies of one; a class needs two rows that differ, "
                      "so that it can be learned without one of them",
                      rows.classes[k]));
    int next = 0;
    for (auto& [hash, fold] : of_class[k]) fold = next++ % folds;
  }
  std::vector<int> out(all.hash.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto& known = of_class[at(all.label[i])];
    const auto found = known.find(all.hash[i]);
    if (found != known.end()) out[i] = found->second;
  }
  return out;
}

Matrix scores_of(const AnyModel& model, const MatrixView& x) {
  const Index classes = model->class_count();
  PredictOptions options;
  if (gives(model, kDecisionPart)) {
    options.what = {std::string(kDecisionPart.name)};
    const Matrix said = model.predict(x, options).decision();
    if (classes == 2 && said.cols() == 1) return said;
    if (classes == 2 && said.cols() == 2) return said.col(1) - said.col(0);
    if (said.cols() == classes) return said;
  }
  if (!gives(model, kProbabilitiesPart))
    throw Error(
        fmt::format("calibrate: {} gives neither a decision value for each class nor probabilities, so there is "
                    "nothing that could be calibrated",
                    model->method().name()));
  options.what = {std::string(kProbabilitiesPart.name)};
  const Matrix p = model.predict(x, options).probabilities();
  const auto safe = [](double each) { return std::clamp(each, kSurest, 1 - kSurest); };
  Matrix out(x.rows(), classes == 2 ? 1 : classes);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index k = 0; k < out.cols(); ++k) {
      const double each = safe(p(i, classes == 2 ? 1 : k));
      out(i, k) = classes == 2 ? std::log(each / (1 - each)) : std::log(each);
    }
  return out;
}

HeldOut held_out_scores(const AnySpec& base, int folds, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const std::vector<int> fold = folds_of(rows, folds, execution.part(0, 0.05));
  const Outcomes all = outcomes_of(rows, execution.part(0.05, 0.1));
  // In an order of their own: a method that looks at rows one by one says the same whatever order they come in, and so do
  // the sums of the map, which are all that is left of rows whose scores hardly differ.
  std::vector<Index> order(fold.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return all.hash[at(a)] < all.hash[at(b)]; });
  const auto classes = static_cast<Index>(rows.classes.size());
  HeldOut out{Matrix(rows.count(), classes == 2 ? 1 : classes), Labels(order.size()), Vector(rows.count()), classes};
  std::vector<Index> place(order.size());  // of each row in that order
  for (std::size_t j = 0; j < order.size(); ++j) {
    place[at(order[j])] = static_cast<Index>(j);
    out.label[j] = all.label[at(order[j])];
    out.weight(static_cast<Index>(j)) = all.weight(order[j]);
  }
  const int used = 1 + *std::max_element(fold.begin(), fold.end());
  Quietly quiet(options.progress);
  parallel_for(used, execution.part(0.1, 0.9, "scoring held-out rows"), [&](Index k) {
    std::vector<Index> train, test;
    for (const Index i : order) (fold[at(i)] == k ? test : train).push_back(i);
    FitOptions inside;
    inside.seed = static_cast<std::uint64_t>(k) + 1;  // the same when the model is looked at again
    inside.threads = options.threads;
    inside.progress = &quiet;
    const SelectedRows learned(rows, train), judged(rows, test);
    const AnyModel model = base.fit(learned, inside);
    if (quiet.cancelled()) throw Cancelled();
    BlockBuffer buffer;
    for (Index first = 0; first < judged.count(); first += kTogether) {
      const Block block = judged.read(first, std::min(kTogether, judged.count() - first), buffer);
      const Matrix scores = scores_of(model, block.x);
      for (Index i = 0; i < block.rows(); ++i) {
        for (const double each : scores.row(i))
          if (!std::isfinite(each))
            throw Error(fmt::format("calibrate: the score of row {} by {} is {}, and cannot be calibrated",
                                    test[at(first + i)] + 1, base.method().name(), each));
        out.score.row(place[at(test[at(first + i)])]) = scores.row(i);
      }
    }
  });
  return out;
}

}  // namespace lemma::calibrating
