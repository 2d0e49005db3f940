// lemma/kernel/kernel_perceptron.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/kernel_perceptron.hpp>
#include <lemma/kernel/shared/kept_order.hpp>
#include <lemma/model/mistakes.hpp>

namespace lemma {
namespace {

/// k(xᵢ, ·) at all rows, made at the first mistake on row i and kept while there is room.
class MistakenRows {
 public:
  MistakenRows(const BoundKernel& kernel, double gigabytes)
      : kernel_(kernel),
        room_(static_cast<Index>(gigabytes * 1e9 / (8 * static_cast<double>(kernel.count())))),
        rows_(at(kernel.count())),
        scratch_(kernel.count()) {}

  const Vector& operator()(Index i) {
    Vector& kept = rows_[at(i)];
    if (kept.size() > 0) return kept;
    if (room_ == 0) return make(i, scratch_);
    --room_;
    kept.resize(kernel_.count());
    return make(i, kept);
  }

 private:
  const Vector& make(Index i, Vector& out) const {
    Matrix row(1, kernel_.count());
    kernel_.own_block({&i, 1}, 0, row);
    out = row.row(0);
    return out;
  }
  const BoundKernel& kernel_;
  Index room_;  // rows that may still be kept
  std::vector<Vector> rows_;
  Vector scratch_;
};

/// One function: α, and f at all rows.
struct Expansion {
  Vector alpha, f;
};
using Function = Turning<Expansion>;

/// All functions look at each row; those that separate look no more. False when it was cancelled.
bool pass(std::vector<Function>& functions, const KernelPerceptron& spec, const KernelRows& data, MistakenRows& kernel,
          const Execution& execution) {
  const auto count = static_cast<Index>(functions.size());
  for (Index i = 0; i < data.count(); ++i) {
    if (i % 64 == 0 && execution.cancelled()) return false;
    for (Index k = 0; k < count; ++k) {
      Function& each = functions[at(k)];
      if (each.separates) continue;
      each.see(
          is_positive(data.label_of(i), k, count), data.weight(i), spec.intercept, [&] { return each.now.f(i); },
          [&](double s) {
            each.now.alpha(i) += s;
            each.now.f += s * kernel(i);
          });
    }
  }
  return true;
}

std::int64_t order_of(const KernelRows& data) {
  return fingerprint_in_order(
      data.points, [&](Index i) { return static_cast<double>(data.label_of(i)); },
      [&](Index i) { return data.weight(i); });
}

/// Which of the rows each kept one is. `support` counts those of the fit in their order; where rows come in another one they
/// are found by their features, and of several rows with these one whose class has made such mistakes.
struct KeptAmong {
  std::vector<Index> of;
  bool as_numbered = true;
};
KeptAmong by_numbers(const KernelPerceptronModel& model, const KernelRows& data) {
  const auto& places = data.points.places();
  KeptAmong out;
  for (const Index kept : model.support.of) {
    const auto found = std::lower_bound(places.begin(), places.end(), kept);
    require(found != places.end() && *found == kept,
            "kernel_perceptron: a row that the model keeps is not among the rows");
    out.of.push_back(found - places.begin());
  }
  return out;
}
bool may_have_made(const KernelPerceptronModel& model, Index kept, int label) {
  for (Index k = 0; k < model.functions(); ++k) {
    const double alpha = model.dual_coefficients.of(k, kept);
    if (alpha != 0 && (alpha > 0) != is_positive(label, k, model.functions())) return false;
  }
  return true;
}
std::optional<std::vector<Index>> by_features(const KernelPerceptronModel& model, const KernelRows& data) {
  const Points stored = model.support_vectors.points(model.spec.kernel, model.support.of);
  RowMatch match(stored, data.points,
                 [&](Index kept, Index row) { return may_have_made(model, kept, data.label_of(row)); });
  for (Index j = 0; j < stored.count(); ++j)
    if (!match.take(j)) return {};
  return match.rows();
}
KeptAmong kept_among(const KernelPerceptronModel& model, const KernelRows& data) {
  if (model.spec.kernel.contains<Precomputed>() || model.order == order_of(data)) return by_numbers(model, data);
  const auto found = by_features(model, data);
  if (!found) return by_numbers(model, data);
  KeptAmong out{*found};
  for (std::size_t j = 0; j < found->size(); ++j)
    out.as_numbered = out.as_numbered && data.points.places()[at((*found)[j])] == model.support.of[j];
  return out;
}

/// The rows held against the functions, from the model's own rows; distances are in the kernel's space.
Sides sides_of(const KernelPerceptronModel& model, const KernelRows& data, const std::vector<Index>& kept,
               const Execution& execution) {
  const Index count = model.functions();
  const BoundKernel kernel(model.spec.kernel, data.points);
  Matrix alpha = Matrix::Zero(data.count(), count);
  for (std::size_t j = 0; j < kept.size(); ++j)
    alpha.row(kept[j]) += model.dual_coefficients.of.col(static_cast<Index>(j)).transpose();
  const Matrix f = kernel.expand_own(alpha, execution);
  Sides out(count);
  for (Index i = 0; i < data.count(); ++i)
    out.see(data.label_of(i), data.weight(i), f.row(i) + model.intercept.of.transpose());
  for (Index k = 0; k < count; ++k) {
    const double squared = alpha.col(k).dot(f.col(k));
    if (squared > 0) out.margin(k) /= std::sqrt(squared);
  }
  return out;
}

Certificate certificate_of(double wrong, long long updates, bool cancelled) {
  return certificate_of_sides(
      wrong, updates, cancelled, "border",
      "If the classes can be separated in the kernel's space, more passes will do it; if not, another kernel may.");
}

/// Until it separates, f has a mistake of its own class for each update: |α| counts them, and so does b.
void compare_counts(Comparison& same, const KernelPerceptronModel& model, const KernelRows& data,
                    const std::vector<Index>& kept) {
  const Index count = model.functions();
  for (Index k = 0; k < count; ++k) {
    if (model.errors.of(k) != 0) continue;
    const auto alpha = model.dual_coefficients.of.row(k);
    same.entry("updates", k, model.updates.of(k), alpha.cwiseAbs().sum(), 1);
    same.entry("intercept", k, model.intercept.of(k), model.spec.intercept ? alpha.sum() : 0, 1);
    for (Index j = 0; j < alpha.size(); ++j) {
      const double s = is_positive(data.label_of(kept[at(j)]), k, count) ? 1 : -1;
      same.entry("dual_coefficients", k * alpha.size() + j, alpha(j), s * std::round(std::abs(alpha(j))), 1);
    }
  }
}

void compare_support(Comparison& same, const KernelPerceptronModel& model, const Points& points,
                     const std::vector<Index>& kept) {
  if (model.spec.kernel.contains<Precomputed>()) return;
  const Points stored = model.support_vectors.points(model.spec.kernel, model.support.of);
  for (Index j = 0; j < stored.count() && !same.finding(); ++j) {
    const Matrix a = stored.rows(j, 1), b = points.rows(kept[at(j)], 1);
    for (Index c = 0; c < b.cols(); ++c) same.entry("support_vectors", j * b.cols() + c, a(0, c), b(0, c), 0);
  }
}

}  // namespace

void KernelPerceptronModel::check() const {
  const auto kept = static_cast<Index>(support.of.size());
  require(functions() >= 1 && dual_coefficients.of.cols() == kept && dual_coefficients.of.allFinite(),
          "kernel_perceptron: the dual coefficients are not usable");
  require(functions() == functions_for(class_count()), "kernel_perceptron: two classes need one function");
  support_vectors.check(KernelPerceptron::name, spec.kernel, kept);
  for (const Index place : support.of)
    require(place >= 0 && (!spec.kernel.contains<Precomputed>() || place < support_vectors.width),
            "kernel_perceptron: a kept row is none of the fit");
  for (const PathNumbers* each : {&intercept, &margin, &errors, &updates, &passes})
    require(each->size() == functions() && each->of.allFinite(),
            "kernel_perceptron: a number of each function is missing or not usable");
}

void read_fields(KernelPerceptronModel& model, const Value& value) {
  Value complete = value;
  if (!complete.find("order")) complete.set("order", Value(std::int64_t{0}));
  read_fields<KernelPerceptronModel>(model, complete);
}

Matrix KernelPerceptronModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, support_vectors.points(spec.kernel, support.of));
  return kernel.expand(x, dual_coefficients.of.transpose()).rowwise() + intercept.of.transpose();
}

