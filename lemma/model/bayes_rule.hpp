// lemma/model/bayes_rule.hpp: from probabilities to decisions, when mistakes do not all cost the same.
//
// Saying class l where class k is true costs L(k, l). Of a row with probabilities p the decision with the least expected loss
//
//     argmin_l  R(l) = Σₖ pₖ L(k, l)
//
// is Bayes' rule: no other rule has a smaller mean loss where p are the true probabilities. With L = 0 on the diagonal and 1 elsewhere
// it is the most probable class. Where even the least R(l) is above the price of saying nothing, the row is withheld (Chow 1970).
#pragma once
#include <lemma/core/matrix.hpp>
#include <optional>

namespace lemma {

/// 0 on the diagonal, 1 elsewhere.
Matrix zero_one_losses(Index classes);

/// Error unless it has a row and a column for each class, numbers that are finite and not negative, and no mistake that costs less
/// than the right answer.
void require_losses(const MatrixView& losses, Index classes);

/// A code for each row: the first class of those with the least expected loss, or −1 where that loss is above `reject`.
struct BayesDecisions {
  Labels chosen;
  Vector expected;  // the least expected loss of each row, or the price of withholding it
};
BayesDecisions bayes_decisions(const MatrixView& probabilities, const MatrixView& losses,
                               std::optional<double> reject = {});

/// Of two classes: the second is decided for where its probability is at least this. Infinite where it never is.
double bayes_threshold(const MatrixView& losses);

}  // namespace lemma
