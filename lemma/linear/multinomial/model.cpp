// lemma/linear/multinomial/model.cpp: what a fitted model says of rows, and of itself.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/multinomial/parts.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/held_out.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace softmax {

double null_deviance(const MultinomialModel& model) {
  const double n = model.counts.sum(), equal = -std::log(static_cast<double>(model.class_count()));
  double sum = 0;
  for (const double count : model.counts) sum -= 2 * count * (model.spec.intercept ? std::log(count / n) : equal);
  return sum;
}

double parameters_of(const MultinomialModel& model, const Frame& frame) {
  double count = model.spec.intercept ? static_cast<double>(model.class_count() - 1) : 0.0;
  for (Index j = 0; j < model.width(); ++j)
    if (frame.inverse_scale(j) > 0) count += static_cast<double>((model.coefficients.col(j).array() != 0).count());
  return count;
}

void to_users(MultinomialModel& model, const Frame& frame, const Matrix& b) {
  const Index first = model.spec.lambda > 0 ? 0 : 1, rows = b.rows() - first;
  model.coefficients.resize(rows, frame.width());
  model.intercept.resize(rows);
  for (Index k = 0; k < rows; ++k) {
    Vector beta = b.row(k + first);
    if (first == 1) beta -= b.row(0).transpose();
    const Vector users = frame.users(beta);
    model.coefficients.row(k) = users.tail(frame.width()).transpose();
    model.intercept(k) = users(0);
  }
  if (first == 0 && model.spec.intercept) model.intercept.array() -= model.intercept.mean();
}

Matrix from_users(const MultinomialModel& model, const Frame& frame) {
  const Index first = model.spec.lambda > 0 ? 0 : 1;
  Matrix b = Matrix::Zero(model.class_count(), frame.width() + 1);
  for (Index k = 0; k < model.coefficients.rows(); ++k) {
    Vector users(frame.width() + 1);
    users << model.intercept(k), model.coefficients.row(k).transpose();
    b.row(k + first) = frame.inner(users).transpose();
  }
  return b;
}

void judge(MultinomialModel& model, const Frame& frame, const Matrix& hessian) {
  constexpr double none = MultinomialModel::kNone;
  const Index rows = model.coefficients.rows(), p = model.width(), terms = p + 1;
  model.std_errors = model.z = model.p = Matrix::Constant(rows, p, none);
  model.intercept_std_errors = model.intercept_z = model.intercept_p = Vector::Constant(rows, none);
  if (hessian.size() == 0) return;
  const Vector unit = hessian.diagonal().unaryExpr([](double h) { return h > 0 ? 1 / std::sqrt(h) : 1.0; });
  Matrix scaled = unit.asDiagonal() * hessian * unit.asDiagonal();
  if (!frame.intercept)
    for (Index k = 0; k < rows; ++k) scaled(k * terms, k * terms) = 1;
  const auto triangle = cholesky(scaled);
  if (!triangle) return;
  // b = A β for each class: the covariance is A H⁻¹ Aᵀ, and a row of A R⁻¹ is all that its diagonal needs.
  for (Index k = 0; k < rows; ++k) {
    Matrix map = Matrix::Zero(terms, hessian.rows());
    map(0, k * terms) = frame.intercept ? 1 : 0;
    for (Index j = 0; j < p; ++j) {
      map(j + 1, k * terms + j + 1) = frame.inverse_scale(j);
      map(0, k * terms + j + 1) = frame.intercept ? -frame.mean(j) * frame.inverse_scale(j) : 0.0;
    }
    const Vector errors = divide_by_upper(map * unit.asDiagonal(), *triangle).rowwise().norm();
    const auto test = [](double estimate, double error, double& std_error, double& z, double& p_value) {
      std_error = error > 0 && std::isfinite(error) ? error : none;
      z = estimate / std_error;
      p_value = std::isnan(z) ? none : 2 * normal_upper(std::abs(z));
    };
    if (frame.intercept)
      test(model.intercept(k), errors(0), model.intercept_std_errors(k), model.intercept_z(k), model.intercept_p(k));
    for (Index j = 0; j < p; ++j)
      if (frame.inverse_scale(j) > 0)
        test(model.coefficients(k, j), errors(j + 1), model.std_errors(k, j), model.z(k, j), model.p(k, j));
  }
}

}  // namespace softmax

