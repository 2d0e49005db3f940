// lemma/mixture/mixture/products.hpp: densities of independent columns for the EM of shared/em.hpp. Inner header.
#pragma once
#include <lemma/mixture/mixture.hpp>

namespace lemma::products {

enum class Kind { gaussian, bernoulli, categorical, poisson, exponential, multinomial };
constexpr auto names_of(Kind) {
  return std::array<std::string_view, 6>{"gaussian", "bernoulli",   "categorical",
                                         "poisson",  "exponential", "multinomial"};
}

/// What the columns are, and what all rows say of them.
struct Ground {
  std::vector<Kind> kind;
  std::vector<Index> levels;  // of categorical columns; else 0
  std::vector<Index> first;   // where those of a column begin among all levels
  Index all_levels = 0;
  std::vector<Index> counts;  // columns of the multinomial
  Vector mean, variance;      // of the values of all rows, divisor n; of categories 0
  Matrix level_shares;        // 1 × all_levels: of all rows
  double weight = 0, floor = 0;

  Index width() const { return static_cast<Index>(kind.size()); }
  bool is(Index j, Kind k) const { return kind[at(j)] == k; }
};

/// Parameters: values K × p, variances K × p, probabilities K × all levels, as MixtureModel has them.
class Products final : public em::Components {
 public:
  Products(std::shared_ptr<const Ground> ground, Matrix values, Matrix variances, Matrix probabilities);

  Index count() const override { return values_.rows(); }
  void log_densities(const MatrixView& x, Eigen::Ref<Matrix> out) const override;
  /// Of each component and column the mass of its known values, Σ r d and Σ r d², d = x − mean of all rows (of other families than the
  /// Gaussian: x); then Σ r of each level.
  Index sums_size() const override { return count() * (3 * ground_->width() + ground_->all_levels); }
  void add(const MatrixView& x, const MatrixView& r, std::span<double> sums) const override;
  std::shared_ptr<const em::Components> maximised(const Vector& mass, std::span<const double> sums) const override;
  double distance(const em::Components& to) const override;
  Vector coordinates() const override;
  std::shared_ptr<const em::Components> at(const Vector& coordinates) const override;

  const Matrix& values() const { return values_; }
  const Matrix& variances() const { return variances_; }
  const Matrix& probabilities() const { return probabilities_; }
  bool floor_binds() const { return floor_binds_; }

 private:
  void hold_up();
  void make_tables();

  std::shared_ptr<const Ground> ground_;
  Matrix values_, variances_, probabilities_;
  bool floor_binds_ = false;
  Matrix log_values_, log_others_, log_probabilities_;  // tables for the densities
};

/// Free parameters of K components.
Index parameter_count(const Ground& ground, Index k);

/// The greatest Σ n_l log p_l with Σ p = 1 and every p at least the floor; `binds` where one is at it.
Vector shares_above(const Vector& counts, double floor, bool& binds);

/// The kinds that were asked for, with `auto` filled in. Error where one does not suit its column.
std::vector<std::string> kinds_of(const Mixture& spec, const Rows& rows);
/// Error where a value is none that its kind knows, a column is constant or has no value, or there are too few different rows.
std::shared_ptr<const Ground> survey(const Mixture& spec, const Rows& rows, const Execution& execution);
/// The ground as a model keeps it; `weight` and `level_shares` are not known any more.
std::shared_ptr<const Ground> ground_of(const MixtureModel& model);
em::Mixture mixture_of(const MixtureModel& model);

/// Components about K rows, each drawn the likelier the farther it is from those before, every parameter midway between the row's and that
/// of all rows (variances: those of all rows).
em::Mixture start_of(Index k, const Rows& rows, std::shared_ptr<const Ground> ground, std::uint64_t seed, Index start,
                     const Execution& execution);
/// One pass of stepwise EM: after each tile of rows sums ← (1 − η) sums + η those of the tile, η = (t + 2)^−0.6.
em::Mixture online_pass(const Rows& rows, const em::Mixture& start, const Execution& execution);

}  // namespace lemma::products
