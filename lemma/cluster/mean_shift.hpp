// lemma/cluster/mean_shift.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Clusters as the hills of a density: each row goes with the mode that it climbs to (Fukunaga and Hostetler 1975, Cheng 1995).
/// With the Gaussian kernel density f(y) = Σ wᵢ exp(−½ ‖u − uᵢ‖²) / (n (2π)^(d/2) h₁ ⋯ h_d), u = y / h column by column, a place is
/// moved to the mean of the rows as they weigh there, again and again:
///
///     m(u) = Σ gᵢ uᵢ / Σ gᵢ,     gᵢ = wᵢ exp(−½ ‖u − uᵢ‖²)
///
/// which is uphill: m(u) − u is the gradient of log f, and f never falls. The derivative of m is C(u), the covariance of the rows
/// as they weigh there: where m(u) = u and no eigenvalue of C reaches 1, u is a mode, and the way to it that is left is at most
/// ‖m(u) − u‖ / (1 − λ) of it. Modes nearer to each other than a hundredth of the bandwidth are one. A climb ends as soon as it is so
/// near to a mode; near its end it takes Newton's steps, (I − C)⁻¹ (m(u) − u); from a saddle it goes on along the axis of the
/// largest eigenvalue. The number of clusters follows from the bandwidth. Left out, that is the normal rule for the density's gradient
/// (Chacón, Duong and Wand 2011):
///
///     hⱼ = σⱼ (4 / ((d + 4) n))^(1/(d+6))       σ the standard deviation of the column (divisor n − 1), n = Σ w
///
/// Cost         O(m p) for a step of a climb over m different rows: O(m² p) times some dozens of steps for the fit; O(m p) memory.
/// Certificate  consistent: at each mode the plain weighted mean of all rows, in the columns' own units, is the mode itself to 1e-9
///              of the bandwidth, and the largest eigenvalue of their covariance is below 1; no two modes are one; each row climbs,
///              by plain steps alone from where it stands, to the mode of its cluster; sizes and densities are those of the rows.
struct MeanShift {
  std::optional<std::vector<double>> bandwidth;
  int max_iterations = 1000;

  static constexpr std::string_view name = "mean_shift";
  static constexpr MethodAbout about{
      .family = "cluster",
      .task = Task::clustering,
      .summary = "clusters as the hills of a density: each row goes with the mode that it climbs to",
      .objective = "y <- sum_i g_i x_i / sum_i g_i, g Gaussian around y, until y is a mode of the density",
      .example = "lemma fit mean_shift faithful",
      .keeps_rows = true,
      .takes_weights = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{param("bandwidth", &MeanShift::bandwidth,
                         "standard deviation of a bump, in the columns' units: one number for all or one for each; by "
                         "default the normal rule for a gradient",
                         above(0), Step::logarithmic),
                   param("max_iterations", &MeanShift::max_iterations, "most steps of one climb", at_least(1))};
  }
};
static_assert(Described<MeanShift>);

struct MeanShiftModel : Evidence {
  MeanShift spec;
  Matrix modes;          // a row each, of the largest cluster first
  Vector sizes;          // weight of the rows that climb there
  Vector log_densities;  // log f at the modes
  Vector bandwidth;
  Matrix points;    // the different rows
  Vector weights;   // of them
  Vector clusters;  // of each of them, from 1; 0 where the climb did not end

  static constexpr auto fields() {
    using M = MeanShiftModel;
    return Listing{result("modes", &M::modes, "the tops of the hills, one in each row", kByFeature),
                   result("sizes", &M::sizes, "rows that climb to each (their weight)"),
                   result("log_densities", &M::log_densities, "the logarithm of the density at each"),
                   result("bandwidth", &M::bandwidth, "standard deviation of a bump in each column", kByFeature),
                   state("points", &M::points, "the different rows of the fit"),
                   state("weights", &M::weights, "of the different rows"),
                   state("clusters", &M::clusters, "of the different rows, from 1; 0: the climb did not end")};
  }
  Index width() const { return points.cols(); }
  Index k() const { return modes.rows(); }
  void check() const;
  /// The mode to which each row climbs over the rows of the fit; −1 (none) where that is none of the modes.
  Labels assign(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

MeanShiftModel fit(const Valid<MeanShift>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MeanShiftModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<MeanShift>();

}  // namespace lemma
