// lemma/discriminant/qda.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/discriminant/qda/parts.hpp>
#include <lemma/discriminant/shared/past_classes.hpp>
#include <lemma/discriminant/shared/singular.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/rows_like.hpp>
#include <lemma/math/special.hpp>

namespace lemma {
namespace qda {

bool is_common(QdaShape shape) { return shape >= QdaShape::common; }

double divisor(const Qda& spec, const Vector& counts, Index k) {
  const bool unbiased = spec.covariance == ClassDivisor::unbiased;
  if (k >= 0) return counts(k) - (unbiased ? 1 : 0);
  return counts.sum() - (unbiased ? static_cast<double>(counts.size()) : 0);
}

namespace {

/// A diagonal, one variance in all directions, or the matrix itself.
Matrix shaped(const Matrix& s, QdaShape shape) {
  const Index p = s.cols();
  if (shape == QdaShape::full || shape == QdaShape::common) return s;
  if (shape == QdaShape::diagonal || shape == QdaShape::common_diagonal) return Matrix(s.diagonal().asDiagonal());
  return s.trace() / static_cast<double>(p) * Matrix::Identity(p, p);
}

}  // namespace

Matrix regularised(const Qda& spec, const Vector& counts, const Matrix& own) {
  const Index p = own.cols(), classes = counts.size();
  const double all = divisor(spec, counts, -1);
  const bool pools = is_common(spec.shape) || spec.pooling > 0;
  Matrix pooled = Matrix::Zero(p, p);
  for (Index k = 0; pools && k < classes; ++k)
    if (divisor(spec, counts, k) > 0) pooled += divisor(spec, counts, k) / all * own.middleRows(k * p, p);
  pooled = shaped(pooled, spec.shape);
  Matrix out(classes * p, p);
  for (Index k = 0; k < classes; ++k) {
    Matrix t = is_common(spec.shape) ? pooled : shaped(own.middleRows(k * p, p), spec.shape);
    if (spec.pooling > 0) t = (1 - spec.pooling) * t + spec.pooling * pooled;
    const double variance = t.trace() / static_cast<double>(p);
    if (spec.sphere > 0) {
      t *= 1 - spec.sphere;
      t.diagonal().array() += spec.sphere * variance;
    }
    out.middleRows(k * p, p) = t;
  }
  return out;
}

std::optional<Matrix> triangles_of(const Matrix& covariances) {
  const Index p = covariances.cols();
  Matrix out(covariances.rows(), p);
  for (Index from = 0; from < covariances.rows(); from += p) {
    const Matrix covariance = covariances.middleRows(from, p);
    const Vector deviation = covariance.diagonal().cwiseSqrt(), by = deviation.cwiseInverse();
    if (!by.allFinite()) return {};
    const auto r = cholesky(Matrix(by.asDiagonal() * covariance * by.asDiagonal()));
    if (!r) return {};
    out.middleRows(from, p) = *r * deviation.asDiagonal();
  }
  return out;
}

void require_regular(const Rows& rows, const QdaModel& model) {
  const Index p = model.width();
  const bool common = is_common(model.spec.shape) || model.spec.pooling == 1;
  constexpr std::string_view kAdvice = "use --pooling or --sphere (0.1), or a --shape of fewer numbers";
  for (Index k = 0; k < model.class_count(); ++k) {
    const std::string whose =
        common ? "the common covariance" : fmt::format("the covariance of class '{}'", rows.classes[at(k)]);
    const Matrix covariance = model.covariance(k);
    const auto constant = constant_columns(covariance, model.means);
    if (!constant.empty())
      throw Error(fmt::format("qda: {} is singular, because {} {} constant {}; leave {} out, or {}", whose,
                              join_words(quoted(rows, constant)), constant.size() == 1 ? "is" : "are",
                              common ? "within each class" : "in it", constant.size() == 1 ? "it" : "them", kAdvice));
    const bool full = model.spec.shape == QdaShape::full || model.spec.shape == QdaShape::common;
    const double directions =
        common ? model.counts.sum() - static_cast<double>(model.class_count()) : model.counts(k) - 1;
    if (full && model.spec.sphere == 0 && (common || model.spec.pooling == 0) && static_cast<double>(p) > directions)
      throw Error(fmt::format("qda: {} of {} is singular, because its {:g} rows vary in at most {:g} directions; {}",
                              whose, count_of(p, "column"), common ? model.counts.sum() : model.counts(k), directions,
                              kAdvice));
    const auto dependent = dependent_columns(covariance);
    if (!dependent.empty())
      throw Error(fmt::format("qda: {} is singular: in it {} {} of the columns before; leave {} out, or {}", whose,
                              join_words(quoted(rows, dependent)),
                              dependent.size() == 1 ? "is a combination" : "are combinations",
                              dependent.size() == 1 ? "it" : "them", kAdvice));
  }
}

}  // namespace qda

namespace {

/// Mean and scatter of each class.
class ByClass {
 public:
  ByClass(Index classes, Index columns) : of_(at(classes), Moments(columns)) {}
  void accumulate(const Block& block) {
    for (std::size_t k = 0; k < of_.size(); ++k) {
      std::vector<Index> own;
      std::vector<double> weight;
      for (Index i = 0; i < block.rows(); ++i)
        if (block.label[at(i)] == static_cast<int>(k)) {
          own.push_back(i);
          weight.push_back(block.weight_of(i));
        }
      if (own.empty()) continue;
      const Matrix x = block.x(own, Eigen::all);
      Block part(x, block.first);
      part.weight = weight;
      of_[k].accumulate(part);
    }
  }
  void merge(const ByClass& other) {
    for (std::size_t k = 0; k < of_.size(); ++k) of_[k].merge(other.of_[k]);
  }
  const Moments& of(Index k) const { return of_[at(k)]; }

