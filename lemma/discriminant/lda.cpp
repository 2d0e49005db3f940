// lemma/discriminant/lda.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/discriminant/lda/parts.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/special.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace {

constexpr double kLeastDiscriminant = 1e-8;  // beside the first; what is smaller is rounding of the means

ClassMoments moments_of(const Rows& rows, const Execution& execution) {
  if (rows.has_weights) require_finite(rows, execution);
  try {
    return scan(rows, ClassMoments(rows.width(), static_cast<Index>(rows.classes.size())), execution);
  } catch (const Error&) {  // a value is not finite, or its square is not: say which
    require_finite(rows, execution);
    const auto range = scan(rows, ColumnMoments(rows.width()), execution);
    for (Index j = 0; j < rows.width(); ++j)
      if (!(range.greatest()(j) - range.least()(j) < 1e150))
        throw Error(fmt::format(
            "lda: the values of '{}' are so large that their squares are not finite; divide them by a constant",
            rows.features[static_cast<std::size_t>(j)]));
    throw;
  }
}

void check_classes(const Rows& rows, const ClassMoments& moments) {
  const double n = moments.weights().sum();
  for (Index k = 0; k < moments.classes(); ++k)
    if (!(moments.weights()(k) > 0))
      throw Error(fmt::format("lda: class '{}' has no rows; leave it out of the classes",
                              rows.classes[static_cast<std::size_t>(k)]));
  if (!(n > static_cast<double>(moments.classes())))
    throw Error(fmt::format(
        "lda: {:g} rows in {} classes leave nothing to learn the covariance from; there must be more rows than classes",
        n, moments.classes()));
  const Vector within = moments.within_scatter().diagonal();
  for (Index j = 0; j < within.size(); ++j) {
    const auto& name = rows.features[static_cast<std::size_t>(j)];
    if (within(j) > 0 && within(j) < 1e-280)
      throw Error(fmt::format(
          "lda: the values of '{}' lie so close together that their squares vanish; multiply them by a constant",
          name));
  }
}

/// B v = λ S v: with S = RᵀR and B = MᵀM, the singular vectors of M R⁻¹ times R⁻¹.
void find_discriminants(LdaModel& model, const Rows& rows, const Execution& execution) {
  const Vector by = model.covariance.diagonal().cwiseSqrt().cwiseInverse();  // units do not matter to the factor
  const auto triangle = lda::within_triangle(model, model.covariance, rows, execution);
  require(triangle.has_value(),
          "lda: the pooled covariance is singular to working precision; use shrinkage (--shrinkage 0.1, or auto)");
  const Matrix between = lda::between_rows(model.spec, model.means, model.prior, model.counts.sum()) * by.asDiagonal();
  const Svd svd = thin_svd(divide_by_upper(between, *triangle));
  Index rank = 0;
  const Index most = std::min(model.class_count() - 1, model.width());
  while (rank < most && svd.s(rank) > kLeastDiscriminant * svd.s(0)) ++rank;
  require(rank > 0, "lda: the class means are equal, so there is no direction that tells the classes apart");
  model.svd = svd.s.head(rank);
  model.scaling = by.asDiagonal() * solve_upper(*triangle, svd.v.leftCols(rank));
  turn_columns(model.scaling);
  model.proportion_of_trace = model.svd.cwiseAbs2() / model.svd.squaredNorm();
}

std::string name_or(const std::vector<std::string>& names, Index i, std::string_view letter) {
  const auto at = static_cast<std::size_t>(i);
  return at < names.size() ? names[at] : fmt::format("{}{}", letter, i + 1);
}

std::vector<double> column_of(const Matrix& m, Index j) {
  const Vector column = m.col(j);
  return {column.begin(), column.end()};
}

}  // namespace

void Lda::check() const { check_prior(name, prior); }

Vector LdaModel::centre() const { return means.transpose() * prior; }

double LdaModel::divisor() const {
  return counts.sum() - (spec.covariance == PooledDivisor::unbiased ? static_cast<double>(class_count()) : 0.0);
}

void LdaModel::check() const {
  const Index p = width(), k = class_count(), d = scaling.cols();
  require(k >= 2 && prior.size() == k && counts.size() == k, "lda: prior, counts and means do not fit together");
  require(prior_of(spec.prior, counts).size() == k, "lda: the prior does not fit the classes");
  require(d >= 1 && scaling.rows() == p && svd.size() == d && proportion_of_trace.size() == d,
          "lda: scaling, svd and means do not fit together");
  require(covariance.rows() == p && covariance.cols() == p, "lda: covariance and means do not fit together");
  require(means.allFinite() && scaling.allFinite() && svd.allFinite() && covariance.allFinite() && counts.allFinite() &&
              proportion_of_trace.allFinite(),
          "lda: a fitted value is not finite");
  require(prior.allFinite() && (prior.array() > 0).all() && std::abs(prior.sum() - 1) < 1e-6,
          "lda: the prior is not one");
}

Matrix LdaModel::coordinates(const MatrixView& x) const {
  require_width(*this, x.cols());
  return row_products(x.rowwise() - centre().transpose(), scaling);
}

