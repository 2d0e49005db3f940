// lemma/reduce/scale.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Brings each column to mean 0 and standard deviation 1:
///
///     zⱼ = (xⱼ − meanⱼ) / sdⱼ        sdⱼ² = Σ w (xⱼ − meanⱼ)² / (n − 1)
///
/// A column of equal values is only centred, and named in a warning. Missing values stay missing.
///
/// Cost         one scan, O(n p).
/// Certificate  consistent: the transformed rows, scanned again by plain sums, have mean 0 and sd 1 to 1e-8.
struct Scale {
  bool center = true;
  bool scale = true;

  static constexpr std::string_view name = "scale";
  static constexpr MethodAbout about{.family = "reduce",
                                     .task = Task::transformation,
                                     .summary = "brings each column to mean 0 and standard deviation 1",
                                     .objective = "z = (x - mean) / sd, column by column; sd has divisor n - 1",
                                     .example = "lemma fit scale iris '~ . - species'",
                                     .scans = true,
                                     .takes_weights = true,
                                     .takes_missing = true,
                                     .uses_response = false};
  static constexpr auto params() {
    return Listing{param("center", &Scale::center, "subtract the mean"),
                   param("scale", &Scale::scale, "divide by the standard deviation")};
  }
};
static_assert(Described<Scale>);

struct ScaleModel : Evidence {
  Scale spec;
  Vector mean;   // 0 where columns are not centred
  Vector scale;  // 1 where columns are not scaled
  // Of the rows, whatever is done with them: what an update needs.
  Vector seen_weight, seen_mean, seen_deviation;

  static constexpr auto fields() {
    return Listing{result("mean", &ScaleModel::mean, "subtracted from each column", kByFeature),
                   result("scale", &ScaleModel::scale, "each column is divided by it", kByFeature),
                   later(state("seen_weight", &ScaleModel::seen_weight, "of the values of each column")),
                   later(state("seen_mean", &ScaleModel::seen_mean, "of each column")),
                   later(state("seen_deviation", &ScaleModel::seen_deviation, "of each column"))};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return mean.size(); }
  void check() const;
  Index output_width() const { return width(); }
  Matrix transform(const MatrixView& x) const;
  Matrix inverse(const MatrixView& z) const;
  std::vector<std::string> output_names(const std::vector<std::string>& features) const { return features; }
  AffineMap affine() const;
  std::string summary(const Names& names) const;
};

ScaleModel fit(const Valid<Scale>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ScaleModel& model, const Rows& rows, const Execution& execution);
/// The fit to all rows, from these and from the weights, means and deviations of those before.
ScaleModel updated(const ScaleModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Scale>();

}  // namespace lemma
