// lemma/linear/chebyshev.hpp
#pragma once
#include <lemma/math/least_squares.hpp>
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

/// Minimax regression: the b₀ and b that minimise the largest error,
///
///     J(b₀, b) = max |yᵢ − offsetᵢ − b₀ − xᵢ·b|        over the rows of weight above 0,
///
/// a linear programme in b₀, b and the bound h. Of its rows only those near the largest error matter: a programme of a few
/// rows is solved, all rows are asked for their errors, the largest join, until no error is above h. Aliased columns are
/// those of ols.
///
/// Cost         one scan for the columns and one for each round (about as many as there are columns, often fewer); memory
///              does not grow with the rows.
/// Certificate  optimal: the relative duality gap. The dual is  maximise Σ λᵢ yᵢ  subject to  Σ λᵢ [1 xᵢ] = 0, Σ |λᵢ| = 1.
///              verify finds λ by least squares with signs over the rows of largest error.
struct Chebyshev {
  bool intercept = true;
  double tolerance = kRankTolerance;

  static constexpr std::string_view name = "chebyshev";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::regression,
                                     .summary = "linear regression with the least largest error (minimax)",
                                     .objective = "minimise max |y − b₀ − x·b|",
                                     .example = "lemma fit chebyshev faithful 'waiting ~ eruptions'",
                                     .scans = true,
                                     .takes_weights = true,
                                     .takes_offset = true};
  static constexpr auto params() {
    return Listing{param("intercept", &Chebyshev::intercept, "fit an intercept"),
                   param("tolerance", &Chebyshev::tolerance,
                         "a column is aliased when less than this share of it is orthogonal to the columns before it",
                         between(1e-15, 0.1), Step::logarithmic)};
  }
};
static_assert(Described<Chebyshev>);

/// The rows that hold the plane, by their numbers and by marks of their values: rows in another order have other
/// numbers. The last mark is that of the order of all rows. Marks are below 0, which tells them from the numbers in a
/// file; models of earlier versions have none.
struct Holders {
  Labels rows, marks;
};
template <>
struct Codec<Holders> {
  static Value write(const Holders& holders);
  static void read(Holders& field, const Value& value, const std::string& where);
};

struct ChebyshevModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Chebyshev spec;
  Vector coefficients;
  double intercept = 0, objective = kNone;
  Index rank = 0;
  double n_active = kNone;
  Holders active;
  Labels kept;

  static constexpr auto fields() {
    using M = ChebyshevModel;
    return Listing{
        result("coefficients", &M::coefficients, "one for each feature; null where it is aliased", kByFeature),
        result("intercept", &M::intercept, "0 when none is fitted"),
        result("objective", &M::objective, "the largest error"),
        result("rank", &M::rank, "number of coefficients that are determined, with the intercept"),
        result("n_active", &M::n_active, "weight of the rows that have the largest error"),
        state("active", &M::active, "rows that hold the plane: those with a multiplier"),
        state("kept", &M::kept, "columns that take part")};
  }
  Index width() const { return coefficients.size(); }
  void check() const;
  Vector slopes() const;  // the coefficients, 0 where aliased
  Vector predict(const MatrixView& x) const;
  AffineMap affine() const { return {slopes().transpose(), Vector::Constant(1, intercept)}; }
  std::string summary(const Names& names) const;
};

ChebyshevModel fit(const Valid<Chebyshev>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ChebyshevModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Chebyshev>();

}  // namespace lemma
