// lemma/tree/boost/grow.cpp
#include <algorithm>
#include <lemma/tree/boost/grow.hpp>
#include <mutex>

namespace lemma::boost {
namespace {

constexpr Index kChunk = 16384;  // rows that a thread parts at a time

template <class Entry>
class Grower {
 public:
  Grower(const BinnedRows& rows, std::span<std::uint32_t> which, const Entry* slopes, std::span<const double> weights,
         const std::vector<char>& columns, const GrowRules& rules, Kept<std::uint32_t>& scratch,
         const Execution& execution)
      : rows_(rows),
        which_(which),
        slopes_(slopes),
        weights_(weights),
        columns_(columns),
        rules_(rules),
        execution_(execution),
        scratch_(scratch) {
    scratch_.resize(which.size());
  }

  GrownTree grow() {
    Labels levels;
    for (const BinnedColumn& column : rows_.columns) levels.push_back(column.levels);
    tree_.nodes = single_leaf(std::move(levels));
    tree_.about.resize(1);
    histograms_.resize(1);
    begin_root();
    if (rules_.depth < 31 && rules_.leaves >= (Index{1} << rules_.depth)) grow_levels();
    else grow_one_by_one();
    return std::move(tree_);
  }

 private:
  using Histogram = std::vector<Entry>;

  void begin_root() {
    GrownNode& root = tree_.about[0];
    root.end = std::ssize(which_);
    if (!rules_.groups.empty()) root.asked.assign(rows_.columns.size(), 0);
    Entry sum;
    for (const std::uint32_t row : which_) sum += slopes_[row];
    root.sums = sum.sums();
    if (!may_split(root)) return;
    histograms_[0] = Histogram(rows_.histogram_size);
    add_to_histogram<Entry>(rows_, which_, slopes_, histograms_[0], execution_);
    ask(0);
  }

  bool may_split(const GrownNode& node) const { return node.depth < rules_.depth && node.rows() >= 2; }

  void ask(Index i) {
    GrownNode& node = tree_.about[at(i)];
    const std::vector<char> allowed = allowed_at(node);
    Question question;
    question.sums = node.sums;
    question.weight = weight_of(node);
    question.low = node.low;
    question.high = node.high;
    question.allowed = &allowed;
    question.weights = [&](Index column) { return weights_by_bin(node, column); };
    node.split = best_split<Entry>(rows_, histograms_[at(i)], question, rules_.split);
  }

  double weight_of(const GrownNode& node) const {
    if (weights_.empty()) return static_cast<double>(node.rows());
    double sum = 0;
    for (const std::uint32_t row : rows_of(node)) sum += weights_[at(static_cast<Index>(row))];
    return sum;
  }

  std::vector<char> allowed_at(const GrownNode& node) const {
    if (rules_.groups.empty()) return columns_;
    std::vector<char> out(columns_.size(), 0);
    for (const auto& group : rules_.groups) {
      bool holds_all = true;
      for (std::size_t j = 0; j < group.size(); ++j) holds_all = holds_all && (group[j] || !node.asked[j]);
      for (std::size_t j = 0; holds_all && j < group.size(); ++j) out[j] |= static_cast<char>(group[j] && columns_[j]);
    }
    return out;
  }

  std::vector<double> weights_by_bin(const GrownNode& node, Index column) const {
    std::vector<double> out(static_cast<std::size_t>(rows_.columns[at(column)].values()) + 1, 0.0);
    for (Index i = node.begin; i < node.end; ++i) {
      const Index row = which_[at(i)];
      out[static_cast<std::size_t>(rows_.code(row, column))] += weights_.empty() ? 1.0 : weights_[at(row)];
    }
    return out;
  }

  // ---- Level by level, the nodes of a level side by side; or always the leaf that gains most ----

  void grow_levels() {
    std::vector<Index> level{0};
    while (!level.empty()) {
      std::vector<Index> parents;
      for (const Index i : level)
        if (tree_.about[at(i)].split.exists()) parents.push_back(i);
      level.clear();
      for (const Index i : parents) {
        const Index left = make_children(i);
        level.insert(level.end(), {left, left + 1});
      }
      parallel_for(std::ssize(parents), execution_, [&](Index k) { settle_children(parents[at(k)]); });
    }
  }