 private:
  std::vector<Moments> of_;
};

ByClass moments_of(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.2));
  const auto range = scan(rows, ColumnMoments(rows.width()), execution.part(0.2, 0.4));
  for (Index j = 0; j < rows.width(); ++j) {
    const double spread = range.greatest()(j) - range.least()(j);
    if (!(spread < 1e150))
      throw Error(fmt::format(
          "qda: the values of '{}' are so large that their squares are not finite; divide them by a constant",
          rows.features[at(j)]));
    if (spread > 0 && spread < 1e-140)
      throw Error(fmt::format(
          "qda: the values of '{}' lie so close together that their squares vanish; multiply them by a constant",
          rows.features[at(j)]));
  }
  return scan(rows, ByClass(static_cast<Index>(rows.classes.size()), rows.width()), execution.part(0.4, 1));
}

/// R⁻ᵀ (x − m), by substitution: numbers of this row alone.
double squared_distance(const Matrix& triangles, Index first, const Eigen::RowVectorXd& difference) {
  const Index p = triangles.cols();
  Eigen::RowVectorXd rest = difference;
  double sum = 0;
  for (Index j = 0; j < p; ++j) {
    const double* r = &triangles(first + j, 0);
    const double z = rest(j) / r[j];
    sum += z * z;
    for (Index i = j + 1; i < p; ++i) rest(i) -= z * r[i];
  }
  return sum;
}

}  // namespace

void QdaModel::check() const {
  const Index p = width(), k = class_count();
  require(k >= 2 && p >= 1 && prior.size() == k && counts.size() == k && log_determinants.size() == k,
          "qda: prior, counts, means and determinants do not fit together");
  require(prior_of(spec.prior, counts).size() == k, "qda: the prior does not fit the classes");
  for (const Matrix* each : {&covariances, &own, &triangles})
    require(each->rows() == k * p && each->cols() == p && each->allFinite(),
            "qda: the covariances and the means do not fit together");
  require(means.allFinite() && log_determinants.allFinite() && counts.allFinite() && (counts.array() > 0).all(),
          "qda: a fitted value is not usable");
  require(prior.allFinite() && (prior.array() > 0).all() && std::abs(prior.sum() - 1) < 1e-6,
          "qda: the prior is not one");
  for (Index i = 0; i < triangles.rows(); ++i)
    require(triangles(i, i % p) > 0, "qda: the factor of a covariance is not usable");
}

Matrix QdaModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out(x.rows(), class_count());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index k = 0; k < class_count(); ++k)
      out(i, k) = std::log(prior(k)) - 0.5 * log_determinants(k) -
                  0.5 * squared_distance(triangles, k * width(), x.row(i) - means.row(k));
  return out;
}

Matrix QdaModel::probabilities(const MatrixView& x) const {
  Matrix posterior = decision(x);
  softmax_rows(posterior);
  return posterior;
}

Labels QdaModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

