// lemma/model/comparison.hpp: the numbers of a model held against those that the rows give anew.
#pragma once
#include <lemma/core/certificate.hpp>
#include <lemma/core/matrix.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

inline constexpr double kAgree = 1e-9;          // what rounding may do to a number, in its own unit
inline constexpr double kLeastAgreement = 0.5;  // no loss of digits excuses more

/// The first number that is not what it should be. Causes are looked at before what follows from them.
class Comparison {
 public:
  struct Finding {
    std::string field, place;
    double value, tolerance;
  };
  const std::optional<Finding>& finding() const { return finding_; }

  /// d / (unit + d) for a difference d: at most 1, whatever the numbers. Of two missing numbers there is none.
  void number(std::string_view field, double stored, double expected, double unit, double tolerance = kAgree,
              std::string place = {});
  /// In the expected number's own size.
  void relative(std::string_view field, double stored, double expected, double tolerance = kAgree);
  /// Number j of an array.
  void entry(std::string_view field, Index j, double stored, double expected, double unit, double tolerance = kAgree);
  /// Two triangles of the same rows: R R'⁻¹ = I. Unlike RᵀR this sees a small diagonal.
  void triangle(std::string_view field, const Matrix& stored, const MatrixView& expected, double tolerance);
  /// A covariance matrix: `part` where both terms take part, none elsewhere; an entry in units of its standard errors.
  void covariance(const Matrix& stored, const std::vector<Index>& taking_part, const Matrix& part, double tolerance);
  /// Makes the certificate one of the finding.
  void report(Certificate& certificate) const;

 private:
  std::optional<Finding> finding_;
};

}  // namespace lemma