  void grow_one_by_one() {
    std::vector<Index> open{0};
    for (Index leaves = 1; leaves < rules_.leaves; ++leaves) {
      const auto before = [&](Index a, Index b) {
        const GrownNode &one = tree_.about[at(a)], &other = tree_.about[at(b)];
        if (one.split.exists() != other.split.exists()) return one.split.exists();
        if (!rules_.best_first && one.depth != other.depth) return one.depth < other.depth;
        return one.split.gain > other.split.gain || (one.split.gain == other.split.gain && a < b);
      };
      const auto next = std::min_element(open.begin(), open.end(), before);
      if (next == open.end() || !tree_.about[at(*next)].split.exists()) return;
      const Index parent = *next;
      open.erase(next);
      const Index left = make_children(parent);
      settle_children(parent);
      open.insert(open.end(), {left, left + 1});
    }
  }

  Index make_children(Index i) {
    const Index left = tree_.nodes.split(i);
    tree_.about.resize(at(tree_.nodes.size()));
    histograms_.resize(at(tree_.nodes.size()));
    return left;
  }

  void settle_children(Index i) {
    GrownNode& node = tree_.about[at(i)];
    const Index left = tree_.nodes.left(i), right = left + 1;
    GrownNode &one = tree_.about[at(left)], &other = tree_.about[at(right)];
    const Index middle = part(node);
    one.begin = node.begin;
    one.end = other.begin = middle;
    other.end = node.end;
    one.depth = other.depth = node.depth + 1;
    one.low = other.low = node.low;
    one.high = other.high = node.high;
    bound_children(node, one, other);
    if (!rules_.groups.empty()) {
      one.asked = node.asked;
      one.asked[at(node.split.column)] = 1;
      other.asked = one.asked;
    }
    const bool left_is_smaller = one.rows() <= other.rows();
    const Index small = left_is_smaller ? left : right, large = left_is_smaller ? right : left;
    Histogram own = std::move(histograms_[at(i)]);
    if (may_split(one) || may_split(other)) {
      histograms_[at(small)] = empty_histogram();
      add_to_histogram<Entry>(rows_, rows_of(tree_.about[at(small)]), slopes_, histograms_[at(small)], execution_);
      subtract<Entry>(own, histograms_[at(small)]);
      histograms_[at(large)] = std::move(own);
      tree_.about[at(small)].sums = sum_of(tree_.about[at(small)], histograms_[at(small)]);
      tree_.about[at(large)].sums = node.sums - tree_.about[at(small)].sums;
      parallel_for(2, execution_, [&](Index k) {
        if (may_split(tree_.about[at(left + k)])) ask(left + k);
      });
    } else {
      give_back(std::move(own));
    }
    for (const Index child : {left, right})
      if (!tree_.about[at(child)].split.exists()) give_back(std::move(histograms_[at(child)]));
  }

  /// Every row is in one bin of the first column.
  Sums sum_of(const GrownNode& node, const Histogram& histogram) const {
    Entry sum;
    if (rows_.columns.empty()) {
      for (const std::uint32_t row : rows_of(node)) sum += slopes_[row];
      return sum.sums();
    }
    const BinnedColumn& column = rows_.columns.front();
    for (int b = 0; b < column.bins(); ++b) sum += histogram[column.first + static_cast<std::uint32_t>(b)];
    return sum.sums();
  }

  void bound_children(const GrownNode& node, GrownNode& left, GrownNode& right) const {
    const auto& direction = rules_.split.direction;
    if (direction.empty() || direction[at(node.split.column)] == 0) return;
    const double middle = 0.5 * (node.split.left_step + node.split.right_step);
    const bool rises = direction[at(node.split.column)] > 0;
    (rises ? left : right).high = std::min(node.high, middle);
    (rises ? right : left).low = std::max(node.low, middle);
  }

  std::span<std::uint32_t> rows_of(const GrownNode& node) const {
    return which_.subspan(at(node.begin), at(node.rows()));
  }

  // ---- Rows that go left, then those that go right, each in the order they had ----

