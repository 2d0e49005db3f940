// lemma/reduce/select.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/reduce/select/filters.hpp>

namespace lemma {

/// Keeps the columns that tell most of the response, each judged alone (`incremental`: beside those chosen) by a filter, the
/// `k` best, or those whose tests pass with a bounded share of false discoveries (Benjamini and Hochberg 1995):
///
///     keep the columns of rank 1 … k,     or those with  p_(r) ≤ α r / m  for the largest such r
///
/// It looks at the response: in a pipeline, 'select(filter=t, k=10) | lda', it is fitted again in every fold.
///
/// Cost         O(n p) or O(n p log n) in memory, columns in parallel; incremental O(n p k).
/// Certificate  consistent: all scores and p-values by other formulas and sums, and no column left out is better than one kept.
struct Select {
  Filter filter = AutoFilter{};
  std::optional<int> k;
  std::optional<double> false_discoveries;

  static constexpr std::string_view name = "select";
  static constexpr MethodAbout about{.family = "reduce",
                                     .task = Task::transformation,
                                     .summary = "keeps the columns that tell most of the response, each by itself",
                                     .objective = "the k columns of best score: t, F, correlation, information, ...",
                                     .example = "lemma fit select pima_train 'type ~ .' --filter t --k 3",
                                     .takes_weights = true,
                                     .takes_codes = true,
                                     .either_response = true};
  static constexpr auto params() {
    return Listing{
        param("filter", &Select::filter, "how a column is judged; auto: anova for classes, correlation for numbers"),
        param("k", &Select::k,
              "how many columns are kept; auto: half of them, or as many as pass where false discoveries are bounded",
              at_least(1)),
        param("false_discoveries", &Select::false_discoveries,
              "keep columns whose tests pass with this share of false discoveries at most, on average; auto: no tests",
              within(0, 1))};
  }
  void check() const;
  Needs needs(Needs usual) const;
};
static_assert(Described<Select>);

struct SelectModel : Evidence {
  Select spec;
  Vector scores;    // of each column, as the filter defines them
  Vector p_values;  // empty where the filter tests nothing
  Vector rank;      // 1: the best column
  Vector kept;      // 1: kept, 0: left out
  Index classes = 0;

  static constexpr auto fields() {
    return Listing{result("scores", &SelectModel::scores, "of each column, as the filter defines them", kByFeature),
                   result("p_values", &SelectModel::p_values, "of each column, where the filter is a test", kByFeature),
                   result("rank", &SelectModel::rank, "of each column, 1 the best; of incremental the order of choice",
                          kByFeature),
                   result("kept", &SelectModel::kept, "1 for a column that is kept, 0 for one left out", kByFeature),
                   state("classes", &SelectModel::classes, "how many the response has; 0: numbers")};
  }
  Index width() const { return scores.size(); }
  Index class_count() const { return classes; }
  void check() const;
  Index output_width() const;
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>& features) const;
  AffineMap affine() const;
  std::string summary(const Names& names) const;

  std::vector<Index> kept_columns() const;
  std::vector<Index> order() const;  // of the columns, best first
};

SelectModel fit(const Valid<Select>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const SelectModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Select>();

}  // namespace lemma
