// lemma/reduce/polynomial.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/reduce/shared/monomials.hpp>

namespace lemma {

/// Polynomial and interaction features: all products of up to `degree` columns,
///
///     (x₁, x₂) → (x₁, x₂, x₁², x₁x₂, x₂²)        degree 2
///
/// or, with `interactions_only`, those that take no column twice. There are (p + d choose d) − 1 of them for p columns. The
/// constant is left to the method that follows.
///
/// Cost         O(1) a product. Nothing is learned but the number of columns.
/// Certificate  consistent: the products are powers of the columns, taken one by one from the rows again.
struct Polynomial {
  int degree = 2;
  bool interactions_only = false;

  static constexpr std::string_view name = "polynomial";
  static constexpr MethodAbout about{.family = "reduce",
                                     .task = Task::transformation,
                                     .summary = "products of columns: polynomial and interaction features",
                                     .objective = "(x1, x2) -> (x1, x2, x1^2, x1 x2, x2^2) for degree 2",
                                     .example = "lemma fit polynomial iris '~ . - species' --degree 2",
                                     .scans = true,
                                     .takes_weights = true,
                                     .uses_response = false};
  static constexpr auto params() {
    return Listing{param("degree", &Polynomial::degree, "the most columns in a product", between(1, 20)),
                   param("interactions_only", &Polynomial::interactions_only, "no column more than once in a product")};
  }
};
static_assert(Described<Polynomial>);

struct PolynomialModel : Evidence {
  Polynomial spec;
  Index columns = 0, products = 0;

  static constexpr auto fields() {
    return Listing{result("columns", &PolynomialModel::columns, "of the rows it was fitted on"),
                   result("products", &PolynomialModel::products, "columns that come out")};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return columns; }
  void check() const;
  Index output_width() const { return products; }
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>& features) const;
  std::string summary(const Names& names) const;
};

PolynomialModel fit(const Valid<Polynomial>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const PolynomialModel& model, const Rows& rows, const Execution& execution);
/// Nothing is learned from rows but how many columns they have: the same model, seen by the new rows.
PolynomialModel updated(const PolynomialModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Polynomial>();

}  // namespace lemma
