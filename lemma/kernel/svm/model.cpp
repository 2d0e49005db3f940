// lemma/kernel/svm/model.cpp: what fitted machines say of rows.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/shared/pairs.hpp>
#include <lemma/kernel/svm/parts.hpp>
#include <lemma/kernel/svm/platt.hpp>
#include <lemma/kernel/svm/standardise.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kLeastProbability = 1e-7;  // of a pair, before all are brought together

bool is_pairwise(const SvmModel& model) { return model.machines(0, 0) >= 0; }

/// One column a class: f against the rest; or the pairs it wins, and its sum of f brought between −⅓ and ⅓.
Matrix scores_of(const SvmModel& model, const Matrix& values) {
  if (!model.of_classes) return {};
  if (model.machine_count() == 1 || !is_pairwise(model)) return values;
  return scores_of_pairs(values, model.class_count());
}

Matrix probabilities_of(const SvmModel& model, const Matrix& values) {
  const Index k = model.class_count();
  Matrix out(values.rows(), k), r(k, k);
  for (Index i = 0; i < values.rows(); ++i) {
    r.setZero();
    for (Index m = 0; m < values.cols(); ++m) {
      const Sigmoid sigmoid{model.sigmoid_slope.of(m), model.sigmoid_offset.of(m)};
      const double p = std::clamp(sigmoid(values(i, m)), kLeastProbability, 1 - kLeastProbability);
      const auto negative = static_cast<Index>(model.machines(m, 0)),
                 positive = static_cast<Index>(model.machines(m, 1));
      if (negative < 0) {
        out(i, positive) = p;
      } else if (k == 2) {
        out.row(i) << 1 - p, p;
      } else {
        r(positive, negative) = p;
        r(negative, positive) = 1 - p;
      }
    }
    if (k > 2 && is_pairwise(model)) out.row(i) = couple(r).transpose();
    else if (k > 2) out.row(i) /= std::accumulate(out.row(i).begin(), out.row(i).end(), 0.0);
  }
  return out;
}

}  // namespace

void SvmModel::check() const {
  const Index machines_expected = svm::machines_for(spec, class_count());
  const auto kept = static_cast<Index>(support.of.size());
  require(of_classes ? class_count() >= 2 : class_count() == 0, "svm: the classes do not fit the response");
  for (const PathNumbers* each :
       {&bias, &objective_primal, &objective_dual, &gap, &margin, &n_free, &n_bounded, &n_support})
    require(each->size() == machines_expected, "svm: the numbers of the machines do not fit together");
  require(hull_distance.size() == (of_classes ? machines_expected : 0),
          "svm: the numbers of the machines do not fit together");
  require(dual_coefficients.of.rows() == machines_expected && dual_coefficients.of.cols() == kept &&
              dual_coefficients.of.allFinite() && bias.of.allFinite(),
          "svm: the coefficients do not fit the support vectors");
  for (std::size_t i = 1; i < support.of.size(); ++i)
    require(support.of[i] > support.of[i - 1], "svm: the support vectors are not in the order of the rows");
  require(machines.rows() == machines_expected && machines.cols() == 2 &&
              machines == svm::machine_classes(spec, class_count()),
          "svm: the machines do not fit the classes");
  require(class_factors.allFinite() && (class_factors.array() > 0).all(), "svm: the class factors are not usable");
  require(sigmoid_slope.size() == sigmoid_offset.size() &&
              (sigmoid_slope.size() == 0 || sigmoid_slope.size() == machines_expected) &&
              sigmoid_slope.of.allFinite() && sigmoid_offset.of.allFinite(),
          "svm: the sigmoids do not fit the machines");
  require(has_probabilities() == (spec.probabilities && of_classes),
          "svm: the sigmoids are not those that were asked for");
  require(has_probabilities() || fold_seed == 0, "svm: there are folds without sigmoids");
  const Index scaled = spec.standardize ? width() : 0;
  require(mean.size() == scaled && deviation.size() == scaled && mean.allFinite() && deviation.allFinite() &&
              (deviation.array() > 0).all(),
          "svm: the scales of the columns are not usable");
  const bool planes = coefficients.of.size() > 0 || intercept.size() > 0;  // a file may be older than they are
  require(!planes || (spec.kernel.get<LinearKernel>() && coefficients.of.rows() == machines_expected &&
                      coefficients.of.cols() == width() && intercept.size() == machines_expected &&
                      coefficients.of.allFinite() && intercept.of.allFinite()),
          "svm: the planes do not fit the machines");
  support_vectors.check(Svm::name, spec.kernel, kept);
  if (spec.kernel.contains<Precomputed>())
    require(kept == 0 || support.of.back() < width(), "svm: a support vector is beyond the columns");
}

void read_fields(SvmModel& model, const Value& value) {
  Value complete = value;
  if (!complete.find("order")) complete.set("order", Value(std::int64_t{0}));
  read_fields<SvmModel>(model, complete);
}

Matrix SvmModel::machine_values(const MatrixView& x, const Execution& execution) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, support_vectors.points(spec.kernel, support.of));
  const Matrix scaled = spec.standardize ? svm::standardised(x, mean, deviation) : Matrix();
  Matrix values = kernel.expand(spec.standardize ? MatrixView(scaled) : x, dual_coefficients.of.transpose(), execution);
  values.rowwise() += bias.of.transpose();
  return values;
}

NamedMatrix SvmModel::decisions_of_machines(const MatrixView& x) const {
  NamedMatrix out{machine_values(x), {}};
  for (Index m = 0; m < machine_count(); ++m) {
    const auto negative = static_cast<int>(machines(m, 0)), positive = static_cast<int>(machines(m, 1));
    out.columns.push_back(positive < 0   ? "machine"
                          : negative < 0 ? fmt::format("{{{}}}_against_the_rest", positive)
                                         : column_of_pair(negative, positive));
  }
  return out;
}

Matrix SvmModel::decision(const MatrixView& x) const { return scores_of(*this, machine_values(x)); }

Labels SvmModel::classify(const MatrixView& x) const {
  require(of_classes, "svm: this model predicts numbers, not classes: predict() gives them");
  return greatest_class(decision(x));
}

Vector SvmModel::predict(const MatrixView& x) const {
  require(!of_classes, "svm: this model tells classes, not numbers: classify() gives them");
  return machine_values(x).col(0);
}

Matrix SvmModel::probabilities(const MatrixView& x) const {
  require(has_probabilities(), "svm: the model was fitted without probabilities; ask for them (probabilities = true)");
  return probabilities_of(*this, machine_values(x));
}

Prediction SvmModel::prediction(const MatrixView& x, const PredictOptions&) const {
  Prediction out;
  const Matrix values = machine_values(x);
  if (!of_classes) return out.add(kValuePart, Vector(values.col(0))).add(kDecisionPart, values);
  Matrix scores = scores_of(*this, values);
  out.add(kClassPart, greatest_class(scores));
  if (has_probabilities()) out.add(kProbabilitiesPart, probabilities_of(*this, values));
  return out.add(kDecisionPart, std::move(scores));
}

}  // namespace lemma
