// lemma/kernel/kernel_pca.hpp
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Principal components in the space of a kernel (Schölkopf, Smola and Müller 1998). With K the kernel matrix about the mean of the
/// features, k̃(x, z) = ⟨φ(x) − m, φ(z) − m⟩, and weights w (frequencies),
///
///     W^½ K̃ W^½ u = λ u,  λ₁ ≥ λ₂ ≥ …,     α_k = W^½ u_k / √λ_k,     score of x on component k:  Σ_j α_jk k̃(x_j, x)
///
/// The variance of the scores is λ / (n − 1); of the linear kernel they are those of `pca`. Of a Gaussian kernel a place has a pre-image,
/// the row whose features are nearest to it, by the fixed-point rule of Mika et al. (1999):
///
///     x ← Σ_i γ_i k(x, x_i) x_i / Σ_i γ_i k(x, x_i),      γ_i = Σ_k z_k α_ik + w_i / n,      from the row with the nearest scores.
///
/// Cost         O(n² (d + k)) time for a few components of many rows, O(n³) up to 300 rows or for a share of the variance; 16 n² bytes.
///              A row costs n kernel values to predict.
/// Certificate  optimal: the kernel matrix made anew and centred entry by entry; residuals of the eigenvectors; and the norms
///              of what they leave of the matrix, or a Cholesky factor, prove that no larger eigenvalue is left out.
struct KernelPca {
  Kernel kernel;
  double components = 2;
  double gigabytes = 1;

  static constexpr std::string_view name = "kernel_pca";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::transformation,
      .summary = "principal components in the space of a kernel",
      .objective = "max variance of <phi(x), v> over orthonormal v: eigenvectors of the centred kernel matrix",
      .example = "lemma fit kernel_pca iris '~ . - species' --kernel 'rbf(0.5)'",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true,
      .uses_response = false};
  static constexpr auto params() {
    using S = KernelPca;
    return Listing{param("kernel", &S::kernel, "inner product of the features"),
                   param("components", &S::components,
                         "how many, or, below 1, the share of the variance that they are to reach", above(0)),
                   param("gigabytes", &S::gigabytes, "gigabytes that the kernel matrix may take", above(0))};
  }
  void check() const;
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<KernelPca>);

struct KernelPcaModel : Evidence {
  KernelPca spec;
  Vector eigenvalues;
  Vector explained;
  double total = 0;
  Matrix dual_coefficients;
  Vector offset;
  Vector weights;
  KeptRows points;
  RowNumbers places;

  static constexpr auto fields() {
    using M = KernelPcaModel;
    return Listing{
        result("eigenvalues", &M::eigenvalues,
               "of the centred kernel matrix, descending; over n - 1 the variances of the scores"),
        result("explained", &M::explained, "share of the trace of each component"),
        result("total", &M::total,
               "trace of the centred kernel matrix: squared distances of the features from their mean"),
        state("dual_coefficients", &M::dual_coefficients, "alpha: a row for each kept row, a column per component"),
        state("offset", &M::offset, "of each score: that of the mean"),
        state("weights", &M::weights, "of the kept rows"),
        state("points", &M::points, "the rows with a weight above 0; none for a precomputed kernel"),
        state("places", &M::places, "of the rows, for a precomputed kernel")};
  }
  Index width() const { return points.width; }
  Index components() const { return eigenvalues.size(); }
  void check() const;
  Index output_width() const { return components(); }
  Matrix transform(const MatrixView& x) const;
  /// Pre-images of scores, of a Gaussian kernel with one width on dense rows. Error for others.
  Matrix preimages(const MatrixView& z) const;
  /// Back to the columns: pre-images, where there are some.
  Matrix inverse(const MatrixView& z) const;
  /// Of the scores of rows: the rows with what the components do not carry taken away.
  Matrix cleaned(const MatrixView& x) const { return preimages(transform(x)); }
  static constexpr auto parts() {
    return Listing{
        part({"cleaned", "the pre-image of the row's scores: the row without what the components do not carry (of rbf)",
              Given::asked, PartColumns::features, "cleaned"},
             &KernelPcaModel::cleaned)};
  }
  bool gives(std::string_view part) const { return part != "cleaned" || has_preimages(); }
  bool has_preimages() const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const;
  std::string summary(const Names& names) const;
};

KernelPcaModel fit(const Valid<KernelPca>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KernelPcaModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KernelPca>();

}  // namespace lemma
