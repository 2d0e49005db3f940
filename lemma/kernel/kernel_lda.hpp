// lemma/kernel/kernel_lda.hpp
#pragma once
#include <lemma/kernel/shared/rows.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/prior.hpp>

namespace lemma {

/// Linear discriminant analysis in the space of a kernel (kernel Fisher discriminants): the classes are Gaussian around
/// their means m_k of φ(x), with one covariance that the penalty makes regular,
///
///     S = (Σ w (φ − m_class)(φ − m_class)ᵀ + λ I) / (n − K),       B = n Σ π_k (m_k − m)(m_k − m)ᵀ / (K − 1),   m = Σ π_k m_k
///
/// The discriminants v = Σ aⱼ φ(xⱼ) solve B v = ρ S v, vᵀ S v = 1; with the coordinates z = ⟨φ(x) − m, v⟩ and those of the
/// class means, the posteriors are as in `lda`: exp(log π_k + z·z_k − ½ ‖z_k‖²), normalised. Two classes: v is the direction
/// of `kernel_ridge` on the classes with the same λ.
///
/// Of the n features only inner products are needed. B = MᵀM has the rows M_k = √(n π_k / (K − 1)) (m_k − m), so that v lies
/// in the span of S⁻¹Mᵀ, and its part there is an eigenvector of the K × K matrix M S⁻¹ Mᵀ; with Φ the rows √w (φ − m_class),
///
///     (ΦᵀΦ + λI)⁻¹ = (I − Φᵀ(ΦΦᵀ + λI)⁻¹Φ) / λ:         one Cholesky factorisation of the kernel matrix centred by class.
///
/// Where λ is too small for that to keep its digits, and there are not too many rows: `lda` along the eigenvectors of the
/// kernel matrix.
///
/// Cost         O(n² d + n³/3) time and 8 n² bytes; about 30 times as much with a small λ. A row costs
///              n kernel values to predict.
/// Certificate  optimal: with the kernel's values made anew from the rows, VᵀSV = I, VᵀBV = diag ρ, and Mᵀ = S V (M V)ᵀ in the
///              norm of S⁻¹ (bounded by that of the space): then B v = ρ S v, and no discriminant is missing.
struct KernelLda {
  Kernel kernel;
  std::optional<double> lambda = 1;
  PriorChoice prior = Prior::proportions;
  double gigabytes = 1;

  static constexpr std::string_view name = "kernel_lda";
  static constexpr MethodAbout about{
      .family = "kernel",
      .task = Task::classification,
      .summary = "discriminant analysis in the space of a kernel: Gaussian classes with one covariance",
      .objective = "B v = rho S v, v'S v = 1, S = (scatter within the classes + lambda I) / (n - K)",
      .example = "lemma fit kernel_lda iris 'species ~ .' --kernel 'rbf(0.2)' --lambda 0.1",
      .keeps_rows = true,
      .takes_weights = true,
      .takes_sparse = true};
  static constexpr auto params() {
    using S = KernelLda;
    return Listing{
        param("kernel", &S::kernel, "inner product of the features"),
        param("lambda", &S::lambda,
              "added to the scatter within the classes in every direction; auto: chosen among 20 by the loss of rows "
              "held out in five folds",
              above(0), Step::logarithmic),
        param("prior", &S::prior,
              "class probabilities: as in the rows, all equal, or one number per class, in their order", within(0, 1)),
        param("gigabytes", &S::gigabytes, "gigabytes that the kernel matrix may take", above(0))};
  }
  void check() const { check_prior(name, prior); }
  Needs needs(Needs usual) const {
    usual.letters = kernel.letters();
    return usual;
  }
};
static_assert(Described<KernelLda>);

struct KernelLdaModel : Evidence {
  /// Up to so many rows a small λ is met by eigenvectors.
  static constexpr Index kMostEigen = 3000;

  KernelLda spec;
  Vector prior;                // of each class
  Vector counts;               // weight of each class's rows
  Matrix means;                // coordinates of the class means: a row per class, a column per discriminant
  Vector svd;                  // √ρ
  Vector proportion_of_trace;  // ρ / Σρ
  Vector offset;               // ⟨m, v⟩
  KeptRows points;
  RowNumbers places;
  Matrix dual_coefficients;  // a row for each kept row, a column per discriminant
  Vector lambda_path, held_out_loss;

  static constexpr auto fields() {
    using M = KernelLdaModel;
    return Listing{
        result("prior", &M::prior, "prior probability of each class"),
        result("counts", &M::counts, "rows of each class, by weight"),
        result("means", &M::means, "coordinates of the class means: a row per class, a column per discriminant"),
        result("svd", &M::svd, "standard deviation between classes over that within, along each discriminant"),
        result("proportion_of_trace", &M::proportion_of_trace, "share of the variance between classes"),
        later(result("lambda_path", &M::lambda_path,
                     "lambda auto: those that were tried, the largest first; else empty")),
        later(result("held_out_loss", &M::held_out_loss,
                     "lambda auto: mean of -log(probability of the class) of held-out rows, for each of them")),
        state("offset", &M::offset, "of each coordinate: that of the mean of all classes"),
        state("points", &M::points, "the rows with a weight above 0; none for a precomputed kernel"),
        state("places", &M::places, "of the rows, for a precomputed kernel"),
        state("dual_coefficients", &M::dual_coefficients, "a row for each kept row, a column per discriminant")};
  }
  Index width() const { return points.width; }
  Index class_count() const { return counts.size(); }
  Index discriminants() const { return svd.size(); }
  void check() const;
  Labels predict(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Matrix decision(const MatrixView& x) const;  // log π_k + z·z_k − ½ ‖z_k‖², a column per class
  Matrix coordinates(const MatrixView& x) const;
  std::vector<std::string> coordinate_names() const;
  /// All of it, with the kernel computed once.
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  std::string summary(const Names& names) const;
};

KernelLdaModel fit(const Valid<KernelLda>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const KernelLdaModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<KernelLda>();

}  // namespace lemma
