// lemma/data/design/learn.hpp: the steps of learning a design. Only the files of the design include it.
#pragma once
#include <algorithm>
#include <lemma/core/parallel.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/formula/calls.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace lemma {

/// A design whose levels and constants are still to be learned, and what the formula says about each variable.
struct Draft {
  struct Source {
    Expression expression;  // as it stands in the formula: factor(x, ref = "b"), scale(x, scale = FALSE)
    std::optional<CutCall> cut;
    std::optional<SplineCall> spline;
  };
  DesignParts parts;
  std::vector<Source> sources;           // by variable
  std::vector<Source> response_sources;  // by part of the joint class
};

/// Binds an expanded formula to the types of the columns.
Draft draft_design(const Formula& formula, const Table& schema, const DesignOptions& options);
/// R's rule for contrasts or full coding, by term.
void set_contrasts(DesignParts& parts);

/// Number and mean of what has been seen, and the sum of squares about it; merged pairwise.
struct RunningMoments {
  double count = 0, mean = 0, squares = 0;
  void add(const std::vector<double>& values);
  void merge(const RunningMoments& other);
};

/// What one pass over the rows finds.
struct Survey {
  using Counts = std::unordered_map<std::string, Index>;
  Index rows = 0, kept = 0, incomplete = 0;
  std::map<std::string, Index> missing;  // by column
  std::vector<Counts> levels;            // by variable; empty for numbers. Of words: how many texts have them
  std::vector<Index> most;               // by variable: how many levels are counted before it is too many in any case
  std::vector<Counts> classes;           // by part of the response
  std::set<std::vector<std::string>> combinations;  // of a joint class
  std::set<double> response_values;                 // of a numeric response, where they are asked for: the first few
  std::vector<RunningMoments> means;                // by numeric column, for the policy `mean`
  std::vector<Counts> words;                        // by column of words, where missing ones are filled in
  void merge(const Survey& other);
};
constexpr Index kMaxLevels = 100'000, kMaxTokens = 20'000'000, kMaxNumericClasses = 1000, kFewValues = 10;
/// Before it: the breaks of cut(x, 3), from the ends of x.
void learn_breaks(Draft& draft, const TableSource& source, const Execution& execution);
Survey survey(const DesignParts& parts, const TableSource& source, bool values_of_response, const Execution& execution);

/// Values that stand in for missing ones, then the constants of scale() and poly(), the knots of bs() and ns().
void learn_fills(DesignParts& parts, const Survey& found, const TableSource& source, const Execution& execution);
void learn_fill_of_words(DesignParts& parts, const Table& schema, const Survey& found);
void learn_constants(Draft& draft, const TableSource& source, const Execution& execution);

/// The levels that occur: in the column's own order if the user gave one, numbers by their values, texts by their bytes.
std::vector<std::string> ordered_levels(const Column& column, const Survey::Counts& counts);

/// Rows are learned from in blocks of this size.
constexpr Index kLearnBlock = 16384;

/// One pass: a state S for each block, merged in a tree fixed by the block's index. work(state, bound, first, count)
template <class S, class Work>
S pass(const DesignParts& parts, const TableSource& source, const Execution& execution, const S& empty, Work&& work) {
  if (source.rows() == 0) return empty;
  const auto leaf = [&](Index i) -> State {
    auto state = std::make_shared<S>(empty);
    const Index first = i * kLearnBlock, count = std::min(kLearnBlock, source.rows() - first);
    source.visit(parts, first, count, [&](const Table& table, Index from, Index rows, Index base) {
      const BoundTable bound(parts, table, Use::training, base);
      work(*state, bound, from, rows);
    });
    return state;
  };
  const auto merge = [](State& into, State from) { static_cast<S*>(into.get())->merge(*static_cast<S*>(from.get())); };
  const Index blocks = (source.rows() + kLearnBlock - 1) / kLearnBlock;
  return std::move(*static_cast<S*>(fold_tree(blocks, execution, leaf, merge).get()));
}

}  // namespace lemma