  Index part(GrownNode& node) {
    return rows_.is_wide(node.split.column) ? part_by(node, rows_.wide_column(node.split.column))
                                            : part_by(node, rows_.narrow_column(node.split.column));
  }
  template <class Code>
  Index part_by(GrownNode& node, const Code* codes) {
    const Index chunks = (node.rows() + kChunk - 1) / kChunk;
    const std::uint8_t* const left = node.split.left.data();
    const auto missing = static_cast<unsigned>(node.split.left.size() - 1);
    std::vector<Index> lefts(at(chunks) + 1, 0);
    std::vector<char> misses(at(chunks), 0);
    const auto begin_of = [&](Index c) { return node.begin + c * kChunk; };
    const auto end_of = [&](Index c) { return std::min(node.end, node.begin + (c + 1) * kChunk); };
    parallel_for_few(chunks, [&](Index c) {
      std::uint32_t* to_left = scratch_.data() + begin_of(c);
      std::uint32_t* to_right = scratch_.data() + end_of(c);
      bool seen = false;
      for (Index i = begin_of(c); i < end_of(c); ++i) {
        const std::uint32_t row = which_[at(i)];
        const Code code = codes[row];
        const bool goes_left = left[code] != 0;
        seen |= code == missing;
        *to_left = row;
        to_left += goes_left;
        *(to_right - 1) = row;
        to_right -= !goes_left;
      }
      lefts[at(c) + 1] = to_left - (scratch_.data() + begin_of(c));
      misses[at(c)] = seen;
    });
    for (Index c = 0; c < chunks; ++c) lefts[at(c) + 1] += lefts[at(c)];
    node.saw_missing = std::find(misses.begin(), misses.end(), 1) != misses.end();
    const Index middle = node.begin + lefts.back();
    parallel_for_few(chunks, [&](Index c) {
      const Index size = lefts[at(c) + 1] - lefts[at(c)];
      std::copy_n(scratch_.data() + begin_of(c), size, which_.data() + node.begin + lefts[at(c)]);
      const Index before = begin_of(c) - node.begin - lefts[at(c)];  // that went right
      std::reverse_copy(scratch_.data() + begin_of(c) + size, scratch_.data() + end_of(c),
                        which_.data() + middle + before);
    });
    return middle;
  }
  void parallel_for_few(Index count, const std::function<void(Index)>& body) const {
    if (count == 1) body(0);
    else parallel_for(count, execution_, body);
  }

  Histogram empty_histogram() {
    Histogram out;
    {
      const std::lock_guard lock(free_lock_);
      if (!free_.empty()) {
        out = std::move(free_.back());
        free_.pop_back();
      }
    }
    out.assign(rows_.histogram_size, Entry());
    return out;
  }
  void give_back(Histogram histogram) {
    if (histogram.empty()) return;
    const std::lock_guard lock(free_lock_);
    free_.push_back(std::move(histogram));
  }

  const BinnedRows& rows_;
  std::span<std::uint32_t> which_;
  const Entry* slopes_;
  std::span<const double> weights_;
  const std::vector<char>& columns_;
  const GrowRules& rules_;
  const Execution& execution_;
  Kept<std::uint32_t>& scratch_;
  GrownTree tree_;
  std::vector<Histogram> histograms_;  // of leaves that may be split
  std::mutex free_lock_;
  std::vector<Histogram> free_;
};

}  // namespace

Index GrownTree::leaf_of(const BinnedRows& rows, Index row) const {
  Index i = 0;
  while (!nodes.is_leaf(i)) {
    const Split& split = about[at(i)].split;
    i = nodes.left(i) + (split.left[static_cast<std::size_t>(rows.code(row, split.column))] != 0 ? 0 : 1);
  }
  return i;
}

template <class Entry>
GrownTree grow(const BinnedRows& rows, std::span<std::uint32_t> which, const Entry* slopes,
               std::span<const double> weights, const std::vector<char>& columns, const GrowRules& rules,
               Kept<std::uint32_t>& scratch, const Execution& execution) {
  return Grower<Entry>(rows, which, slopes, weights, columns, rules, scratch, execution).grow();
}
template GrownTree grow(const BinnedRows&, std::span<std::uint32_t>, const Packed*, std::span<const double>,
                        const std::vector<char>&, const GrowRules&, Kept<std::uint32_t>&, const Execution&);
template GrownTree grow(const BinnedRows&, std::span<std::uint32_t>, const Exact*, std::span<const double>,
                        const std::vector<char>&, const GrowRules&, Kept<std::uint32_t>&, const Execution&);

}  // namespace lemma::boost
