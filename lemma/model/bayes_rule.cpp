// lemma/model/bayes_rule.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/model/bayes_rule.hpp>
#include <limits>

namespace lemma {

Matrix zero_one_losses(Index classes) { return Matrix::Ones(classes, classes) - Matrix::Identity(classes, classes); }

void require_losses(const MatrixView& losses, Index classes) {
  if (losses.rows() != classes || losses.cols() != classes)
    throw Error(
        fmt::format("the losses are {} by {}; of {} classes there must be {} by {}: a row for each true class, a "
                    "column for each decision",
                    losses.rows(), losses.cols(), classes, classes, classes));
  for (Index k = 0; k < classes; ++k)
    for (Index l = 0; l < classes; ++l) {
      if (!(std::isfinite(losses(k, l)) && losses(k, l) >= 0))
        throw Error(fmt::format("the loss in row {}, column {} is {}, must be a finite number of at least 0", k + 1,
                                l + 1, losses(k, l)));
      if (losses(k, l) < losses(k, k))
        throw Error(fmt::format("of class {} the decision {} costs {}, less than the right one, which costs {}", k + 1,
                                l + 1, losses(k, l), losses(k, k)));
    }
}

BayesDecisions bayes_decisions(const MatrixView& probabilities, const MatrixView& losses,
                               std::optional<double> reject) {
  require_losses(losses, probabilities.cols());
  const Index n = probabilities.rows(), classes = losses.rows();
  BayesDecisions out{Labels(at(n)), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    Index best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (Index l = 0; l < classes; ++l) {
      double risk = 0;
      for (Index k = 0; k < classes; ++k) risk += probabilities(i, k) * losses(k, l);
      if (risk < least) {
        least = risk;
        best = l;
      }
    }
    const bool withheld = reject && least > *reject;
    out.chosen[at(i)] = withheld ? -1 : static_cast<int>(best);
    out.expected(i) = withheld ? *reject : least;
  }
  return out;
}

double bayes_threshold(const MatrixView& losses) {
  require_losses(losses, 2);
  const double false_alarm = losses(0, 1) - losses(0, 0), missed = losses(1, 0) - losses(1, 1);
  return false_alarm + missed > 0 ? false_alarm / (false_alarm + missed) : std::numeric_limits<double>::infinity();
}

}  // namespace lemma
