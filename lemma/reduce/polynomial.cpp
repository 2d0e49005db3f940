// lemma/reduce/polynomial.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/reduce/polynomial.hpp>

namespace lemma {
namespace {

constexpr double kMostProducts = 1e6;

/// Σ of the powers of each product, one factor after the other from the last column to the first.
struct ByPowers {
  const PolynomialModel* model;
  const std::vector<Monomial>* terms;
  MapCheck found;

  void accumulate(const Block& block) {
    const Matrix z = model->transform(block.x);
    for (Index i = 0; i < z.rows(); ++i)
      for (Index t = 0; t < z.cols(); ++t) {
        double product = 1;
        const Monomial& term = (*terms)[static_cast<std::size_t>(t)];
        for (auto j = term.rbegin(); j != term.rend(); ++j) product *= block.x(i, *j);
        found.compare(z(i, t), product, t);
      }
  }
  void merge(const ByPowers& other) { found.merge(other.found); }
};

void require_few(double products) {
  if (products > kMostProducts)
    throw Error(fmt::format("polynomial: {:.3g} products of columns are too many; take a smaller degree", products));
}

}  // namespace

void PolynomialModel::check() const {
  require(columns > 0, "polynomial: there are no columns");
  const double count = monomial_count(columns, spec.degree, spec.interactions_only);
  require(count <= kMostProducts && std::abs(static_cast<double>(products) - count) < 0.5,
          "polynomial: the number of products does not fit the columns");
}

Matrix PolynomialModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  return monomials_of(x, monomials(columns, spec.degree, spec.interactions_only));
}

std::vector<std::string> PolynomialModel::output_names(const std::vector<std::string>& features) const {
  std::vector<std::string> out;
  for (const Monomial& term : monomials(columns, spec.degree, spec.interactions_only))
    out.push_back(monomial_name(term, features));
  return out;
}

std::string PolynomialModel::summary(const Names& names) const {
  return fmt::format("{} become {}:\n{}\n", count_of(columns, "column"), products,
                     wrap(join_words(output_names(names.features), 60), 100, 2));
}

PolynomialModel fit(const Valid<Polynomial>& spec, const Rows& rows, const FitOptions& options) {
  require_finite(rows, options.execution().part(0, 0.3));
  const double count = monomial_count(rows.width(), spec->degree, spec->interactions_only);
  require_few(count);
  PolynomialModel model;
  model.spec = *spec;
  model.columns = rows.width();
  model.products = static_cast<Index>(std::llround(count));
  model.certificate = certify(model, rows, options.execution().part(0.3, 1));
  return model;
}

Certificate certify(const PolynomialModel& model, const Rows& rows, const Execution& execution) {
  const auto terms = monomials(model.columns, model.spec.degree, model.spec.interactions_only);
  const MapCheck found = scan(rows, ByPowers{&model, &terms, {}}, execution).found;
  if (found.overflow >= 0)
    throw Error(fmt::format("polynomial: '{}' is beyond the range of numbers in some row; put 'scale |' before it",
                            monomial_name(terms[static_cast<std::size_t>(found.overflow)], rows.features)));
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "difference from the powers of the columns";
  out.value = found.worst;
  out.tolerance = 1e-13;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format("The products are those of the rows to within {:.1e} of their size (allowed {:.0e}).",
                            out.value, out.tolerance);
  return out;
}

PolynomialModel updated(const PolynomialModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(),
          fmt::format("polynomial: the model has {} columns and the rows have {}", model.width(), rows.width()));
  return fit(Valid<Polynomial>(model.spec), rows, options);
}

template const Method& method_of<Polynomial>();

}  // namespace lemma
