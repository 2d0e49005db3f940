// lemma/data/design/learn.hpp: the steps of learning a design. Only the files of the design include it.
#pragma once
#include <lemma/data/design/parts.hpp>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace lemma {

/// A design whose levels and constants are still to be learned, and what the formula says about each variable.
struct Draft {
  struct Source {
    Expression expression;  // as it stands in the formula: factor(x, ref = "b"), scale(x, scale = FALSE)
    bool center = true, scale = true;
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
  std::map<std::string, Index> missing;             // by column
  std::vector<Counts> levels;                       // by variable; empty for numbers
  std::vector<Counts> classes;                      // by part of the response
  std::set<std::vector<std::string>> combinations;  // of a joint class
  std::vector<RunningMoments> means;                // by numeric column, for the policy `mean`
  void merge(const Survey& other);
};
constexpr Index kMaxLevels = 100'000, kMaxNumericClasses = 1000;
Survey survey(const DesignParts& parts, const TableSource& source, const Execution& execution);

/// Values that stand in for missing ones, then the constants of scale() and poly().
void learn_fills(DesignParts& parts, const Survey& found, const TableSource& source, const Execution& execution);
void learn_constants(Draft& draft, const TableSource& source, const Execution& execution);

/// Rows are learned from in blocks of this size.
constexpr Index kLearnBlock = 16384;

}  // namespace lemma
