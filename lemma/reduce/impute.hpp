// lemma/reduce/impute.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

enum class Fill { mean, median, mode };
constexpr auto names_of(Fill) { return std::array<std::string_view, 3>{"mean", "median", "mode"}; }

/// Puts a value of its column in the place of each missing one (NaN): the mean, the median (of an even number the mean of
/// the middle two), or the mode (the most frequent value, of equals the least).
///
/// Cost         mean: one scan, O(n p). median: ten scans, O(n p) and 2 kB a column, whatever n: the two middle values are
///              found digit by digit of their 64 bits. mode: one scan and the different values of each column in memory.
/// Certificate  consistent: nothing is missing after the map, what was there is unchanged, and a fresh scan finds each fill to
///              be what it says: deviations from the mean cancel, at most half the weight lies on either side of the median,
///              no value is more frequent than the mode.
struct Impute {
  Fill with = Fill::mean;

  static constexpr std::string_view name = "impute";
  static constexpr MethodAbout about{
      .family = "reduce",
      .task = Task::transformation,
      .summary = "puts the mean, median or mode of its column in the place of each missing value",
      .objective = "z = x where there is one, else the column's mean, median or mode",
      .example = "lemma fit impute breast_cancer '~ . - Class' --with median",
      .scans = true,
      .takes_weights = true,
      .takes_missing = true,
      .uses_response = false};
  static constexpr auto params() { return Listing{param("with", &Impute::with, "what stands in for a missing value")}; }
};
static_assert(Described<Impute>);

struct ImputeModel : Evidence {
  Impute spec;
  Vector fill;     // one for each column
  Vector missing;  // how many values each column lacked (by weight)

  static constexpr auto fields() {
    return Listing{result("fill", &ImputeModel::fill, "stands in for a missing value of each column", kByFeature),
                   result("missing", &ImputeModel::missing, "how many values of each column were missing", kByFeature)};
  }
  Index width() const { return fill.size(); }
  void check() const;
  Index output_width() const { return width(); }
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>& features) const { return features; }
  std::string summary(const Names& names) const;
};

ImputeModel fit(const Valid<Impute>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const ImputeModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Impute>();

}  // namespace lemma
