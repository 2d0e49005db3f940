// lemma/ensemble/adaboost/stumps.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/ensemble/adaboost/stumps.hpp>
#include <lemma/math/radix.hpp>
#include <limits>
#include <numeric>

namespace lemma::ensemble {
namespace {

constexpr double kTie = 1e-9;        // a gain is greater only by more than this share, as in the tree
constexpr double kLeast = 1 - 1e-9;  // weight of a side, at least

/// The class of greatest weight, the first of equals.
int heaviest(const Vector& counts) {
  int best = 0;
  for (Index k = 1; k < counts.size(); ++k)
    if (counts(k) > counts(best) + 1e-12 * counts.sum()) best = static_cast<int>(k);
  return best;
}

Vector totals_of(const TrainingRows& rows, const Vector& weight) {
  Vector out = Vector::Zero(rows.classes());
  for (const Index i : rows.counting) out(rows.label[at(i)]) += weight(i);
  return out;
}

/// Of two classes the weights of the first with a minus sign.
Vector signed_by_class(const TrainingRows& rows, const Vector& weight) {
  Vector out = weight;
  for (Index i = 0; i < rows.count(); ++i)
    if (rows.label[at(i)] == 0) out(i) = -weight(i);
  return out;
}

}  // namespace

AnySpec stump() {
  return parse_method(
             "tree(depth=1, criterion=misclassification, cp=-1, min_split=1, min_leaf=1, surrogates=0, folds=0)")
      .completed();
}

bool is_stump(const AnySpec& base) {
  const AnySpec usual = stump();
  if (&base.method() != &usual.method()) return false;
  Value params = base.params();
  for (const char* other : {"surrogates", "gaps", "form", "folds"}) params.set(other, usual.params().at(other));
  return params == usual.params();
}

SortedColumns::SortedColumns(const TrainingRows& rows, const Execution& execution)
    : rows_(rows), order_(at(rows.x.cols())) {
  require(rows.count() < std::numeric_limits<std::int32_t>::max(),
          "adaboost: more than 2^31 rows cannot be sorted here");
  for_columns(rows.x.cols(), rows.count(), execution, [&](Index j) {
    std::vector<KeyedRow> items;
    items.reserve(rows.counting.size());
    for (const Index i : rows.counting) items.push_back({key_of(rows.x(i, j)), static_cast<std::uint32_t>(i)});
    radix_sort(items);
    auto& order = order_[at(j)];
    order.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool last = i + 1 == items.size() || items[i].key != items[i + 1].key;
      order.push_back(items[i].row | (last ? kLast : 0U));
    }
  });
}

/// With s = Σ ±w over the rows below and S over all, the two classes counted with opposite signs, the split is right about
/// (|s| + |S − s| − |S|) / 2 more weight than the heavier class alone.
SortedColumns::Found SortedColumns::search_two(Index column, const Vector& signed_weight, double floor,
                                               double mass) const {
  const auto& order = order_[at(column)];
  const double* const w = signed_weight.data();
  const double all = signed_weight.sum(), size = std::abs(all);
  Found out;
  double sum = 0, below = 0, limit = 2 * floor + size;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const double each = w[order[i] & ~kLast];
    sum += each;
    below += std::abs(each);
    if ((order[i] & kLast) == 0) continue;
    const double twice = std::abs(sum) + std::abs(all - sum);
    if (!(twice > limit) || below < kLeast || mass - below < kLeast) continue;
    out = {(twice - size) / 2, i};
    limit = size + 2 * out.gain * (1 + kTie);
  }
  return out;
}

SortedColumns::Found SortedColumns::search_more(Index column, const Vector& weight, const Vector& totals,
                                                double floor) const {
  const auto& order = order_[at(column)];
  Vector left = Vector::Zero(totals.size()), right = totals;
  const double base = totals.maxCoeff(), mass = totals.sum();
  Found out;
  double limit = floor, below = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const auto row = static_cast<Index>(order[i] & ~kLast);
    const double w = weight(row);
    const int k = rows_.label[at(row)];
    left(k) += w;
    right(k) -= w;
    below += w;
    if ((order[i] & kLast) == 0 || below < kLeast || mass - below < kLeast) continue;
    const double gain = left.maxCoeff() + right.maxCoeff() - base;
    if (!(gain > limit)) continue;
    out = {gain, i};
    limit = gain * (1 + kTie);
  }
  return out;
}

