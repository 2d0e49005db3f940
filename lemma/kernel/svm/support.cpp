// lemma/kernel/svm/support.cpp: support vectors found again among rows that may come in another order.
#include <algorithm>
#include <cmath>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/kernel/svm/parts.hpp>
#include <numeric>

namespace lemma::svm {
namespace {

/// Which rows a multiplier may belong to, and which of them it rather does.
struct Suits {
  const SvmModel& model;
  const std::vector<Machine>& machines;
  const Outcomes& outcomes;

  double beta(std::size_t m, Index j) const { return model.dual_coefficients.of(static_cast<Index>(m), j); }
  double size(Index j) const { return model.dual_coefficients.of.col(j).cwiseAbs().maxCoeff(); }
  /// On the side of each machine that the sign of its multiplier says.
  bool may_be(Index j, Index row) const {
    if (!outcomes.of_classes) return true;
    const int label = outcomes.label[at(row)];
    for (std::size_t m = 0; m < machines.size(); ++m) {
      const Machine& machine = machines[m];
      if (beta(m, j) > 0 && label != machine.positive) return false;
      if (beta(m, j) < 0 && (machine.negative < 0 ? label == machine.positive : label != machine.negative))
        return false;
    }
    return true;
  }
  /// Cᵢ that are large enough before those that are not, and one that the multiplier reaches before others; then of numbers
  /// the row with the larger loss, and the smaller Cᵢ.
  bool better(Index j, Index a, Index b) const {
    double needed = 0;
    for (std::size_t m = 0; m < machines.size(); ++m)
      needed = std::max(needed, std::abs(beta(m, j)) / row_cost(model.spec, machines[m]));
    const double of_a = outcomes.factor(a), of_b = outcomes.factor(b);
    const auto bears = [&](double factor) { return factor >= (1 - 1e-9) * needed; };
    const auto reached = [&](double factor) { return bears(factor) && (1 - 1e-9) * factor <= needed; };
    if (bears(of_a) != bears(of_b)) return bears(of_a);
    if (reached(of_a) != reached(of_b)) return reached(of_a);
    if (!outcomes.of_classes && outcomes.y(a) != outcomes.y(b))
      return beta(0, j) > 0 ? outcomes.y(a) > outcomes.y(b) : outcomes.y(a) < outcomes.y(b);
    return of_a < of_b;
  }
};

}  // namespace

std::int64_t order_of(const Points& points, const Outcomes& outcomes) {
  return fingerprint_in_order(
      points, [&](Index i) { return outcomes.of_classes ? outcomes.label[at(i)] : outcomes.y(i); },
      [&](Index i) { return outcomes.weight[at(i)]; });
}

SupportRows support_rows(const SvmModel& model, const std::vector<Machine>& machines, const Points& points,
                         const Outcomes& outcomes) {
  SupportRows out{model.support.of};
  if (model.spec.kernel.contains<Precomputed>() || model.order == order_of(points, outcomes)) return out;
  const Points kept = model.support_vectors.points(model.spec.kernel, model.support.of);
  const Suits suits{model, machines, outcomes};
  RowMatch match(kept, points, [&](Index j, Index row) { return suits.may_be(j, row); });
  std::vector<Index> largest_first(at(kept.count()));
  std::iota(largest_first.begin(), largest_first.end(), Index{0});
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [&](Index a, Index b) { return suits.size(a) > suits.size(b); });
  for (const Index j : largest_first)  // where a row is missing they are held against their numbers, and fail
    if (!match.take(j, [&](Index which, Index a, Index b) { return suits.better(which, a, b); })) return out;
  out.as_numbered = match.rows() == out.of;
  out.of = match.rows();
  return out;
}

}  // namespace lemma::svm
