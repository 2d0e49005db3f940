// lemma/tree/optimal_tree/search.cpp
#include <algorithm>
#include <lemma/core/asking.hpp>
#include <lemma/core/progress.hpp>
#include <lemma/tree/optimal_tree/search.hpp>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace lemma::optimal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostKept = std::size_t{1} << 28;  // bytes of what is remembered of subsets

/// Rows of a side by class: what is lost is the weight of all classes but the greatest.
class WrongClasses {
 public:
  explicit WrongClasses(const RankedColumns& data) : data_(&data), counts_(at(data.classes)) {}
  void clear() {
    std::fill(counts_.begin(), counts_.end(), 0.0);
    all_ = 0;
  }
  void add(std::uint32_t row, double sign = 1) {
    const double w = sign * data_->weight_of(row);
    counts_[data_->label[row]] += w;
    all_ += w;
  }
  double loss() const { return all_ - *std::max_element(counts_.begin(), counts_.end()); }
  /// What a row loses at most in any leaf.
  struct Worst {
    explicit Worst(const RankedColumns&) {}
    void see(std::uint32_t) {}
  };
  double at_most(const Worst&, std::uint32_t row) const { return data_->weight_of(row); }

 private:
  const RankedColumns* data_;
  std::vector<double> counts_;
  double all_ = 0;
};

/// Numbers of a side: what is lost are the squares about the mean.
class SquaredErrors {
 public:
  explicit SquaredErrors(const RankedColumns& data) : data_(&data) {
    double sum = 0, weight = 0;
    for (std::uint32_t i = 0; i < data.y.size(); ++i) {
      weight += data.weight_of(i);
      sum += data.weight_of(i) * (data.y[i] - data.y[0]);
    }
    centre_ = data.y[0] + sum / weight;
  }
  void clear() { weight_ = sum_ = squares_ = 0; }
  void add(std::uint32_t row, double sign = 1) {
    const double w = sign * data_->weight_of(row), d = data_->y[row] - centre_;
    weight_ += w;
    sum_ += w * d;
    squares_ += w * d * d;
  }
  double loss() const { return std::max(0.0, squares_ - sum_ * sum_ / weight_); }
  /// A leaf says a mean of numbers of the node, which lies between the least and the greatest of them.
  struct Worst {
    explicit Worst(const RankedColumns& all) : data(&all) {}
    void see(std::uint32_t row) {
      least = std::min(least, data->y[row]);
      most = std::max(most, data->y[row]);
    }
    const RankedColumns* data;
    double least = kInfinity, most = -kInfinity;
  };
  double at_most(const Worst& worst, std::uint32_t row) const {
    const double d = std::max(data_->y[row] - worst.least, worst.most - data_->y[row]);
    return data_->weight_of(row) * d * d;
  }

 private:
  const RankedColumns* data_;
  double centre_ = 0, weight_ = 0, sum_ = 0, squares_ = 0;
};

/// Some rows, in the order of each column.
struct Members {
  std::vector<std::vector<RankedRow>> order;
  std::size_t size() const { return order.front().size(); }
};

/// A set of rows as bits, and the depth of the tree that is looked for.
struct Key {
  std::vector<std::uint64_t> bits;
  bool operator==(const Key&) const = default;
};
struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    std::uint64_t h = 0x9e3779b97f4a7c15U;
    for (const std::uint64_t word : key.bits) {
      h = (h ^ word) * 0xff51afd7ed558ccdU;
      h ^= h >> 32;
    }
    return h;
  }
};

template <class Lost>
class Search {
 public:
  Search(const RankedColumns& data, const Wanted& wanted, const Execution& execution)
      : data_(data), wanted_(wanted), execution_(execution), left_(data), right_(data), space_(at(wanted.depth)) {
    find_unavoidable();
  }

  Searched run() {
    const Members all{data_.order};
    left_.clear();
    for (const RankedRow& each : all.order.front()) left_.add(each.row);
    tie_ = kTie * left_.loss();
    Searched out;
    out.best = solve(all, wanted_.depth, kInfinity);
    out.subsets = subsets_;
    out.complete = !limited_;
    return out;
  }

 private:
  struct Bounds {
    double left, right;
    double sum() const { return left + right; }
  };
  /// Cuts lo … hi of a column, none of which was looked at. What is known of the cuts before and behind them: where they are (-1:
  /// there is none), a bound of their whole, and of the side that lies within every side of these cuts.
  struct Stretch {
    Index low, high, before, behind;
    Bounds bounds;
    double at_before = -kInfinity, at_behind = -kInfinity;
  };
  /// A node while the best tree for its rows is looked for.
  struct Node {
    const Members& rows;
    int depth;
    Found best;
    double most;              // trees that cost more are of no use to the caller
    double open = kInfinity;  // least bound of all that was not looked at
    double incumbent() const { return std::min(most, best.cost); }
  };

