// lemma/tree/forest/recount.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/tree/forest/recount.hpp>
#include <map>
#include <numeric>

namespace lemma::forest {
namespace {

constexpr std::size_t kFewCategories = 10;  // of which every set is tried, where any number of rows may be a leaf

}  // namespace

TreeRecount::TreeRecount(const Plan& plan, const ForestRows& data, const MatrixView& x, const TreeNodes& trees,
                         std::uint64_t seed)
    : plan_(plan), data_(data), x_(x), trees_(trees), seed_(seed), draw_(data.width) {}

double TreeRecount::Side::worth() const {
  if (!(w > 0)) return 0;
  if (classes.empty()) return s * s / w;
  double squares = 0;
  for (const double n : classes) squares += n * n;
  return squares / w;
}

void TreeRecount::Side::add(const Member& member, bool means) {
  w += member.w;
  s += member.s;
  copies += member.copies;
  if (!means) classes[member.label] += member.w;
}

void TreeRecount::Side::add(const Side& other, double sign) {
  w += sign * other.w;
  s += sign * other.s;
  copies += sign * other.copies;
  for (std::size_t k = 0; k < classes.size(); ++k) classes[k] += sign * other.classes[k];
}

TreeRecount::Side TreeRecount::side() const {
  Side out;
  if (!data_.of_means()) out.classes.assign(at(data_.classes), 0.0);
  return out;
}

/// The rows without a value on either side.
void TreeRecount::offer(const Side& left, const Side& right, const Side& apart, bool right_too, Best& best) const {
  const auto together = [](const Side& a, const Side& b) {
    Side out = a;
    out.add(b, 1);
    return out;
  };
  const auto consider = [&](const Side& a, const Side& b) {
    if (a.copies >= plan_.min_leaf && b.copies >= plan_.min_leaf && a.copies > 0 && b.copies > 0)
      best.worth = std::max(best.worth, a.worth() + b.worth());
  };
  consider(left, together(right, apart));
  if (right_too) consider(together(left, apart), right);
}

/// Those with a value, by value (bins count as one); those without are added up in `apart`.
void TreeRecount::sort_by_value(const std::vector<Member>& members, Index column, Side& apart) {
  const bool means = data_.of_means();
  const auto& high = data_.high[at(column)];
  sorted_.clear();
  for (std::size_t m = 0; m < members.size(); ++m) {
    double v = value(members[m], column);
    if (std::isnan(v)) {
      apart.add(members[m], means);
      continue;
    }
    if (!high.empty()) v = *std::lower_bound(high.begin(), high.end(), v);
    sorted_.push_back({key_of(v), static_cast<std::uint32_t>(m)});
  }
  radix_sort(sorted_);
}

/// The members of each value together, from the least value up.
std::vector<TreeRecount::Side> TreeRecount::by_value(const std::vector<Member>& members) const {
  std::vector<Side> out;
  const bool means = data_.of_means();
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    if (i == 0 || sorted_[i].key != sorted_[i - 1].key) out.push_back(side());
    out.back().add(members[sorted_[i].row], means);
  }
  return out;
}

void TreeRecount::try_numbers(const std::vector<Member>& members, Index column, Best& best) {
  Side apart = side();
  sort_by_value(members, column, apart);
  if (data_.of_means() && apart.copies == 0) return try_plain_numbers(members, best);
  const std::vector<Side> sides = by_value(members);
  std::vector<Side> behind(sides.size() + 1, side());  // sums from the right, so that nothing is a difference
  const bool wide = data_.classes > 2 && sides.size() * at(data_.classes) > 4'000'000;
  for (std::size_t i = sides.size(); i-- > 0 && !wide;) {
    behind[i] = behind[i + 1];
    behind[i].add(sides[i], 1);
  }
  Side left = side(), right = side();
  if (wide)
    for (const Side& each : sides) right.add(each, 1);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    left.add(sides[i], 1);
    if (wide) right.add(sides[i], -1);
    if (i + 1 == sides.size() && apart.copies == 0) break;
    offer(left, wide ? right : behind[i + 1], apart, i + 1 < sides.size(), best);
  }
}

/// The same where no value is missing and two sums say all of a side: those from the right are kept in their places, so that here
/// too nothing is a difference.
void TreeRecount::try_plain_numbers(const std::vector<Member>& members, Best& best) {
  Sums sum;
  behind_.resize(sorted_.size());
  for (std::size_t i = sorted_.size(); i-- > 0;) {
    sum.add(members[sorted_[i].row]);
    behind_[i] = sum;
  }
  sum = {};
  for (std::size_t i = 0; i + 1 < sorted_.size(); ++i) {
    sum.add(members[sorted_[i].row]);
    if (sorted_[i].key == sorted_[i + 1].key) continue;
    const Sums& right = behind_[i + 1];
    if (sum.copies >= plan_.min_leaf && right.copies >= plan_.min_leaf)
      best.worth = std::max(best.worth, sum.worth() + right.worth());
  }
}

