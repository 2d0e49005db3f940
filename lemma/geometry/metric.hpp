// lemma/geometry/metric.hpp: metrics as values: written down, stored, and not yet tied to any rows.
//
//     --metric manhattan     --metric 'minkowski(3)'          Metric(MinkowskiMetric{.p = 3})
//
// What is left to learn (a covariance, the ranges of columns) becomes numbers when the metric meets the rows: see
// `resolved`. bound_metric.hpp then computes distances.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/core/param_info.hpp>
#include <span>

namespace lemma {

/// √Σ (xⱼ − zⱼ)²
struct EuclideanMetric {
  static constexpr std::string_view name = "euclidean";
  static constexpr auto params() { return Listing{}; }
};

/// Σ (xⱼ − zⱼ)²: no triangle inequality (0, 1, 2 on a line: 4 > 1 + 1), the same neighbours.
struct SqEuclideanMetric {
  static constexpr std::string_view name = "sqeuclidean";
  static constexpr auto params() { return Listing{}; }
};

/// Σ |xⱼ − zⱼ|
struct ManhattanMetric {
  static constexpr std::string_view name = "manhattan";
  static constexpr auto params() { return Listing{}; }
};

/// max |xⱼ − zⱼ|
struct ChebyshevMetric {
  static constexpr std::string_view name = "chebyshev";
  static constexpr auto params() { return Listing{}; }
};

/// (Σ |xⱼ − zⱼ|ᵖ)^(1/p); p = 1, 2 and inf are the three above.
struct MinkowskiMetric {
  double p = 2;

  static constexpr std::string_view name = "minkowski";
  static constexpr auto params() {
    return Listing{param("p", &MinkowskiMetric::p, "the power; inf is chebyshev", at_least(1).or_infinite())};
  }
};

/// 1 − cos ∠(x, z), as ½ ‖x/‖x‖ − z/‖z‖‖², which keeps the digits of small angles. Rows of zeros have no angle.
struct CosineMetric {
  static constexpr std::string_view name = "cosine";
  static constexpr auto params() { return Listing{}; }
};

/// 1 − the correlation of the two rows over their columns: the cosine of rows less their means.
struct CorrelationMetric {
  static constexpr std::string_view name = "correlation";
  static constexpr auto params() { return Listing{}; }
};

/// √((x − z)ᵀ C⁻¹ (x − z))
struct MahalanobisMetric {
  Matrix covariance;
  std::vector<double> centre;

  static constexpr std::string_view name = "mahalanobis";
  static constexpr auto params() {
    return Listing{
        param("covariance", &MahalanobisMetric::covariance,
              "positive definite matrix C; left out: the rows' covariance, divisor n - 1"),
        param("centre", &MahalanobisMetric::centre,
              "subtracted from every row; changes no distance but keeps its digits; left out: the rows' means")};
  }
  void check() const;
};

/// The share of columns in which the rows differ.
struct HammingMetric {
  static constexpr std::string_view name = "hamming";
  static constexpr auto params() { return Listing{}; }
};

/// 1 − |A ∩ B| / |A ∪ B| of the sets of columns that are not zero; two empty sets are equal.
struct JaccardMetric {
  static constexpr std::string_view name = "jaccard";
  static constexpr auto params() { return Listing{}; }
};

/// The mean over columns of |xⱼ − zⱼ| / rangeⱼ, or of [xⱼ ≠ zⱼ] where the range is 0 (codes of categories, constants).
/// A value that is missing (NaN) in x or z leaves the column out of both sum and count, which costs the triangle
/// inequality.
struct GowerMetric {
  std::vector<double> ranges;

  static constexpr std::string_view name = "gower";
  static constexpr auto params() {
    return Listing{param("ranges", &GowerMetric::ranges,
                         "a range for each column, 0: equal or not; left out: greatest less least of the rows",
                         at_least(0))};
  }
};

class Metric {
 public:
  using Named =
      std::variant<EuclideanMetric, SqEuclideanMetric, ManhattanMetric, ChebyshevMetric, MinkowskiMetric, CosineMetric,
                   CorrelationMetric, MahalanobisMetric, HammingMetric, JaccardMetric, GowerMetric>;

  Metric();
  Metric(
      const Metric&);  // these stand in metric.cpp: every file that passes a metric on would make its own copy of them
  Metric(Metric&&) noexcept;
  Metric& operator=(const Metric&);
  Metric& operator=(Metric&&) noexcept;
  ~Metric();
  template <class Atom>
  requires(requires { Atom::name; }) && std::constructible_from<Named, Atom> Metric(Atom atom)
      : named_(std::move(atom)) {}

  /// From what a user writes: `euclidean`, `minkowski(3)`, `minkowski(p=inf)`, `mahalanobis([2, 0.5; 0.5, 1])`.
  /// Arguments follow the order of the parameters or are named; an Error points at the place.
  static Metric parse(std::string_view text);
  /// As parse reads it; numbers to the last digit.
  std::string text() const;
  std::string_view name() const;

  const Named& named() const { return named_; }
  template <class Atom>
  const Atom* get() const {
    return std::get_if<Atom>(&named_);
  }

  /// d(x, z) ≤ d(x, y) + d(y, z) for all rows (of finite numbers).
  bool obeys_triangle_inequality() const;
  /// Rows may hold missing values (NaN): gower alone.
  bool takes_missing() const { return get<GowerMetric>() != nullptr; }

  /// With numbers in the place of what was left to learn. `codes`: the columns that hold codes of categories, for
  /// gower.
  Metric resolved(const MatrixView& rows, std::span<const Index> codes = {}, const Execution& execution = {}) const;
  /// Ranges of all parameters, and rules between them; Error naming the one that is wrong.
  void check(const std::string& where) const;

 private:
  Named named_;
};

/// {"kind": "minkowski", "p": 3}; read also from the text.
template <>
struct Codec<Metric> {
  static Value write(const Metric& metric);
  static void read(Metric& field, const Value& value, const std::string& where);
  static void check(const Metric& metric, const Range&, const std::string& where) { metric.check(where); }
};
template <>
struct detail::Describe<Metric> {
  static void kind(ParamInfo& info);
  static void parts(const std::string& name, std::vector<ParamInfo>& out);
};

}  // namespace lemma