  /// Rows alike in every column stay together: what they lose by themselves, every tree loses.
  void find_unavoidable() {
    const auto n = static_cast<std::uint32_t>(data_.rows());
    std::vector<std::vector<std::uint32_t>> rank(n, std::vector<std::uint32_t>(at(data_.width())));
    for (std::size_t j = 0; j < data_.order.size(); ++j)
      for (const RankedRow& each : data_.order[j]) rank[each.row][j] = each.rank;
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return std::tie(rank[a], a) < std::tie(rank[b], b); });
    unavoidable_.assign(n, 0);
    for (std::size_t first = 0, end = 0; first < n; first = end) {
      left_.clear();
      for (end = first; end < n && rank[order[end]] == rank[order[first]]; ++end) left_.add(order[end]);
      if (end - first > 1) unavoidable_[order[first]] = left_.loss();
    }
  }

  // ---- A subset of the rows ----

  Found solve(const Members& rows, int depth, double most) {
    double floor = 2 * wanted_.price;
    right_.clear();
    for (const RankedRow& each : rows.order.front()) {
      right_.add(each.row);
      floor += unavoidable_[each.row];
    }
    const double leaf = right_.loss() + wanted_.price;
    if (depth == 0 || leaf <= floor + tie_) return {leaf, leaf};
    count();
    Found stump = best_stump(rows, leaf);
    if (depth == 1 || stump.cost <= floor + tie_) return stump;
    Key key = key_of(rows, depth);
    if (const auto known = known_.find(key); known != known_.end())
      if (known->second.bound == known->second.cost || known->second.bound >= most) return known->second;
    if (limited_) return {stump.cost, floor, stump.tree};

    Node node{rows, depth, std::move(stump), most};
    if (node.best.tree) look_at(node, node.best.tree->asks, nothing_known());  // a good tree to begin with
    for (Index j = 0; j < data_.width(); ++j) data_.levels[at(j)] > 0 ? try_categories(node, j) : try_numbers(node, j);
    node.best.bound = std::max(std::min(node.incumbent(), node.open), std::min(node.best.cost, floor));
    remember(std::move(key), node.best);
    return node.best;
  }

  void count() {
    if (limited_) return;
    limited_ = ++subsets_ >= wanted_.subsets;
    if (subsets_ % 256 != 0) return;
    execution_.report(static_cast<double>(subsets_) / static_cast<double>(wanted_.subsets), "searching");
  }
  Bounds nothing_known() const { return {wanted_.price, wanted_.price}; }

  /// One split or none, exactly: a pass over each column.
  Found best_stump(const Members& rows, double leaf) {
    Found best{leaf, leaf};
    const auto offer = [&](const Question& asks) {
      const double cost = left_.loss() + right_.loss() + 2 * wanted_.price;
      if (cost < best.cost - tie_) best = {cost, cost, std::make_shared<Branch>(Branch{asks, nullptr, nullptr})};
    };
    for (Index j = 0; j < data_.width(); ++j) {
      const auto& order = rows.order[at(j)];
      if (order.front().rank == order.back().rank) continue;
      asking_.before(4 * order.size());
      const bool categories = data_.levels[at(j)] > 0;
      left_.clear();
      right_.clear();
      for (const RankedRow& each : order) right_.add(each.row);
      for (std::size_t i = 0, end = 0; i < order.size(); i = end) {
        for (end = i; end < order.size() && order[end].rank == order[i].rank; ++end) {
          left_.add(order[end].row);
          right_.add(order[end].row, -1);
        }
        if (!categories && end == order.size()) break;
        offer({j, order[i].rank, categories ? 0 : order[end].rank});
        if (!categories) continue;
        for (std::size_t k = i; k < end; ++k) {
          left_.add(order[k].row, -1);
          right_.add(order[k].row);
        }
      }
    }
    return best;
  }

  // ---- The splits of a node ----

  /// Each category against the rest.
  void try_categories(Node& node, Index j) {
    const auto& order = node.rows.order[at(j)];
    if (order.front().rank == order.back().rank) return;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (i == 0 || order[i].rank != order[i - 1].rank) look_at(node, {j, order[i].rank, 0}, nothing_known());
  }

  /// Thresholds: the middle one of a stretch, then what is left on its two sides.
  void try_numbers(Node& node, Index j) {
    const auto& order = node.rows.order[at(j)];
    typename Lost::Worst worst(data_);
    for (const RankedRow& each : order) worst.see(each.row);
    std::vector<Question> cuts;
    std::vector<double> moved;  // what the rows before a cut can lose at most
    double sum = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      sum += left_.at_most(worst, order[i].row);
      if (order[i].rank == order[i + 1].rank) continue;
      cuts.push_back({j, order[i].rank, order[i + 1].rank});
      moved.push_back(sum);
    }
    const auto between = [&](Index a, Index b) { return moved[at(b)] - moved[at(a)]; };
    std::vector<Stretch> waiting{{0, static_cast<Index>(cuts.size()) - 1, -1, -1, nothing_known()}};
    while (!waiting.empty()) {
      Stretch s = waiting.back();
      waiting.pop_back();
      const double enough = node.incumbent() - tie_;
      if (s.before >= 0)
        while (s.low <= s.high && s.at_before - between(s.before, s.low) >= enough) ++s.low;
      if (s.behind >= 0)
        while (s.low <= s.high && s.at_behind - between(s.high, s.behind) >= enough) --s.high;
      if (s.low > s.high || s.bounds.sum() >= enough) continue;
      if (limited_) {
        node.open = std::min(node.open, s.bounds.sum());
        continue;
      }
      const Index middle = std::midpoint(s.low, s.high);
      const Bounds found = look_at(node, cuts[at(middle)], s.bounds);
      waiting.push_back({middle + 1, s.high, middle, s.behind, {found.left, s.bounds.right}, found.sum(), s.at_behind});
      waiting.push_back({s.low, middle - 1, s.before, middle, {s.bounds.left, found.right}, s.at_before, found.sum()});
    }
  }

  /// The best subtrees of the two sides, as far as they can matter: what each costs at least.
  Bounds look_at(Node& node, const Question& asks, const Bounds& known) {
    if (limited_) {
      node.open = std::min(node.open, known.sum());
      return known;
    }
    auto& [left, right] = space_[at(node.depth - 1)];
    divide(node.rows, asks, left, right);
    const Found below = solve(left, node.depth - 1, node.incumbent() - known.right);
    if (below.bound + known.right >= node.incumbent() - tie_) return {std::max(below.bound, known.left), known.right};
    const Found other = solve(right, node.depth - 1, node.incumbent() - below.bound);
    const double cost = below.cost + other.cost;
    if (cost < node.best.cost - tie_)
      node.best = {cost, cost, std::make_shared<Branch>(Branch{asks, below.tree, other.tree})};
    if (below.bound + other.bound < node.incumbent() - tie_) node.open = std::min(node.open, below.bound + other.bound);
    return {std::max(below.bound, known.left), std::max(other.bound, known.right)};
  }

  void divide(const Members& rows, const Question& asks, Members& left, Members& right) {
    const bool categories = data_.levels[at(asks.column)] > 0;
    went_left_.resize(at(data_.rows()));
    for (const RankedRow& each : rows.order[at(asks.column)])
      went_left_[each.row] = categories ? each.rank == asks.low : each.rank <= asks.low;
    left.order.resize(rows.order.size());
    right.order.resize(rows.order.size());
    for (std::size_t j = 0; j < rows.order.size(); ++j) {
      asking_.before(rows.size());
      left.order[j].clear();
      right.order[j].clear();
      for (const RankedRow& each : rows.order[j]) (went_left_[each.row] ? left : right).order[j].push_back(each);
    }
  }

  // ---- What is known of subsets ----

  Key key_of(const Members& rows, int depth) const {
    Key key{std::vector<std::uint64_t>(at(data_.rows()) / 64 + 2, 0)};
    for (const RankedRow& each : rows.order.front()) key.bits[each.row / 64] |= std::uint64_t{1} << (each.row % 64);
    key.bits.back() = static_cast<std::uint64_t>(depth);
    return key;
  }
  void remember(Key&& key, const Found& found) {
    const std::size_t bytes = key.bits.size() * sizeof(std::uint64_t) + sizeof(Key) + sizeof(Found) + 64;
    if ((known_.size() + 1) * bytes <= kMostKept) known_.insert_or_assign(std::move(key), found);
  }

  const RankedColumns& data_;
  const Wanted& wanted_;
  const Execution& execution_;
  Lost left_, right_;
  std::vector<std::pair<Members, Members>> space_;  // of each depth: the two sides of the split that is looked at
  std::vector<double> unavoidable_;                 // of the first of rows that are alike: what they lose together
  std::vector<std::uint8_t> went_left_;
  Asking asking_;
  std::unordered_map<Key, Found, HashOfKey> known_;
  double tie_ = 0;
  long long subsets_ = 0;
  bool limited_ = false;
};

}  // namespace

Searched search(const RankedColumns& data, const Wanted& wanted, const Execution& execution) {
  return data.classes > 0 ? Search<WrongClasses>(data, wanted, execution).run()
                          : Search<SquaredErrors>(data, wanted, execution).run();
}

}  // namespace lemma::optimal
