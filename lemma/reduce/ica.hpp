// lemma/reduce/ica.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// What tells a source from normal noise: the mean of G(s), g = G'.
enum class Contrast {
  logcosh,  // G = log cosh s: for most purposes
  exp,      // G = −exp(−s²/2): for sources with heavy tails
  cube      // G = s⁴/4: kurtosis; far rows decide
};
constexpr auto names_of(Contrast) { return std::array<std::string_view, 3>{"logcosh", "exp", "cube"}; }

/// Independent components (FastICA: Hyvärinen 1999): rows as mixtures x = mean + A s of sources s that are as far from normal as can be,
///
///     s = W K (x − mean),   K whitens (cov K x = I, divisor n − 1),   W orthogonal
///     max_W Σ_k ε_k E G(s_k),     ε_k = sign(E s_k g(s_k) − E g'(s_k))
///
/// By W ← (M Mᵀ)^−½ M, M = E g(s)(Kx)ᵀ − diag(E g'(s)) W, all sources at once; where that goes to and fro, by a quasi-Newton search over the
/// rotations. Sources have standard deviation 1; those come first that carry most of the variance, and each column of the mixing A is
/// turned so that its largest entry in size is positive.
///
/// Cost         a scan for each step, O(n p k) time; O(p²) memory.
/// Certificate  stationary: sources have mean 0 and the identity as covariance, A is what they give of the columns, none of greater
///              variance is left out, and no small rotation of two sources raises the contrast: E g(s_k) s_l ε_k = E g(s_l) s_k ε_l. By plain
///              sums from the rows.
struct Ica {
  std::optional<int> components;
  Contrast contrast = Contrast::logcosh;
  int max_iterations = 1000;
  double tolerance = 1e-8;

  static constexpr std::string_view name = "ica";
  static constexpr MethodAbout about{
      .family = "reduce",
      .task = Task::transformation,
      .summary = "independent components: rows as mixtures of sources far from normal",
      .objective = "max sum e_k E G(s_k) over rotations of the whitened rows, s = W K (x - mean)",
      .example = "lemma fit ica crabs '~ FL + RW + CL + CW + BD'",
      .scans = true,
      .takes_weights = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = Ica;
    return Listing{param("components", &S::components,
                         "sources; fewer than columns: of the principal components with most variance; by default all",
                         at_least(1)),
                   param("contrast", &S::contrast, "what tells a source from normal noise"),
                   param("max_iterations", &S::max_iterations, "steps of the fixed point, and of the search after it",
                         at_least(1)),
                   param("tolerance", &S::tolerance, "what a rotation of two sources may still gain, per radian",
                         above(0), Step::logarithmic)};
  }
};
static_assert(Described<Ica>);

struct IcaModel : Evidence {
  Ica spec;
  Matrix mixing, unmixing;
  Vector mean, explained;

  static constexpr auto fields() {
    using M = IcaModel;
    return Listing{result("mixing", &M::mixing,
                          "A: how a column follows the sources; a row per feature, a column per source", kFeaturesDown),
                   result("unmixing", &M::unmixing, "what a source is made of: s = (x - mean) times it", kFeaturesDown),
                   result("mean", &M::mean, "of each column", kByFeature),
                   result("explained", &M::explained, "share of the variance of all columns that each source carries")};
  }
  Index width() const { return mixing.rows(); }
  Index components() const { return mixing.cols(); }
  void check() const;
  Index output_width() const { return components(); }
  Matrix transform(const MatrixView& x) const;
  Matrix inverse(const MatrixView& z) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const;
  AffineMap affine() const;
  std::string summary(const Names& names) const;
};

IcaModel fit(const Valid<Ica>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const IcaModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Ica>();

}  // namespace lemma
