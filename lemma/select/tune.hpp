// lemma/select/tune.hpp: parameters chosen by how well they do on rows that were not learned from.
//
// grid     every combination
// random   so many places drawn at random, on the scales of the parameters' descriptions
// halving  many places, learned from few rows; the better third goes on with three times as many, and so on
// gp       each next place where a Gaussian process of the scores so far expects the greatest improvement
//
// The score of the best of m tries is too good: it was chosen by the rows that it is measured on. An honest one repeats the whole
// search inside each training set of an outer plan (Stone 1974; Varma and Simon 2006).
#pragma once
#include <lemma/select/search_space.hpp>
#include <lemma/validate/cross.hpp>

namespace lemma {

enum class Search { grid, random, halving, gp };
constexpr auto names_of(Search) { return std::array<std::string_view, 4>{"grid", "random", "halving", "gp"}; }

struct TuneOptions {
  Search search = Search::grid;
  int tries = 20;                    // of all but the grid
  std::vector<std::string> metrics;  // the first one chooses; empty: accuracy, rmse or silhouette
  bool one_se = false;        // of a grid: the first in its order whose score is within one standard error of the best
  std::optional<Plan> outer;  // an honest score of the whole search
  CrossOptions cross;
};

struct Try {
  Place place;
  Value params;
  std::string text;
  double share = 1;  // of the training rows
  std::vector<Score> scores;
};

struct TuneResult {
  std::string method, formula, data;  // the method with what was chosen
  AnySpec chosen;
  Search search = Search::grid;
  Plan plan;
  Index rows = 0;
  std::vector<std::string> metrics;
  bool higher_is_better = true;
  std::vector<Try> tries;
  std::size_t best = 0, taken = 0;  // taken is another one under the rule of one standard error
  bool one_se = false, cancelled = false;
  std::optional<CrossResult> honest;      // the outer scores
  std::vector<std::string> choices = {};  // what was chosen in each outer training set
  std::vector<Leak> leaks = {};
  std::vector<std::string> notes = {};

  const Score& score(std::size_t i) const;
};

/// Error for a metric that the task does not have. A cancel leaves the tries that are done; Cancelled where there are none.
TuneResult tune(const AnySpec& spec, const std::vector<std::string>& space, const Formula& formula,
                const TableStream& data, const Plan& plan, const TuneOptions& options);

/// How it was chosen, as a model file keeps it, and `lemma show` prints it.
Value to_value(const TuneResult& result);
std::string text_of_choice(const Value& choice);

}  // namespace lemma