Stump SortedColumns::made(Index column, const Found& found, const Vector& weight, const Vector& totals) const {
  const auto& order = order_[at(column)];
  Vector left = Vector::Zero(totals.size());
  for (std::size_t i = 0; i <= found.place; ++i) {
    const auto row = static_cast<Index>(order[i] & ~kLast);
    left(rows_.label[at(row)]) += weight(row);
  }
  const Vector right = totals - left;
  const double a = rows_.x(static_cast<Index>(order[found.place] & ~kLast), column),
               b = rows_.x(static_cast<Index>(order[found.place + 1] & ~kLast), column), middle = std::midpoint(a, b);
  return {column, middle > a ? middle : b, heaviest(left), heaviest(right), left.sum() >= right.sum(), true};
}

Stump SortedColumns::best(const Vector& weight, const Execution& execution) const {
  const Vector totals = totals_of(rows_, weight);
  const double mass = totals.sum(), floor = 1e-12 * mass;
  const Vector by_sign = totals.size() == 2 ? signed_by_class(rows_, weight) : Vector();
  std::vector<Found> found(order_.size());
  for_columns(static_cast<Index>(order_.size()), rows_.count(), execution, [&](Index j) {
    found[at(j)] = totals.size() == 2 ? search_two(j, by_sign, floor, mass) : search_more(j, weight, totals, floor);
  });
  Index best = -1;
  for (Index j = 0; j < static_cast<Index>(found.size()); ++j)
    if (found[at(j)].gain > (best < 0 ? 0 : found[at(best)].gain * (1 + kTie))) best = j;
  if (best >= 0) return made(best, found[at(best)], weight, totals);
  Stump constant;
  constant.below = constant.above = heaviest(totals);
  return constant;
}

SortedColumns::Place SortedColumns::place_of(const Stump& stump, const Vector& weight) const {
  const double infinity = std::numeric_limits<double>::infinity();
  double under = -infinity, over = infinity;
  Place out;
  for (const Index i : rows_.counting) {
    const double value = rows_.x(i, stump.column);
    if (value < stump.threshold) {
      under = std::max(under, value);
      out.weight_below += weight(i);
    } else {
      over = std::min(over, value);
    }
  }
  const double middle = std::isinf(under) || std::isinf(over) ? infinity : std::midpoint(under, over);
  out.middle = middle > under ? middle : over;
  return out;
}

/// From the greatest value down, the weight of each class above: most is the most weight that two sides are right about.
double SortedColumns::most_right(Index column, const Vector& weight, const Vector& totals) const {
  const auto& order = order_[at(column)];
  Vector above = Vector::Zero(totals.size());
  double sum = 0, most = 0;
  const double mass = totals.sum();
  for (std::size_t i = order.size(); i-- > 1;) {
    const auto row = static_cast<Index>(order[i] & ~kLast);
    above(rows_.label[at(row)]) += weight(row);
    sum += weight(row);
    if ((order[i - 1] & kLast) == 0 || sum < kLeast || mass - sum < kLeast) continue;
    double left = 0;
    for (Index k = 0; k < totals.size(); ++k) left = std::max(left, totals(k) - above(k));
    most = std::max(most, left + above.maxCoeff());
  }
  return most;
}

/// The same of two classes. The weight of a row of the first class has a minus sign, so that one number is read for each.
double SortedColumns::most_right_of_two(Index column, const Vector& signed_weight, const Vector& totals) const {
  const auto& order = order_[at(column)];
  const double* const w = signed_weight.data();
  const double first = totals(0), second = totals(1), mass = first + second;
  double a = 0, b = 0, most = 0;
  for (std::size_t i = order.size(); i-- > 1;) {
    const double each = w[order[i] & ~kLast];
    a += (std::abs(each) - each) / 2;  // nothing, or all of it: no turn to be guessed
    b += (std::abs(each) + each) / 2;
    const double right = std::max(a, b) + std::max(first - a, second - b);
    const bool counts = (order[i - 1] & kLast) != 0 && a + b >= kLeast && mass - a - b >= kLeast;
    most = std::max(most, counts ? right : 0.0);
  }
  return most;
}

double SortedColumns::least_wrong(const Vector& weight, const Execution& execution) const {
  const Vector totals = totals_of(rows_, weight);
  const Vector by_sign = totals.size() == 2 ? signed_by_class(rows_, weight) : Vector();
  Vector most = Vector::Constant(static_cast<Index>(order_.size()), totals.maxCoeff());
  for_columns(static_cast<Index>(order_.size()), rows_.count(), execution, [&](Index j) {
    most(j) =
        std::max(most(j), totals.size() == 2 ? most_right_of_two(j, by_sign, totals) : most_right(j, weight, totals));
  });
  return totals.sum() - most.maxCoeff();
}

}  // namespace lemma::ensemble