void TreeRecount::try_categories(const std::vector<Member>& members, Index column, Best& best) {
  Side apart = side();
  const bool means = data_.of_means();
  sort_by_value(members, column, apart);
  const std::vector<Side> all = by_value(members);
  const auto offer_set = [&](auto in_set) {
    Side left = side(), right = side();
    bool right_too = false;
    for (std::size_t c = 0; c < all.size(); ++c) {
      right_too = right_too || !in_set(c);
      (in_set(c) ? left : right).add(all[c], 1);
    }
    offer(left, right, apart, right_too, best);
  };
  if (means && all.size() <= kFewCategories && plan_.min_leaf <= 1) {
    for (std::size_t set = 1; set < (std::size_t{1} << all.size()); ++set)
      if (set + 1 < (std::size_t{1} << all.size()) || apart.copies > 0)
        offer_set([&](std::size_t c) { return (set >> c & 1) != 0; });
    return;
  }
  std::vector<std::size_t> place(all.size());
  const auto try_order = [&](auto key) {
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(all[a]) < key(all[b]); });
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (std::size_t cut = 1; cut < all.size() + (apart.copies > 0 ? 1 : 0); ++cut)
      offer_set([&](std::size_t c) { return place[c] < cut; });
  };
  if (means) return try_order([](const Side& each) { return each.s / each.w; });
  for (std::size_t k = 0; k < at(data_.classes); ++k)
    try_order([k](const Side& each) { return each.classes[k] / each.w; });
}

/// The thresholds, or sets, that the node's stream gives.
void TreeRecount::try_random(const std::vector<Member>& members, Index column, Best& best) {
  const bool means = data_.of_means(), categories = data_.levels[at(column)] > 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::map<int, bool> sides;
  Side apart = side();
  values_.resize(members.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    const double v = values_[m] = value(members[m], column);
    if (std::isnan(v)) {
      apart.add(members[m], means);
      continue;
    }
    low = std::min(low, v);
    high = std::max(high, v);
    if (categories) sides[static_cast<int>(v)] = false;
  }
  for (int trial = 0; trial < plan_.random_cuts; ++trial) {
    double threshold = std::numeric_limits<double>::max();
    bool right_too = low < high;
    if (categories) {
      std::size_t count = 0;
      do {
        count = 0;
        for (auto& [code, left] : sides) {
          left = (draw_.random().bits() & 1) != 0;
          count += left ? 1 : 0;
        }
      } while (sides.size() > 1 && (count == 0 || count == sides.size()));
      if (sides.size() == 1) sides.begin()->second = true;
    } else {
      const double drawn = high - draw_.random().uniform() * (high - low);
      if (right_too) threshold = drawn > low ? drawn : high;
    }
    Side left = side(), right = side();
    for (std::size_t m = 0; m < members.size(); ++m) {
      const double v = values_[m];
      if (std::isnan(v)) continue;
      const bool to_left = categories ? sides[static_cast<int>(v)] : v < threshold;
      (to_left ? left : right).add(members[m], means);
    }
    best.thresholds.push_back(threshold);
    offer(left, right, apart, right_too, best);
  }
}

bool TreeRecount::agree(const std::vector<Member>& members, Index column) const {
  const auto same = [&](double v) {
    const auto& high = data_.high[at(column)];
    return high.empty() || std::isnan(v) ? v : *std::lower_bound(high.begin(), high.end(), v);
  };
  const double first = same(value(members.front(), column));
  for (const Member& member : members) {
    const double v = same(value(member, column));
    if (std::isnan(v) != std::isnan(first) || (!std::isnan(v) && v != first)) return false;
  }
  return true;
}

TreeRecount::Best TreeRecount::best_of(const std::vector<Member>& members, Index node, Index own_column, bool& asked) {
  Best best;
  asked = false;
  draw_.begin(stream_, node);
  for (Index tried = 0; tried < plan_.columns && draw_.has_next();) {
    const Index column = draw_.next();
    if (agree(members, column)) continue;
    ++tried;
    asked = asked || column == own_column;
    Best of_column;
    if (plan_.random_cuts > 0) try_random(members, column, of_column);
    else if (data_.levels[at(column)] > 0) try_categories(members, column, of_column);
    else try_numbers(members, column, of_column);
    best.worth = std::max(best.worth, of_column.worth);
    if (column == own_column) best.thresholds = of_column.thresholds;
  }
  return best;
}

