// lemma/reduce/random_projection.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

enum class Projection { gaussian, sparse };
constexpr auto names_of(Projection) { return std::array<std::string_view, 2>{"gaussian", "sparse"}; }

/// Rows in fewer dimensions along directions drawn by chance, which keeps all their distances nearly (Johnson and Lindenstrauss 1984):
///
///     z = x R,    R_jk = N(0, 1) / √k  (gaussian),     or  ±√(s/k) with probability 1/(2s) each, else 0  (sparse, s = 1/density)
///
/// With  k ≥ 4 log n / (ε²/2 − ε³/3)  dimensions the squared distances of n rows are kept to a share of 1 ± ε with a probability of at least 1 − 2/n²
/// for each pair (Dasgupta and Gupta 2003, Achlioptas 2003); so many are taken unless `components` says otherwise. The rows decide nothing
/// but their number; how far the distances of the fit's rows did change is shown.
///
/// Cost         O(p k) numbers drawn; O(n p k) to project n rows; the distortion is that of all pairs of up to 1,000 rows.
/// Certificate  consistent: the matrix is the one that the seed draws, entry by entry, of the dimension that the bound gives; and the distortion,
///              found by projecting differences of rows, is what is told.
struct RandomProjection {
  Projection kind = Projection::gaussian;
  std::optional<int> components;
  double epsilon = 0.1;
  std::optional<double> density;

  static constexpr std::string_view name = "random_projection";
  static constexpr MethodAbout about{
      .family = "reduce",
      .task = Task::transformation,
      .summary = "rows along directions drawn by chance, which keeps their distances nearly",
      .objective = "z = x R, R normal or sparse, E |z - z'|^2 = |x - x'|^2; k >= 4 log n / (eps^2/2 - eps^3/3)",
      .example = "lemma fit random_projection digits '~ . - digit' --components 20",
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = RandomProjection;
    return Listing{
        param("kind", &S::kind, "normal directions, or sparse ones of equal sizes"),
        param("components", &S::components, "dimensions; chosen: by the bound for epsilon, at most the columns",
              at_least(1)),
        param("epsilon", &S::epsilon, "squared distances are to change by at most this share", within(0, 1)),
        param("density", &S::density, "share of entries that are not 0, of kind sparse; chosen: 1 / sqrt(columns)",
              Range{.low = 0, .high = 1, .low_open = true})};
  }
  void check() const;
};
static_assert(Described<RandomProjection>);

struct RandomProjectionModel : Evidence {
  RandomProjection spec;
  Matrix directions;
  Index bound = 0;
  Vector distortion;
  Index rows = 0;
  std::int64_t seed = 1;

  static constexpr auto fields() {
    using M = RandomProjectionModel;
    return Listing{
        result("directions", &M::directions, "R: a row per feature, a column per dimension", kFeaturesDown),
        result("bound", &M::bound, "dimensions that the bound asks for with these rows and epsilon"),
        result("distortion", &M::distortion,
               "least, mean and largest ratio of a squared distance after to before, over pairs of the fit's rows"),
        state("rows", &M::rows, "of the fit"), state("seed", &M::seed, "that the directions were drawn by")};
  }
  Index width() const { return directions.rows(); }
  Index components() const { return directions.cols(); }
  void check() const;
  Index output_width() const { return components(); }
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const;
  AffineMap affine() const { return {directions.transpose(), Vector::Zero(components())}; }
  std::string summary(const Names& names) const;
};

RandomProjectionModel fit(const Valid<RandomProjection>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const RandomProjectionModel& model, const Rows& rows, const Execution& execution);

/// ⌈4 log n / (ε²/2 − ε³/3)⌉
Index johnson_lindenstrauss(Index rows, double epsilon);

extern template const Method& method_of<RandomProjection>();

}  // namespace lemma