DrawnRows LdaModel::draw(Index count, std::uint64_t seed) const {
  const auto r = cholesky(covariance);
  require(r.has_value(), "lda: the covariance is singular, so no rows can be drawn from it");
  DrawnRows out{Matrix(count, width()), Labels(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, static_cast<std::uint64_t>(i));
    int k = 0;
    for (double left = random.uniform() - prior(0); left >= 0 && k + 1 < prior.size(); left -= prior(k)) ++k;
    Vector z(width());
    for (double& each : z) each = random.normal();
    out.x.row(i) = means.row(k) + (r->transpose() * z).transpose();
    out.label[static_cast<std::size_t>(i)] = k;
  }
  return out;
}

std::vector<std::string> LdaModel::coordinate_names() const {
  std::vector<std::string> names;
  for (Index j = 1; j <= scaling.cols(); ++j) names.push_back(fmt::format("LD{}", j));
  return names;
}

Matrix LdaModel::decision(const MatrixView& x) const {
  const Matrix class_means = coordinates(means);
  const Vector constant = prior.array().log() - 0.5 * class_means.rowwise().squaredNorm().array();
  return row_products_transposed(coordinates(x), class_means).rowwise() + constant.transpose();
}

AffineMap LdaModel::affine() const {
  const Matrix class_means = coordinates(means);
  const Vector constant = prior.array().log() - 0.5 * class_means.rowwise().squaredNorm().array();
  const Matrix a = class_means * scaling.transpose();
  return {a, constant - a * centre()};
}

Matrix LdaModel::probabilities(const MatrixView& x) const {
  Matrix posterior = decision(x);
  softmax_rows(posterior);
  return posterior;
}

Labels LdaModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

/// What MASS's print.lda prints.
std::string LdaModel::summary(const Names& names) const {
  std::vector<std::string> classes_named, features;
  for (Index k = 0; k < class_count(); ++k) classes_named.push_back(name_or(names.classes, k, "class "));
  for (Index j = 0; j < width(); ++j) features.push_back(name_or(names.features, j, "x"));
  const TextTable::Layout layout{.gap = 1, .width = 100};
  TextTable priors, group_means, coefficients, trace;
  const auto prior_cells = format_column({prior.begin(), prior.end()});
  for (Index k = 0; k < class_count(); ++k)
    priors.right(classes_named[static_cast<std::size_t>(k)], {prior_cells[static_cast<std::size_t>(k)]});
  group_means.words("", classes_named);
  for (Index j = 0; j < width(); ++j)
    group_means.numbers(features[static_cast<std::size_t>(j)], column_of(means, j), 7);
  coefficients.words("", features);
  for (Index j = 0; j < scaling.cols(); ++j) {
    const auto header = coordinate_names()[static_cast<std::size_t>(j)];
    coefficients.numbers(header, column_of(scaling, j), 7);
    trace.right(header, {format_fixed(proportion_of_trace(j), 4)});
  }
  return "Prior probabilities of groups:\n" + priors.str(layout) + "\nGroup means:\n" + group_means.str(layout) +
         "\nCoefficients of linear discriminants:\n" + coefficients.str(layout) + "\nProportion of trace:\n" +
         trace.str(layout);
}

LdaModel fit(const Valid<Lda>& spec, const Rows& rows, const FitOptions& options) {
  check_prior(Lda::name, spec->prior, rows.classes);
  const Execution execution = options.execution();
  const auto moments = moments_of(rows, execution.part(0, 0.5, "scatter within the classes"));
  check_classes(rows, moments);
  LdaModel model;
  model.spec = *spec;
  model.counts = moments.weights();
  model.prior = prior_of(spec->prior, model.counts);
  model.means = moments.means();
  const Matrix pooled = moments.within_scatter() / model.divisor();
  const double degrees = model.counts.sum() - static_cast<double>(model.class_count());
  const bool plain = spec->shrinkage == 0.0;
  lda::require_regular(rows, plain ? pooled : Matrix(pooled.diagonal().asDiagonal()), model.means,
                       plain ? degrees : static_cast<double>(rows.width()));
  if (!spec->shrinkage)
    model.spec.shrinkage = lda::best_shrinkage(rows, moments, execution.part(0.5, 0.8, "shrinkage"));
  model.covariance = lda::shrunk(pooled, *model.spec.shrinkage);
  find_discriminants(model, rows, execution.part(0.8, 0.85));
  model.certificate = certify(model, rows, execution.part(0.85, 1, "certificate"));
  return model;
}

FisherDirection fisher_direction(const LdaModel& model) {
  if (model.class_count() != 2)
    throw Error(fmt::format("Fisher's direction is for two classes, and there are {}", model.class_count()));
  const Vector difference = (model.means.row(1) - model.means.row(0)).transpose();
  Vector w = model.scaling.col(0).normalized();
  if (w.dot(difference) < 0) w = -w;
  const double between = w.dot(difference);
  return {w, between * between / (model.divisor() * w.dot(model.covariance * w))};
}

template const Method& method_of<Lda>();

}  // namespace lemma
