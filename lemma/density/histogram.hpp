// lemma/density/histogram.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <variant>

namespace lemma {

enum class BinRule { scott, freedman_diaconis, sturges, least_risk };
constexpr auto names_of(BinRule) {
  return std::array<std::string_view, 4>{"scott", "freedman_diaconis", "sturges", "least_risk"};
}

/// Histogram as a density: the range of each column is cut into bins of equal width, and in a cell (a bin of each column)
///
///     f(x) = n_cell / (n · volume of a cell),      0 outside of the range.
///
/// How many bins a column of range R has, n rows in d columns, σ its standard deviation (divisor n − 1), q its quartile range:
///
///     scott              ⌈R / (3.49 σ n^(−1/(d+2)))⌉            freedman_diaconis  ⌈R / (2 q n^(−1/(d+2)))⌉, Scott's where q = 0
///     sturges            ⌈log₂ n⌉ + 1
///     least_risk         one number for all columns, up to 200: the least J
///
/// with J = 2 / ((n−1) V) − (n+1) / (n² (n−1) V) Σ n_cell², V the volume of a cell: the leave-one-out estimate of ∫ f² − 2 ∫ f f_true, up
/// to a constant the squared error (Rudemo 1982).
///
/// Cost         O(n d log n); a cell that holds rows is kept, an empty one is not.
/// Certificate  consistent: the numbers of bins are those of the rule, by other sums, the rows counted anew by a search among the edges
///              are those of the cells, and J is that of the counts.
struct Histogram {
  std::variant<BinRule, std::vector<double>> bins = BinRule::scott;

  static constexpr std::string_view name = "histogram";
  static constexpr MethodAbout about{.family = "density",
                                     .task = Task::density,
                                     .summary = "histogram as a density, in cells of equal size",
                                     .objective = "f(x) = n_cell / (n V), V the volume of a cell",
                                     .example = "lemma fit histogram faithful '~ eruptions' --bins 20",
                                     .takes_weights = true,
                                     .uses_response = false};
  static constexpr auto params() {
    return Listing{param("bins", &Histogram::bins,
                         "number of bins: one for all columns or one for each, or the rule to find it by",
                         between(1, 100000))};
  }
  void check() const;
};
static_assert(Described<Histogram>);

struct HistogramModel : Evidence {
  Histogram spec;
  Vector low, high;  // of each column
  Vector bins;       // how many of each column
  Matrix cells;      // those that hold rows: a row each, the number of the bin of each column from 0, ascending
  Vector counts;     // the weight of the rows in each
  double risk = 0;

  static constexpr auto fields() {
    using M = HistogramModel;
    return Listing{result("low", &M::low, "where the bins of each column begin", kByFeature),
                   result("high", &M::high, "where they end", kByFeature),
                   result("bins", &M::bins, "how many each column has", kByFeature),
                   result("cells", &M::cells, "cells that hold rows: the bin of each column, from 0", kByFeature),
                   result("counts", &M::counts, "weight of the rows in each of these cells"),
                   result("risk", &M::risk, "leave-one-out estimate of the squared error, up to a constant")};
  }
  Index width() const { return low.size(); }
  void check() const;
  Vector log_density(const MatrixView& x) const;
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

HistogramModel fit(const Valid<Histogram>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const HistogramModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Histogram>();

}  // namespace lemma