DrawnRows QdaModel::draw(Index count, std::uint64_t seed) const {
  DrawnRows out{Matrix(count, width()), Labels(at(count))};
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, static_cast<std::uint64_t>(i));
    int k = 0;
    for (double left = random.uniform() - prior(0); left >= 0 && k + 1 < prior.size(); left -= prior(k)) ++k;
    Vector z(width());
    for (double& each : z) each = random.normal();
    out.x.row(i) = means.row(k) + z.transpose() * triangles.middleRows(k * width(), width());
    out.label[at(i)] = k;
  }
  return out;
}

std::string QdaModel::summary(const Names& names) const {
  std::vector<std::string> classes;
  for (Index k = 0; k < class_count(); ++k)
    classes.push_back(at(k) < names.classes.size() ? names.classes[at(k)] : fmt::format("class {}", k + 1));
  TextTable table;
  table.words("", classes)
      .numbers("rows", {counts.begin(), counts.end()}, 7)
      .numbers("prior", {prior.begin(), prior.end()}, 5)
      .numbers("log det", {log_determinants.begin(), log_determinants.end()}, 6);
  TextTable group_means;
  group_means.words("", classes);
  for (Index j = 0; j < width(); ++j) {
    const Vector column = means.col(j);
    group_means.numbers(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1),
                        {column.begin(), column.end()}, 7);
  }
  std::string out = fmt::format("Covariances: {}", name_of(spec.shape));
  if (spec.pooling > 0) out += fmt::format(", pooling {}", format_significant(spec.pooling));
  if (spec.sphere > 0) out += fmt::format(", sphere {}", format_significant(spec.sphere));
  return out + "\n\nClasses:\n" + table.str() + "\nMeans:\n" + group_means.str({.gap = 2, .width = 100});
}

QdaModel fit(const Valid<Qda>& spec, const Rows& rows, const FitOptions& options) {
  check_prior(Qda::name, spec->prior, rows.classes);
  const Execution execution = options.execution();
  const ByClass moments = moments_of(rows, execution.part(0, 0.6, "scatter of the classes"));
  const auto classes = static_cast<Index>(rows.classes.size());
  const Index p = rows.width();
  QdaModel model;
  model.spec = *spec;
  model.counts.resize(classes);
  model.means.resize(classes, p);
  model.own = Matrix::Zero(classes * p, p);
  for (Index k = 0; k < classes; ++k) {
    model.counts(k) = moments.of(k).weight();
    if (!(model.counts(k) > 0))
      throw Error(fmt::format("qda: class '{}' has no rows; leave it out of the classes", rows.classes[at(k)]));
    model.means.row(k) = moments.of(k).mean().transpose();
    if (const double by = qda::divisor(*spec, model.counts, k); by > 0)
      model.own.middleRows(k * p, p) = moments.of(k).covariance(by);
  }
  if (!(qda::divisor(*spec, model.counts, -1) > 0))
    throw Error(fmt::format(
        "qda: {:g} rows in {} classes leave nothing to learn a covariance from; there must be more rows than classes",
        model.counts.sum(), classes));
  model.prior = prior_of(spec->prior, model.counts);
  model.covariances = qda::regularised(*spec, model.counts, model.own);
  qda::require_regular(rows, model);
  const auto triangles = qda::triangles_of(model.covariances);
  require(triangles.has_value(), "qda: a covariance is singular to working precision; use --sphere (0.1)");
  model.triangles = *triangles;
  model.log_determinants.resize(classes);
  for (Index k = 0; k < classes; ++k)
    model.log_determinants(k) = log_determinant(Matrix(model.triangles.middleRows(k * p, p)));
  model.certificate = certify(model, rows, execution.part(0.6, 1, "certificate"));
  return model;
}

/// Each class is given rows of its own mean and scatter.
QdaModel updated(const QdaModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width() && static_cast<Index>(rows.classes.size()) == model.class_count(),
          "qda: the rows do not have the columns and classes of the model");
  const Index p = model.width();
  const PastClasses past(rows, model.counts, model.means, [&](Index k) {
    const double by = std::max(qda::divisor(model.spec, model.counts, k), 0.0);
    return root_of_scatter(Matrix(by * model.own.middleRows(k * p, p)));
  });
  QdaModel out = fit(Valid<Qda>(model.spec), StackedRows({&past.rows(), &rows}), options);
  out.certificate.message += " The rows before the update are in it by their means and covariances.";
  return out;
}

template const Method& method_of<Qda>();

}  // namespace lemma
