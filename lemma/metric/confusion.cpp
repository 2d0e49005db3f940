// lemma/metric/confusion.cpp: what follows from the table of true and predicted classes.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/classification.hpp>

namespace lemma {
namespace {

using detail::share;

void require_codes(const Labels& codes, Index classes, std::string_view what) {
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (codes[i] < 0 || codes[i] >= classes)
      throw Error(fmt::format("the {} class of row {} is {}; of {} classes it must be a code from 0 to {}", what, i + 1,
                              codes[i] == -1 ? "missing" : std::to_string(codes[i]), classes, classes - 1));
}

}  // namespace

Confusion confusion(const Labels& truth, const Labels& predicted, Index classes, const VectorView& weights) {
  if (truth.size() != predicted.size())
    throw Error(fmt::format("there are {} predicted classes for {}", predicted.size(),
                            count_of(static_cast<Index>(truth.size()), "row")));
  const Vector w = detail::frequencies(static_cast<Index>(truth.size()), weights);
  require_codes(truth, classes, "true");
  require_codes(predicted, classes, "predicted");
  Confusion out{Matrix::Zero(classes, classes)};
  for (std::size_t i = 0; i < truth.size(); ++i) out.counts(truth[i], predicted[i]) += w(static_cast<Index>(i));
  return out;
}

double Confusion::accuracy() const { return share(counts.trace(), total()); }
double Confusion::recall(Index k) const { return share(counts(k, k), of_class(k)); }
double Confusion::precision(Index k) const { return share(counts(k, k), predicted_as(k)); }
double Confusion::f1(Index k) const { return share(2 * counts(k, k), of_class(k) + predicted_as(k)); }

double Confusion::specificity(Index k) const {
  const double others = total() - of_class(k);
  return share(others - (predicted_as(k) - counts(k, k)), others);
}

double Confusion::balanced_accuracy() const {
  double sum = 0;
  Index occur = 0;
  for (Index k = 0; k < classes(); ++k)
    if (of_class(k) > 0) {
      sum += recall(k);
      ++occur;
    }
  return share(sum, static_cast<double>(occur));
}

double Confusion::kappa() const {
  const double n = total(), chance = counts.rowwise().sum().dot(counts.colwise().sum().transpose()) / (n * n);
  return share(accuracy() - chance, 1 - chance);
}

/// (c n − Σ tₖ pₖ) / √((n² − Σ pₖ²)(n² − Σ tₖ²)) with c rows right, tₖ rows of class k and pₖ predicted as k. In shares.
double Confusion::matthews() const {
  const Vector t = counts.rowwise().sum() / total(), p = counts.colwise().sum().transpose() / total();
  return share(accuracy() - t.dot(p), std::sqrt(1 - p.squaredNorm()) * std::sqrt(1 - t.squaredNorm()));
}

Labels most_probable(const MatrixView& probabilities) {
  Labels out(static_cast<std::size_t>(probabilities.rows()));
  for (Index i = 0; i < probabilities.rows(); ++i) {
    Index best = 0;
    probabilities.row(i).maxCoeff(&best);
    out[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return out;
}

}  // namespace lemma
