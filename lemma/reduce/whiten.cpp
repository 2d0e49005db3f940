// lemma/reduce/whiten.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/graded_eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/rows_like.hpp>
#include <lemma/reduce/pca/parts.hpp>
#include <lemma/reduce/shared/usable_spread.hpp>
#include <lemma/reduce/whiten.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-8;
constexpr double kSingular = 1e-12;  // a variance along an axis below this share of the first is rounding
constexpr double kKeepsDigits =
    1e-8;  // a smaller share of the first variance is found from columns in units of their own

/// Plain sums of the whitened rows and of their products; nothing is centred, for they should have mean 0.
struct PlainSums {
  const WhitenModel* model;
  double weight = 0, spread = 0;  // spread: Σ w ‖x − mean‖²
  Vector sum;
  Matrix products;

  explicit PlainSums(const WhitenModel& m)
      : model(&m), sum(Vector::Zero(m.width())), products(Matrix::Zero(m.width(), m.width())) {}
  void accumulate(const Block& block) {
    Matrix z = model->transform(block.x);
    for (Index i = 0; i < z.rows(); ++i) {
      const double w = block.weight_of(i);
      weight += w;
      spread += w * (block.x.row(i) - model->mean.transpose()).squaredNorm();
      sum += w * z.row(i).transpose();
      z.row(i) *= std::sqrt(w);
    }
    blas::gram(z, products, 1);
  }
  void merge(const PlainSums& other) {
    weight += other.weight;
    spread += other.spread;
    sum += other.sum;
    products += other.products;
  }
};

/// How far M is from the kind it should be: from its transpose (zca), or its rows from orthogonal and ordered (pca).
double kind_error(Whitening kind, const Matrix& map) {
  const double size = map.cwiseAbs().maxCoeff();
  if (kind == Whitening::zca) return (map - map.transpose()).cwiseAbs().maxCoeff() / size;
  double worst = 0;
  for (Index j = 0; j < map.rows(); ++j)
    for (Index i = 0; i < j; ++i) {
      const double before = map.row(i).norm(), after = map.row(j).norm();
      worst = std::max({worst, std::abs(map.row(i).dot(map.row(j))) / (before * after), (before - after) / before});
    }
  return worst;
}

Moments moments_of(const Rows& rows, const Execution& execution) {
  auto moments = pca::moments_of(rows, execution);
  if (moments.rows() < 2 || moments.weight() <= 1)
    throw Error(fmt::format("whiten: a covariance needs at least two rows, and there {} {}",
                            moments.rows() == 1 ? "is" : "are", moments.rows()));
  return moments;
}

/// The covariance in units of the columns' own spread, whose condition does not depend on the units of the data.
struct Standardised {
  Vector deviation;
  Matrix correlation;
  Eigenpairs pairs;  // of the correlations

  explicit Standardised(const Matrix& covariance) : deviation(covariance.diagonal().cwiseSqrt()) {
    const Vector by = deviation.unaryExpr([](double sd) { return sd > 0 ? 1 / sd : 0.0; });
    correlation = by.asDiagonal() * covariance * by.asDiagonal();
    pairs = symmetric_eigen(correlation);
  }
  bool is_regular() const {
    return (deviation.array() > 0).all() && pairs.values(pairs.values.size() - 1) > kSingular * pairs.values(0);
  }
};

[[noreturn]] void refuse_singular(const Rows& rows, const Standardised& own) {
  std::vector<std::string> constant, dependent;
  const Index p = own.deviation.size();
  for (Index j = 0; j < p; ++j) {
    const auto quoted = "'" + rows.features[static_cast<std::size_t>(j)] + "'";
    if (own.deviation(j) == 0) constant.push_back(quoted);
    else if (std::abs(own.pairs.vectors(j, p - 1)) > 1e-6) dependent.push_back(quoted);
  }
  const std::string why =
      !constant.empty()   ? join_words(constant) + (constant.size() == 1 ? " does not vary" : " do not vary")
      : rows.count() <= p ? fmt::format("{} for {}", count_of(rows.count(), "row"), count_of(p, "column"))
                          : join_words(dependent) + " depend on each other";
  throw Error(fmt::format(
      "whiten: the covariance is singular ({}); leave columns out, set epsilon above 0, or use pca with whiten", why));
}

}  // namespace

void WhitenModel::check() const {
  const Index p = width();
  require(p > 0 && sdev.size() == p && loadings.rows() == p && loadings.cols() == p,
          "whiten: mean, sdev and loadings do not fit together");
  require(mean.allFinite() && loadings.allFinite(), "whiten: a mean or loading is not finite");
  require(std::isfinite(seen_weight) && seen_weight >= 0, "whiten: the weight of the rows is not usable");
  require(sdev.allFinite() && (sdev.array() > 0).all(), "whiten: a standard deviation is not above 0");
}

Matrix WhitenModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix z = row_products(x.rowwise() - mean.transpose(), loadings);
  z.array().rowwise() /= sdev.transpose().array();
  return spec.kind == Whitening::pca ? z : row_products_transposed(z, loadings);
}

Matrix WhitenModel::inverse(const MatrixView& z) const {
  require_width(*this, z.cols());
  Matrix scores = spec.kind == Whitening::pca ? Matrix(z) : row_products(z, loadings);
  scores.array().rowwise() *= sdev.transpose().array();
  return row_products_transposed(scores, loadings).rowwise() + mean.transpose();
}

