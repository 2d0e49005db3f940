// lemma/linear/shared/margin_planes.hpp: what the linear machines say alike: one plane between two classes, or one for each.
#pragma once
#include <lemma/model/concepts.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

struct MarginPlanes : Evidence {
  PathMatrix coefficients;  // one row for each plane
  PathNumbers intercept;
  Vector class_factors;

  /// The fields before a method's own, and those behind them.
  static constexpr auto first_fields() {
    using M = MarginPlanes;
    return Listing{result("coefficients", &M::coefficients,
                          "w of the plane between two classes, or one row for each of more", kByFeature),
                   result("intercept", &M::intercept, "b of each plane; 0 when none is fitted")};
  }
  static constexpr auto last_fields() {
    return Listing{state("class_factors", &MarginPlanes::class_factors, "factors on the weights of the classes")};
  }

  Index width() const { return coefficients.of.cols(); }
  Index planes() const { return coefficients.of.rows(); }
  Index class_count() const { return classes_for(planes()); }
  AffineMap affine() const { return {coefficients.of, intercept.of}; }

  /// Error unless the arrays fit together; `more` are a method's own numbers of each plane.
  void check_planes(std::string_view method, bool with_intercept, const std::vector<const PathNumbers*>& more) const;
};

}  // namespace lemma
