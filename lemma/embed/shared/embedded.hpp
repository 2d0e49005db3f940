// lemma/embed/shared/embedded.hpp: what every embedding tells: where things lie, and how good a picture of them that is.
#pragma once
#include <lemma/geometry/compared.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/concepts.hpp>
#include <lemma/model/fields.hpp>

namespace lemma {

/// How good a picture is, with dissimilarities δ of things and distances d of their places:
///
///     stress_1          √(min_b Σ (bδ − d)² / Σ d²) over all pairs: 0 of a perfect picture, whatever its unit
///     trustworthiness   1 − 2/(nk(2n−3k−1)) Σ_i Σ_j (rank of j by δ, seen from i, − k) over the j that are among the k nearest of
///                       i in the picture and not among things (Venna and Kaski 2001); 1: no false neighbour
///     continuity        the same with the two exchanged; 1: no neighbour is torn away
///     kept_neighbors    the share of the k nearest that stay among the k nearest
///     shepard           pairs by δ in ten groups of one size: mean δ, mean d, standard deviation of d
///
/// k is 10, or the most that n allows ((n − 1) / 2). Exact up to kMostExact things; above that of so many of them, drawn by
/// chance once and for all.
///
/// Cost  O(n² (p + k)) time; O(n) memory.
struct Quality {
  static constexpr Index kMostExact = 5000;
  double stress_1 = 0, trustworthiness = 1, continuity = 1, kept_neighbors = 1;
  Index neighbors = 1;  // k
  Matrix shepard;
};
/// `weight` of each pair in the order of kept(); those of weight 0 are not known, and then there are no neighbours (NaN).
Quality quality_of(const Dissimilarities& things, const std::vector<double>& weight, const Matrix& places,
                   const Execution& execution = {});

struct Embedded : Evidence {
  Matrix places;
  double stress_1 = 0, trustworthiness = 1, continuity = 1, kept_neighbors = 1;
  Index neighbors = 1;
  Matrix shepard;
  Vector inverse_error;
  std::vector<std::string> things;
  Matrix points;
  Index columns = 0;

  /// The fields before a method's own, and those behind them.
  static constexpr auto first_fields() {
    return Listing{result("coordinates", &Embedded::places, "where each thing lies: a column per dimension",
                          {.across = Axis::number, .down = Axis::row})};
  }
  static constexpr auto last_fields() {
    using M = Embedded;
    return Listing{
        result("stress_1", &M::stress_1,
               "root of the share of the squared distances that dissimilarities do not explain"),
        result("trustworthiness", &M::trustworthiness,
               "1: no false neighbour in the picture; null where pairs are missing"),
        result("continuity", &M::continuity, "1: no neighbour is torn away; null where pairs are missing"),
        result("kept_neighbors", &M::kept_neighbors, "share of neighbours that stay; null where pairs are missing"),
        result("neighbors", &M::neighbors, "how many neighbours these three look at"),
        result(
            "shepard", &M::shepard,
            "pairs by dissimilarity in groups of one size: mean dissimilarity, mean distance, its standard deviation"),
        later(result("inverse_error", &M::inverse_error,
                     "of the way back from places to columns: root mean square error of each, each row by the others",
                     kByFeature)),
        result("things", &M::things, "names of the things, where the data give dissimilarities"),
        state("points", &M::points, "the rows, where they are what is compared"),
        state("columns", &M::columns, "of the data")};
  }

  Index width() const { return columns; }
  Index count() const { return places.rows(); }
  Index dimensions() const { return places.cols(); }
  /// Error unless the parts fit together; `left_out` of the things have no place.
  void check_embedded(std::string_view method, Input input, const Metric& metric, int dimensions,
                      Index left_out = 0) const;
  /// Takes over what the data are, and how good the picture is.
  void describe(const Compared& data, Index width, const Execution& execution);
  /// The same of rows of which no dissimilarities are kept.
  void describe(const Matrix& rows, const BoundMetric& metric, const Execution& execution);
  void take(const Quality& quality);
  /// A few lines: the measures of the picture.
  std::string picture() const;
};

/// The things that a model is about, from rows in any order. Things that are not the model's come as they are, and
/// `same` says so.
Compared compared_again(std::string_view method, const Embedded& model, Input input, const Metric& metric,
                        const Rows& rows, Comparison& same, const Execution& execution);
/// The rows that a model was fitted on, given in any order, in the order in which it keeps them; others come as they are, and
/// `same` says so.
Matrix rows_again(std::string_view method, const Embedded& model, const Rows& rows, Comparison& same,
                  const Execution& execution);
/// Holds the measures of the picture against those found anew.
void compare_quality(Comparison& same, const Embedded& model, const Compared& data, const Execution& execution);
void compare_quality(Comparison& same, const Embedded& model, const Dissimilarities& things,
                     const std::vector<double>& weight, const Execution& execution);
/// Makes the certificate one of the finding, if there is one.
void report(const Comparison& same, Certificate& certificate);

/// visit(i, δ) with the dissimilarities of each row of x to all things: by the metric, or (of a square) as it stands there, without
/// those of the things that are left out.
void for_each_new(std::string_view method, const Embedded& model, Input input, const Metric& metric,
                  const MatrixView& x, const std::function<void(Index, std::span<const double>)>& visit,
                  const std::vector<Index>& left_out = {});

/// Centred and turned to the axes along which things are spread most; distances stay.
Matrix along_axes(const Matrix& x);

/// The threads of the work, and nobody to say that it is cancelled: for a step that is kept whole, and for what a cancelled fit still
/// tells of the places that it has.
Execution to_the_end(const Execution& execution);
/// What a cancelled fit claims of them: nothing that was not reached.
void say_cancelled(Certificate& certificate, long long steps);

/// "D1", "D2", …
std::vector<std::string> dimension_names(Index count);

}  // namespace lemma
