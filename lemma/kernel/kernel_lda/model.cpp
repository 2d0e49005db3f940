// lemma/kernel/kernel_lda/model.cpp: what fitted kernel discriminants say of rows, and of themselves.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/kernel_lda.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/held_out.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace {

Matrix decision_at(const KernelLdaModel& model, const Matrix& coordinates) {
  const Vector constant = model.prior.array().log() - 0.5 * model.means.rowwise().squaredNorm().array();
  return row_products_transposed(coordinates, model.means).rowwise() + constant.transpose();
}

}  // namespace

void KernelLdaModel::check() const {
  const Index k = class_count(), d = discriminants();
  require(k >= 2 && prior.size() == k && means.rows() == k, "kernel_lda: prior, counts and means do not fit together");
  require(prior_of(spec.prior, counts).size() == k, "kernel_lda: the prior does not fit the classes");
  require(d >= 1 && d < k && means.cols() == d && svd.size() == d && proportion_of_trace.size() == d &&
              offset.size() == d && dual_coefficients.cols() == d && dual_coefficients.rows() > 0,
          "kernel_lda: arrays over the discriminants differ in length");
  points.check(KernelLda::name, spec.kernel, dual_coefficients.rows());
  check_choice(KernelLda::name, spec.lambda, lambda_path, held_out_loss);
  check_places(KernelLda::name, spec.kernel, places, points.width, dual_coefficients.rows());
  require(means.allFinite() && svd.allFinite() && offset.allFinite() && counts.allFinite() &&
              proportion_of_trace.allFinite() && dual_coefficients.allFinite(),
          "kernel_lda: a fitted value is not finite");
  require(prior.allFinite() && (prior.array() > 0).all() && std::abs(prior.sum() - 1) < 1e-6,
          "kernel_lda: the prior is not one");
}

Matrix KernelLdaModel::coordinates(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, points.points(spec.kernel, places.of));
  return kernel.expand(x, dual_coefficients).rowwise() - offset.transpose();
}

std::vector<std::string> KernelLdaModel::coordinate_names() const {
  std::vector<std::string> names;
  for (Index j = 1; j <= discriminants(); ++j) names.push_back(fmt::format("KD{}", j));
  return names;
}

Matrix KernelLdaModel::decision(const MatrixView& x) const { return decision_at(*this, coordinates(x)); }

Matrix KernelLdaModel::probabilities(const MatrixView& x) const {
  Matrix posterior = decision(x);
  softmax_rows(posterior);
  return posterior;
}

Labels KernelLdaModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

Prediction KernelLdaModel::prediction(const MatrixView& x, const PredictOptions&) const {
  Matrix z = coordinates(x), f = decision_at(*this, z), probabilities = f;
  softmax_rows(probabilities);
  Prediction out;
  out.add(kClassPart, greatest_class(f)).add(kProbabilitiesPart, std::move(probabilities));
  out.add(kDecisionPart, std::move(f));
  return out.add(kCoordinatesPart, std::move(z), coordinate_names());
}

std::string KernelLdaModel::summary(const Names& names) const {
  std::vector<std::string> of;
  for (Index k = 0; k < class_count(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    of.push_back(at < names.classes.size() ? names.classes[at] : fmt::format("class {}", k + 1));
  }
  const auto list = [](const Vector& v) { return std::vector<double>(v.begin(), v.end()); };
  TextTable groups, trace;
  groups.words("", of).numbers("prior", list(prior), 4);
  for (Index d = 0; d < discriminants(); ++d) {
    const auto header = coordinate_names()[static_cast<std::size_t>(d)];
    groups.numbers(header, list(means.col(d)), 5);
    trace.right(header, {format_fixed(proportion_of_trace(d), 4)});
  }
  return fmt::format("Kernel: {}\nλ = {}, {} kept\n\nClass means in the discriminants:\n", shown(spec.kernel),
                     format_significant(*spec.lambda) + choice_text(lambda_path),
                     count_of(dual_coefficients.rows(), "row")) +
         groups.str() + "\nProportion of trace:\n" + trace.str();
}

}  // namespace lemma