std::vector<std::string> WhitenModel::output_names(const std::vector<std::string>& features) const {
  if (spec.kind == Whitening::zca) return features;
  std::vector<std::string> names;
  for (Index k = 1; k <= width(); ++k) names.push_back(fmt::format("W{}", k));
  return names;
}

AffineMap WhitenModel::affine() const {
  Matrix a = sdev.cwiseInverse().asDiagonal() * loadings.transpose();
  if (spec.kind == Whitening::zca) a = (loadings * a).eval();
  return {a, -(a * mean)};
}

std::string WhitenModel::summary(const Names& names) const {
  TextTable axes, means;
  std::vector<std::string> features;
  std::vector<std::string> order;
  for (Index j = 0; j < width(); ++j) {
    features.push_back(static_cast<std::size_t>(j) < names.features.size() ? names.features[static_cast<std::size_t>(j)]
                                                                           : fmt::format("x{}", j + 1));
    order.push_back(fmt::format("{}", j + 1));
  }
  means.words("Column", features).numbers("Mean", {mean.begin(), mean.end()}, 5);
  axes.right("Axis", order).numbers("Standard deviation", {sdev.begin(), sdev.end()}, 5);
  return fmt::format("Whitening ({}):\n", name_of(spec.kind)) + means.str() + "\n" + axes.str();
}

WhitenModel fit(const Valid<Whiten>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const auto moments = moments_of(rows, execution.part(0, 0.5, "scatter of the columns"));
  const Matrix covariance = moments.covariance(moments.weight() - 1);
  require_usable_spread(Whiten::name, rows, covariance.diagonal(), execution);
  const double mean_variance = covariance.trace() / static_cast<double>(rows.width());
  if (!(mean_variance > 0)) throw Error("whiten: no column varies");
  const Standardised own(covariance);
  auto pairs = symmetric_eigen(covariance);
  if (own.is_regular() && !(pairs.values(pairs.values.size() - 1) > kKeepsDigits * pairs.values(0)))
    if (auto graded = graded_eigen(own.correlation, own.deviation)) pairs = std::move(*graded);
  const Vector variances = pairs.values.array() + spec->epsilon * mean_variance;
  if (!own.is_regular() && !(variances(variances.size() - 1) > kSingular * variances(0))) refuse_singular(rows, own);
  WhitenModel model;
  model.spec = *spec;
  model.mean = moments.mean();
  model.seen_weight = moments.weight();
  model.sdev = variances.cwiseSqrt();
  model.loadings = std::move(pairs.vectors);
  model.certificate = certify(model, rows, execution.part(0.5, 1, "certificate"));
  return model;
}

Certificate certify(const WhitenModel& model, const Rows& rows, const Execution& execution) {
  const auto sums = scan(rows, PlainSums(model), execution);
  const Matrix map = model.affine().a;
  const Vector shift = sums.sum / sums.weight;
  const Matrix products = sums.products.selfadjointView<Eigen::Upper>();
  const Matrix covariance = (products - sums.weight * shift * shift.transpose()) / (sums.weight - 1);
  const double ridge = model.spec.epsilon * sums.spread / (sums.weight - 1) / static_cast<double>(model.width());
  const Matrix expected = Matrix::Identity(map.rows(), map.rows()) - ridge * multiply_transposed(map, map);
  // The means have so many digits and no more: what their last one moves the rows by is not held against the model.
  const Vector digits = std::numeric_limits<double>::epsilon() * (map.cwiseAbs() * model.mean.cwiseAbs());
  const double off = (shift.cwiseAbs() - digits).maxCoeff();
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "covariance of the whitened rows";
  out.value = (off > 0 || std::isnan(off) ? off : 0) + (covariance - expected).cwiseAbs().maxCoeff() +
              kind_error(model.spec.kind, map) +
              (model.seen_weight > 0 ? std::abs(model.seen_weight - sums.weight) / sums.weight : 0.0);
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format(
      "The whitened rows have mean 0 and {} to within {:.1e} (allowed {:.0e}){}.",
      ridge > 0 ? "the covariance that the ridge leaves" : "the identity as covariance", out.value, out.tolerance,
      digits.maxCoeff() > out.tolerance
          ? fmt::format(", beyond the last digit of the means, which moves them by up to {:.1e}", digits.maxCoeff())
          : std::string());
  return out;
}

WhitenModel updated(const WhitenModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(),
          fmt::format("whiten: the model has {} columns and the rows have {}", model.width(), rows.width()));
  require(model.seen_weight > 1,
          "whiten: this model does not tell how many rows it has seen, being of an older version; fit it to all rows");
  // Σ (λ + ridge) = trace (1 + epsilon), where ridge = epsilon trace / p.
  const Vector sum = model.sdev.cwiseAbs2();
  const double ridge = model.spec.epsilon * sum.sum() / (1 + model.spec.epsilon) / static_cast<double>(model.width());
  const Vector root = ((sum.array() - ridge).max(0.0) * (model.seen_weight - 1)).sqrt();
  const Matrix axes = root.asDiagonal() * model.loadings.transpose();
  const WeightedRows past = rows_like(model.seen_weight, model.mean, axes);
  MemoryRows before(past.x);
  before.weights(past.weight).features = rows.features;
  WhitenModel out = fit(Valid<Whiten>(model.spec), StackedRows({&before, &rows}), options);
  out.certificate.message += " The rows before the update are in it by their mean and covariance.";
  return out;
}

template const Method& method_of<Whiten>();

}  // namespace lemma