Labels KernelPerceptronModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

Prediction KernelPerceptronModel::prediction(const MatrixView& x, const PredictOptions&) const {
  Matrix f = decision(x);
  Prediction out;
  out.add(kClassPart, greatest_class(f));
  return out.add(kDecisionPart, std::move(f));
}

std::string KernelPerceptronModel::summary(const Names& names) const {
  std::string out = fmt::format("Kernel: {}\n{} kept\n\n", shown(spec.kernel),
                                count_of(static_cast<Index>(support.of.size()), "row"));
  for (Index k = 0; k < functions(); ++k) {
    const std::size_t of = functions() == 1 ? 1 : at(k);
    const std::string name = of < names.classes.size() ? names.classes[of] : fmt::format("class {}", of + 1);
    out += course_in_words(name, updates.of(k), passes.of(k), errors.of(k), margin.of(k));
  }
  return out;
}

KernelPerceptronModel fit(const Valid<KernelPerceptron>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const KernelRows data = kernel_rows(KernelPerceptron::name, spec->kernel, rows, execution.part(0, 0.1));
  for (Index i = 0; i < data.count(); ++i)
    require_whole_weight(KernelPerceptron::name, data.points.places()[at(i)], data.weight(i));
  const Index count = functions_for(class_counts(KernelPerceptron::name, data, rows.classes).size());
  KernelPerceptronModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  const BoundKernel kernel(model.spec.kernel, data.points);
  MistakenRows mistaken(kernel, spec->gigabytes);
  const Expansion nothing{Vector::Zero(data.count()), Vector::Zero(data.count())};
  std::vector<Function> functions(at(count), Function{nothing, 0});
  turn_until_separated(functions, spec->max_iterations, execution.part(0.1, 0.9),
                       [&] { return pass(functions, *spec, data, mistaken, execution); });

  double updates = 0;
  for (PathNumbers* each : {&model.intercept, &model.updates, &model.passes}) each->of.resize(count);
  Matrix alpha(count, data.count());
  for (Index k = 0; k < count; ++k) {
    const Function& each = functions[at(k)];
    alpha.row(k) = each.now.alpha;
    model.intercept.of(k) = each.b;
    model.updates.of(k) = each.updates;
    model.passes.of(k) = each.passes;
    updates += each.updates;
  }
  std::vector<Index> kept;
  for (Index i = 0; i < data.count(); ++i)
    if (!alpha.col(i).isZero(0)) kept.push_back(i);
  const Points support = data.points.select(kept);
  model.support.of = support.places();
  model.support_vectors = KeptRows::of(model.spec.kernel, support);
  model.dual_coefficients.of = alpha(Eigen::all, kept);
  model.order = order_of(data);
  Execution to_the_end = execution.part(0.9, 1);
  if (execution.cancelled()) to_the_end.progress = nullptr;  // what there is, is judged
  const Sides sides = sides_of(model, data, kept, to_the_end);
  model.margin.of = sides.margin;
  model.errors.of = sides.wrong;
  const double wrong = sides.wrong.sum();
  model.certificate = certificate_of(wrong, static_cast<long long>(updates), execution.cancelled());
  if (wrong > 0) model.warnings.push_back(not_separated(spec->max_iterations, wrong, "border"));
  return model;
}

/// From the rows anew, by the coefficients alone.
Certificate certify(const KernelPerceptronModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows data = kernel_rows(KernelPerceptron::name, model.spec.kernel, rows, execution.part(0, 0.1));
  const KeptAmong kept = kept_among(model, data);
  const Sides sides = sides_of(model, data, kept.of, execution.part(0.1, 1));
  Certificate out = certificate_of(sides.wrong.sum(), 0, false);
  Comparison same;
  compare_support(same, model, data.points, kept.of);
  compare(same, model.margin, model.errors, sides);
  compare_counts(same, model, data, kept.of);
  if (same.finding()) {
    same.report(out);
    out.strength = Strength::optimal;
  } else if (!kept.as_numbered) {
    out.message +=
        " The rows come in another order than at the fit: the numbers of the kept rows count that one and were not "
        "checked.";
  }
  return out;
}

template const Method& method_of<KernelPerceptron>();

}  // namespace lemma
