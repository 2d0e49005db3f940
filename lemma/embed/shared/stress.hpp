// lemma/embed/shared/stress.hpp: what metric and nonmetric scaling minimise, over the places of things.
//
// With dissimilarities δ, weights w and distances d of the places, and disparities t, the distances that a picture should have:
//
//     ratio      t = δ                            f = Σ w (t − d)² / Σ w δ²
//     interval   t = a + b δ nearest to d, b ≥ 0  f = Σ w (t − d)² / Σ w d²
//     spline     t = c₀ + Σ c_k I_k(δ) nearest to d, c ≥ 0 (see rising_spline.hpp), the same f
//     ordinal    t rising with δ, nearest to d    f = Σ w (t − d)² / Σ w d²        (Kruskal's stress-1, squared)
//
// Sums over pairs i < j. Of the last three the unit is free, and the places get Σ w d² = Σ w δ². Weights 1/δ make ratio Sammon's stress.
#pragma once
#include <lemma/embed/shared/rising_spline.hpp>
#include <lemma/geometry/compared.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {

enum class Disparities { ratio, interval, spline, ordinal };

/// What pairs of equal dissimilarity may do: have distances of their own (Kruskal's primary treatment), or one (secondary).
enum class TiedPairs { primary, secondary };
constexpr auto names_of(TiedPairs) { return std::array<std::string_view, 2>{"primary", "secondary"}; }

/// The distances rising with δ that are nearest to `distance`, by pooling neighbours that are out of order. `order` has the pairs
/// by δ, equal ones together.
std::vector<double> rising(const std::vector<double>& distance, const std::vector<double>& delta,
                           const std::vector<double>& weight, const std::vector<Index>& order, TiedPairs ties);

class Stress {
 public:
  struct Kind {
    Disparities disparities = Disparities::ratio;
    TiedPairs ties = TiedPairs::primary;
    int knots = 2;        // of spline: between the least and the greatest δ
    bool sammon = false;  // weights 1/δ beside those given; things with δ = 0 share a place
  };
  /// Error naming two things that no way of known pairs joins, or saying that all things are equal.
  Stress(std::string_view method, const Compared& data, const Kind& kind, const Execution& execution = {});

  Index things() const { return delta_.rows(); }
  /// Of places, which are fewer than things where some share one.
  Index places() const { return places_; }
  /// The largest δ: everything inside is in this unit.
  double unit() const { return unit_; }
  /// Of each thing where its place is.
  Matrix spread(const Matrix& places) const;
  /// The mean place of the things that share one.
  Matrix gathered(const Matrix& spread_out) const;

  /// f, and its gradient where it is wanted.
  double value(const Matrix& places, Matrix* gradient, const Execution& execution) const;
  /// Guttman's transform V⁺ B(X) X, the minimiser of a quadratic that lies above the stress and touches it at X: f never rises.
  Matrix guttman(const Matrix& places, const Execution& execution) const;
  /// Where the unit is free: Σ w d² = Σ w δ².
  Matrix in_unit(Matrix places, const Execution& execution) const;
  /// Σ w δ² in the unit of the data.
  double size() const { return size_ * unit_ * unit_; }
  /// a, b of the interval; 0, 1 else.
  struct Line {
    double intercept = 0, slope = 1;
  };
  Line line(const Matrix& places, const Execution& execution) const;
  /// The knots of the spline and its c, in the unit of the data; none else.
  const RisingSpline& spline() const { return spline_; }
  Vector spline_coefficients(const Matrix& places, const Execution& execution) const;

 private:
  Matrix targets(const Matrix& x, const Execution& execution) const;
  Line line_of(const std::vector<double>& distance) const;
  Vector nearest_spline(const std::vector<double>& distance) const;
  std::vector<double> pair_distances(const Matrix& x, const Execution& execution) const;
  Matrix reduced(const Matrix& spread_out) const;

  Kind kind_;
  double unit_ = 1, size_ = 0;
  Matrix delta_, weight_;  // weight_ is empty where all are 1
  std::vector<double> pairs_, pair_weight_;
  std::vector<Index> order_;  // pairs that are known; for ordinal by δ
  RisingSpline spline_;
  Matrix basis_, gram_;  // of the spline at the pairs in order_, and Σ w of its products
  std::vector<Index> place_of_;
  Index places_ = 0;
  Matrix triangle_;  // R of V + 11ᵀ, where weights differ or places are shared
};

/// Error naming two things that no chain of known pairs joins.
void require_joined(std::string_view method, const Dissimilarities& d, const std::vector<double>& weight);

/// Dissimilarities of which all are known: those that are not become the shortest ways along those that are. Error naming two things that
/// no way joins.
Dissimilarities completed_by_ways(std::string_view method, const Compared& data, const Execution& execution = {});
/// The same by the distances of places, one for each thing.
Dissimilarities completed_by_places(const Compared& data, const Matrix& places);

/// The minimum that a search from classical scaling, and from `restarts` places drawn at random, has found.
struct StressSearch {
  long long most_iterations = 1000;
  double tolerance = 1e-8;
  int restarts = 0;
  Index dimensions = 2;
  std::uint64_t seed = 1;
};
struct StressMinimum {
  Matrix places;              // of things, in the unit of the data, centred and along their principal axes
  std::vector<double> trace;  // f at the start and after each step
  bool converged = false;
  bool cancelled = false;  // after one step at least: the places are those that were reached
};
/// Steps of Guttman's transform while they gain, then a quasi-Newton search; f never rises.
StressMinimum least_stress(std::string_view method, const Stress& stress, const Compared& data, const StressSearch& how,
                           const Execution& execution);

/// A second look, by sums over pairs one after the other, and for ordinal by the greatest convex minorant of the sums of distances.
struct StressLook {
  double value = 0;     // f
  double gradient = 0;  // ‖∇f‖ ‖X‖: by how much f would change if the places moved by their own size
  double apart = 0;     // of things with δ = 0 under Sammon's stress: the largest distance of their places beside all
  double unit = 1;      // the largest δ
  double size = 0, of_distances = 0;  // Σ w δ², Σ w d²
  double intercept = 0, slope = 1;    // of interval
  Vector knots, spline;               // of spline, in the unit of the data
};
StressLook look_at_stress(const Compared& data, const Stress::Kind& kind, const Matrix& places,
                          const Execution& execution);

/// Error unless a trace begins somewhere, never rises, and ends with the stress.
void check_trace(std::string_view method, const Vector& trace, double stress);

/// "stationary": what the three methods say alike. `root`: the stress told is √f.
Certificate stress_certificate(const StressLook& look, const Vector& trace, double tolerance, bool root,
                               std::string_view what);

}  // namespace lemma
