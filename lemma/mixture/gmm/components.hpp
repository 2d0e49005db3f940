// lemma/mixture/gmm/components.hpp: Gaussians for the EM of shared/em.hpp.
#pragma once
#include <functional>
#include <lemma/mixture/gmm.hpp>
#include <optional>

namespace lemma::gmm {

/// What the rows are like as a whole, and how small a component's covariance may be beside that.
struct Ground {
  Vector origin;      // mean of the rows: deviations are taken from here, so that an offset costs no digits
  Matrix covariance;  // S, divisor n
  Matrix root;        // upper triangle R with RᵀR = S; where covariances are full or tied
  double floor = 0;   // share of S
  double weight = 0;  // n
  std::optional<double> variance;  // given, not learned
  /// Full covariances of a shape of their own (mppca): the likeliest of that shape for a covariance of rows, in the place of the floor.
  std::function<Matrix(const Matrix&, bool& binds)> shape;

  double mean_variance() const { return covariance.diagonal().mean(); }
};

/// N(μ_k, Σ_k). The triangle R_k with R_kᵀR_k = Σ_k gives the densities: with y = (x − μ_k) R_k⁻¹,
///
///     log N(x; μ_k, Σ_k) = −½ (p log 2π + ‖y‖²) − Σⱼ log r_jj.
///
/// Sums of the M-step are taken about the present means, which differ from the next ones by less and less.
class Gaussians final : public em::Components {
 public:
  /// covariances as GmmModel has them; means are differences from ground->origin.
  Gaussians(Covariance kind, std::shared_ptr<const Ground> ground, Matrix means, Matrix covariances);

  Index count() const override { return means_.rows(); }
  void log_densities(const MatrixView& x, Eigen::Ref<Matrix> out) const override;
  Index sums_size() const override;
  void add(const MatrixView& x, const MatrixView& r, std::span<double> sums) const override;
  std::shared_ptr<const em::Components> maximised(const Vector& mass, std::span<const double> sums) const override;
  double distance(const em::Components& to) const override;
  Vector coordinates() const override;
  std::shared_ptr<const em::Components> at(const Vector& coordinates) const override;

  Matrix absolute_means() const { return means_.rowwise() + ground_->origin.transpose(); }
  const Matrix& means() const { return means_; }
  const Matrix& covariances() const { return covariances_; }
  bool floor_binds() const { return floor_binds_; }

 private:
  Index width() const { return means_.cols(); }
  bool has_matrices() const { return kind_ == Covariance::full || kind_ == Covariance::tied; }
  Index matrices() const { return kind_ == Covariance::tied ? 1 : count(); }
  Index matrix_of(Index k) const { return kind_ == Covariance::tied ? 0 : k; }
  auto block(const Matrix& all, Index k) const { return all.middleRows(k * width(), width()); }
  double variance_of(Index k, Index j) const { return covariances_(k, kind_ == Covariance::spherical ? 0 : j); }
  void factorise();
  void add_products(const MatrixView& x, const MatrixView& r, std::span<double> sums) const;
  void add_squares(const MatrixView& x, const MatrixView& r, std::span<double> sums) const;
  std::shared_ptr<const em::Components> with(Matrix means, Matrix covariances) const;

  Covariance kind_;
  std::shared_ptr<const Ground> ground_;
  Matrix means_, covariances_, about_;  // about_: the means as numbers that rows are subtracted from
  Matrix roots_;                        // the R_k below each other
  Matrix inverse_;                      // 1 / r_jj, a row for each R_k
  Vector constants_;                    // −½ p log 2π − Σ log r_jj
  bool floor_binds_ = false;
};

/// Σ with its eigenvalues in units of S clipped at the floor, where one of them is below it; `binds` says so.
Matrix clipped(const Matrix& covariance, const Ground& ground, bool& binds);

/// Free parameters of K components in p columns.
Index parameter_count(Covariance kind, bool given_variance, Index k, Index p);
Index covariance_rows(Covariance kind, Index k, Index p);
Index covariance_columns(Covariance kind, Index p);

/// The mixture that a model holds, ready to be asked.
em::Mixture mixture_of(const GmmModel& model);

/// Error unless K Gaussians of that kind can be fitted to the rows.
std::shared_ptr<const Ground> survey(const Gmm& spec, const Rows& rows, const Execution& execution);
/// The start-th start for K components.
em::Mixture start_of(const Gmm& spec, Index k, const Rows& rows, std::shared_ptr<const Ground> ground,
                     std::uint64_t seed, Index start, const Execution& execution);
/// The M-step of rows that each belong to the nearest of these centres alone, by distances in units of the columns' spread.
em::Mixture mixture_around(const Matrix& centers, Covariance kind, const Rows& rows,
                           std::shared_ptr<const Ground> ground, const Execution& execution);
/// The M-step of rows that each belong to the component with the number of their class.
em::Mixture mixture_of_labels(Index k, Covariance kind, const Rows& rows, std::shared_ptr<const Ground> ground,
                              const Execution& execution);

}  // namespace lemma::gmm