std::string TreeRecount::wrong_with_split(const std::vector<Member>& members, const std::vector<bool>& left,
                                          const TreeNode& node, const Best& best) const {
  double low = -std::numeric_limits<double>::infinity(), high = -low, copies_left = 0, copies = 0;
  bool missing = false;
  const auto column = static_cast<Index>(node.column);
  if (node.categories && data_.levels[at(column)] == 0) return "asks for categories of a column of numbers";
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double v = value(members[i], column);
    copies += members[i].copies;
    copies_left += left[i] ? members[i].copies : 0;
    missing = missing || std::isnan(v);
    if (std::isnan(v)) continue;
    if (left[i]) low = std::max(low, v);
    else high = std::min(high, v);
  }
  if (!missing && node.missing_left != (2 * copies_left >= copies))
    return "sends what is missing to the side of fewer rows";
  if (node.categories) {
    std::vector<bool> here(at(data_.levels[at(column)]), false);
    for (const Member& member : members)
      if (const double v = value(member, column); !std::isnan(v)) here[static_cast<std::size_t>(v)] = true;
    for (std::uint32_t code = 0; code < here.size(); ++code)
      if (!here[code] && trees_.in_set(static_cast<std::size_t>(node.threshold), code) != bool(node.missing_left))
        return "sends a category that it has no rows of elsewhere than what is missing";
    return {};
  }
  if (plan_.random_cuts > 0) {
    const auto& drawn = best.thresholds;
    return std::find(drawn.begin(), drawn.end(), node.threshold) != drawn.end() ? ""
                                                                                : "has a threshold that was not drawn";
  }
  double expected = std::numeric_limits<double>::max();
  if (std::isfinite(low) && std::isfinite(high)) {
    if (const auto& bins = data_.high[at(column)]; !bins.empty()) {
      const auto bin = std::lower_bound(bins.begin(), bins.end(), low) - bins.begin();
      low = bins[at(bin)];
      high = data_.low[at(column)][at(bin) + 1];
    }
    expected = std::midpoint(low, high);
    if (!(expected > low)) expected = high;
  }
  return node.threshold == expected ? "" : "has a threshold that is not midway between its sides";
}

Recount TreeRecount::look_at(Index tree, const std::vector<double>& copies) {
  Recount out;
  stream_ = stream_of(seed_, tree);
  const Index root = trees_.roots[at(tree)],
              end = tree + 1 < trees_.trees() ? trees_.roots[at(tree + 1)] : trees_.size();
  struct Open {
    Index node, depth;
    std::vector<Member> members;
  };
  std::vector<Open> stack(1, Open{root, 0, {}});
  for (Index i = 0; i < data_.rows; ++i) {
    if (!(copies[at(i)] > 0)) continue;
    Member member{copies[at(i)], 0, copies[at(i)], i, 0};
    if (data_.classes > 0) {
      member.label = data_.label[at(i)];
      if (!data_.factor.empty()) member.w *= data_.factor[member.label];
      member.s = member.label == 1 ? member.w : 0;
    } else {
      member.s = member.w * data_.y[at(i)];
    }
    stack[0].members.push_back(member);
  }
  const bool means = data_.of_means(), full = (end - root + 1) / 2 >= plan_.leaves;
  struct Gain {
    Index node;
    double gain, weight;
  };
  std::vector<Gain> made, left_out;  // splits, and leaves that could have been split
  while (!stack.empty() && out.wrong.empty()) {
    const Open open = std::move(stack.back());
    stack.pop_back();
    const auto& members = open.members;
    const TreeNode& node = trees_[open.node];
    const auto wrong = [&](std::string_view what) {
      out.wrong = fmt::format("node {} of tree {} {}", open.node - root + 1, tree + 1, what);
    };
    if (members.empty()) {
      wrong("has no rows");
      break;
    }
    Side all = side();
    bool pure = true;
    for (const Member& member : members) {
      all.add(member, means);
      pure = pure && (data_.classes > 0 ? member.label == members[0].label
                                        : data_.y[at(member.row)] == data_.y[at(members[0].row)]);
    }
    if (all.copies < plan_.min_leaf) wrong("has fewer rows than a leaf must have");
    const bool closed =
        pure || open.depth >= plan_.depth || all.copies < plan_.min_split || all.copies < 2 * plan_.min_leaf;
    bool asked = false;
    const Best best = closed ? Best{} : best_of(members, open.node - root, node.column, asked);
    if (node.is_leaf()) {
      if (best.worth < 0) continue;
      if (full) left_out.push_back({open.node, best.worth - all.worth(), all.w});
      else wrong("is a leaf that could have been split");
      continue;
    }
    if (closed || best.worth < 0) wrong("is split where there must be a leaf");
    else if (!asked) wrong("asks a column that was not drawn for it");
    if (!out.wrong.empty()) break;
    Open to_left{trees_.left(open.node), open.depth + 1, {}}, to_right{trees_.right(open.node), open.depth + 1, {}};
    Side left = side(), right = side();
    std::vector<bool> goes_left(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      goes_left[i] = trees_.goes_left(node, value(members[i], node.column));
      (goes_left[i] ? to_left : to_right).members.push_back(members[i]);
      (goes_left[i] ? left : right).add(members[i], means);
    }
    if (const std::string what = wrong_with_split(members, goes_left, node, best); !what.empty()) {
      wrong(what);
      break;
    }
    out.worst = std::max(out.worst, (best.worth - left.worth() - right.worth()) / all.w);
    if (plan_.leaves < std::numeric_limits<Index>::max())
      made.push_back({trees_.left(open.node), left.worth() + right.worth() - all.worth(), all.w});
    stack.push_back(std::move(to_right));
    stack.push_back(std::move(to_left));
  }
  for (const Gain& leaf : left_out)  // what was split later gained at least as much
    for (const Gain& split : made)
      if (split.node > leaf.node) out.worst = std::max(out.worst, (leaf.gain - split.gain) / leaf.weight);
  return out;
}

}  // namespace lemma::forest