void MultinomialModel::check() const {
  const Index rows = coefficients.rows(), features = width();
  require(class_count() >= 2 && rows == class_count() - (spec.lambda > 0 ? 0 : 1) && intercept.size() == rows,
          "multinomial: coefficients, intercepts and classes do not fit together");
  require(coefficients.allFinite() && intercept.allFinite() && counts.allFinite() && (counts.array() > 0).all(),
          "multinomial: a fitted value is not finite");
  for (const double each : {objective, deviance, null_deviance, df, aic})
    require(std::isfinite(each), "multinomial: a fitted value is not finite");
  const Index tested = spec.lambda > 0 ? 0 : rows;
  for (const Matrix* each : {&std_errors, &z, &p})
    require(each->rows() == tested && (tested == 0 || each->cols() == features),
            "multinomial: the tests do not fit the coefficients");
  for (const Vector* each : {&intercept_std_errors, &intercept_z, &intercept_p})
    require(each->size() == tested, "multinomial: the tests do not fit the intercepts");
  require(spec.intercept || (intercept.array() == 0).all(), "multinomial: there is an intercept where none was fitted");
  check_choice(Multinomial::name, spec.lambda, lambda_path, held_out_loss);
}

AffineMap MultinomialModel::affine() const {
  const Index first = class_count() - coefficients.rows();
  AffineMap out{Matrix::Zero(class_count(), width()), Vector::Zero(class_count())};
  out.a.bottomRows(class_count() - first) = coefficients;
  out.b.tail(class_count() - first) = intercept;
  return out;
}

Matrix MultinomialModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  const AffineMap map = affine();
  Matrix out(x.rows(), class_count());
  Vector eta(x.rows());
  for (Index k = 0; k < class_count(); ++k) {
    const Vector b = map.a.row(k);
    simd::rows_times(x, {b.data(), static_cast<std::size_t>(b.size())}, map.b(k),
                     {eta.data(), static_cast<std::size_t>(eta.size())});
    out.col(k) = eta;
  }
  return out;
}

Matrix MultinomialModel::probabilities(const MatrixView& x) const { return probabilities_of(decision(x)); }

Matrix MultinomialModel::probabilities_of(const Matrix& planes) {
  Matrix out = planes;
  softmax_rows(out);
  return out;
}

Labels MultinomialModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

std::string MultinomialModel::summary(const Names& names) const {
  std::vector<std::string> rows;
  for (Index k = class_count() - coefficients.rows(); k < class_count(); ++k)
    rows.push_back(static_cast<std::size_t>(k) < names.classes.size() ? names.classes[static_cast<std::size_t>(k)]
                                                                      : fmt::format("class {}", k + 1));
  const auto table = [&](const Vector& first, const Matrix& rest) {
    TextTable out;
    out.words("", rows);
    if (spec.intercept) out.numbers("(Intercept)", {first.begin(), first.end()}, 7);
    for (Index j = 0; j < width(); ++j) {
      const Vector column = rest.col(j);
      const auto at = static_cast<std::size_t>(j);
      out.numbers(at < names.features.size() ? names.features[at] : fmt::format("x{}", j + 1),
                  {column.begin(), column.end()}, 7);
    }
    return out.str({.gap = 1, .width = 100});
  };
  const bool tested = std_errors.size() > 0;
  const std::string against = tested && !names.classes.empty() ? fmt::format(" (against '{}')", names.classes[0]) : "";
  std::string out = fmt::format("Coefficients{}:\n{}", against, table(intercept, coefficients));
  if (tested) out += "\nStd. Errors:\n" + table(intercept_std_errors, std_errors);
  out += fmt::format("\nResidual Deviance: {}\nAIC: {}\n", format_significant(deviance, 7), format_significant(aic, 7));
  if (spec.lambda > 0)
    out += fmt::format("Penalty {}, lambda = {:.5g}{}: objective {:.8g}\n", name_of(spec.penalty), *spec.lambda,
                       choice_text(lambda_path), objective);
  return out;
}

}  // namespace lemma
