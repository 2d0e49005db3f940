// lemma/linear/perceptron.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/perceptron.hpp>
#include <lemma/linear/shared/planes.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/model/mistakes.hpp>
#include <limits>

namespace lemma {
namespace {

Index planes_of(const Rows& rows) { return functions_for(static_cast<Index>(rows.classes.size())); }

/// Where a row lies in columns of mean 0 and standard deviation 1.
struct Standard {
  Vector mean, scale;
  void bring(const Block& block, Index i, Vector& to) const {
    to = (block.x.row(i).transpose() - mean).cwiseQuotient(scale);
  }
};

Standard standard_of(const Perceptron& spec, const Rows& rows, const Execution& execution) {
  Standard out{Vector::Zero(rows.width()), Vector::Ones(rows.width())};
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
  require(moments.weight().maxCoeff() > 0, "perceptron: all weights are 0, so there are no rows to learn from");
  const Vector deviation = moments.deviation();
  for (Index j = 0; j < rows.width(); ++j) {
    const auto& name = rows.features[static_cast<std::size_t>(j)];
    if (!std::isfinite(deviation(j)) || !std::isfinite(moments.mean()(j)))
      throw Error(
          fmt::format("perceptron: the values of '{}' reach beyond the range of numbers; use another unit", name));
    const double size = std::max(std::abs(moments.least()(j)), std::abs(moments.greatest()(j)));
    if (!spec.standardize && (size > 1e140 || (size > 0 && size < 1e-140)))
      throw Error(
          fmt::format("perceptron: the values of '{}' are about {:.0e}; use another unit, or standardize", name, size));
    if (!spec.standardize) continue;
    if (spec.intercept) out.mean(j) = moments.mean()(j);
    if (deviation(j) > 0) out.scale(j) = deviation(j);
    else if (size > 0) out.scale(j) = size;
  }
  return out;
}

using Plane = Turning<Vector>;

/// All planes look at each block; those that separate look no more. False when it was cancelled.
bool pass(std::vector<Plane>& planes, const Perceptron& spec, const Rows& rows, const Standard& standard,
          const Execution& execution) {
  const Index size = block_rows(rows), count = static_cast<Index>(planes.size());
  BlockBuffer buffer;
  Vector z(rows.width());
  for (Index first = 0; first < rows.count(); first += size) {
    if (execution.cancelled()) return false;
    const Block block = rows.read(first, std::min(size, rows.count() - first), buffer);
    for (Index i = 0; i < block.rows(); ++i) {
      const double weight = block.weight_of(i);
      if (weight == 0) continue;
      require_whole_weight(Perceptron::name, first + i, weight);
      standard.bring(block, i, z);
      for (Index k = 0; k < count; ++k) {
        Plane& plane = planes[at(k)];
        if (plane.separates) continue;
        plane.see(
            is_positive(block.label[at(i)], k, count), weight, spec.intercept, [&] { return plane.now.dot(z); },
            [&](double s) { plane.now += s * z; });
      }
    }
  }
  return true;
}

std::vector<Plane> turned(const Perceptron& spec, const Rows& rows, const Standard& standard,
                          const Execution& execution) {
  std::vector<Plane> planes(at(planes_of(rows)), Plane{Vector::Zero(rows.width())});
  turn_until_separated(planes, spec.max_iterations, execution,
                       [&] { return pass(planes, spec, rows, standard, execution); });
  return planes;
}

/// (b₀, b) in the user's units.
Vector users_plane(const Plane& plane, const Standard& standard) {
  Vector out(plane.now.size() + 1);
  out.tail(plane.now.size()) = plane.now.cwiseQuotient(standard.scale);
  out(0) = plane.b - out.tail(plane.now.size()).dot(standard.mean);
  return out;
}

/// The rows held against the planes; distances are in units of the coefficients' length at the end.
struct RowSides {
  const PerceptronModel* model;
  Sides sides;

  explicit RowSides(const PerceptronModel& m) : model(&m), sides(m.planes()) {}
  void accumulate(const Block& block) {
    const Matrix f = model->decision(block.x);
    for (Index i = 0; i < block.rows(); ++i)
      if (block.weight_of(i) != 0) sides.see(block.label[at(i)], block.weight_of(i), f.row(i));
  }
  void merge(const RowSides& other) {
    sides.margin = sides.margin.cwiseMin(other.sides.margin);
    sides.wrong += other.sides.wrong;
  }
};
Sides sides_of(const PerceptronModel& model, const Rows& rows, const Execution& execution) {
  Sides out = scan(rows, RowSides(model), execution).sides;
  const Vector length = model.coefficients.of.rowwise().stableNorm();
  out.margin = out.margin.cwiseQuotient(length.unaryExpr([](double each) { return each > 0 ? each : 1.0; }));
  return out;
}

Certificate certificate_of(double wrong, long long updates, bool cancelled) {
  return certificate_of_sides(wrong, updates, cancelled, "plane",
                              "If the classes can be separated, more passes will do it; if not, none will.");
}

}  // namespace

void PerceptronModel::check() const {
  require(planes() >= 1 && width() >= 1 && coefficients.of.allFinite(), "perceptron: the coefficients are not usable");
  require(planes() == functions_for(class_count()), "perceptron: two classes need one plane");
  for (const PathNumbers* each : {&intercept, &margin, &errors, &updates, &passes})
    require(each->size() == planes(), "perceptron: arrays over the planes differ in length");
  require(intercept.of.allFinite() && margin.of.allFinite(), "perceptron: an intercept or margin is not usable");
  for (const PathNumbers* each : {&updates, &passes})
    for (const double count : each->of)
      require(count >= 0 && count == std::floor(count) && std::isfinite(count),
              "perceptron: the updates and passes must be whole numbers");
}

Matrix PerceptronModel::decision(const MatrixView& x) const {
  return lemma::planes::decision(Perceptron::name, affine(), x);
}

Labels PerceptronModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

std::string PerceptronModel::summary(const Names& names) const {
  std::string ends;
  for (Index k = 0; k < planes(); ++k)
    ends += course_in_words(lemma::planes::name(names, k, planes()), updates.of(k), passes.of(k), errors.of(k),
                            margin.of(k));
  return lemma::planes::table(affine(), spec.intercept, names, 4) + "\n" + ends;
}

PerceptronModel fit(const Valid<Perceptron>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.05));
  const Standard standard = standard_of(*spec, rows, execution.part(0.05, 0.1));
  const std::vector<Plane> planes = turned(*spec, rows, standard, execution.part(0.1, 0.9));

  PerceptronModel model;
  model.spec = *spec;
  const auto count = static_cast<Index>(planes.size());
  model.coefficients.of.resize(count, rows.width());
  for (PathNumbers* each : {&model.intercept, &model.updates, &model.passes}) each->of.resize(count);
  double updates = 0;
  for (Index k = 0; k < count; ++k) {
    const Plane& plane = planes[static_cast<std::size_t>(k)];
    const Vector users = users_plane(plane, standard);
    model.coefficients.of.row(k) = users.tail(rows.width()).transpose();
    model.intercept.of(k) = users(0);
    model.updates.of(k) = plane.updates;
    model.passes.of(k) = plane.passes;
    updates += plane.updates;
  }
  lemma::planes::require_numbers(Perceptron::name, model.coefficients.of.allFinite() && model.intercept.of.allFinite(),
                                 rows.features, standard.scale);
  Execution to_the_end = execution.part(0.9, 1);
  if (execution.cancelled()) to_the_end.progress = nullptr;  // what there is, is judged
  const Sides sides = sides_of(model, rows, to_the_end);
  model.margin.of = sides.margin;
  model.errors.of = sides.wrong;
  model.certificate = certificate_of(sides.wrong.sum(), static_cast<long long>(updates), execution.cancelled());
  if (sides.wrong.sum() > 0) model.warnings.push_back(not_separated(spec->max_iterations, sides.wrong.sum(), "plane"));
  return model;
}

namespace {

/// The longest row in the columns in which the planes were turned, and the weight of all.
struct Longest {
  const Standard* standard;
  bool intercept;
  double length = 0, weight = 0;

  void accumulate(const Block& block) {
    Vector z(block.x.cols());
    for (Index i = 0; i < block.rows(); ++i) {
      if (block.weight_of(i) == 0) continue;
      standard->bring(block, i, z);
      length = std::max(length, std::hypot(z.stableNorm(), intercept ? 1.0 : 0.0));
      weight += block.weight_of(i);
    }
  }
  void merge(const Longest& other) {
    length = std::max(length, other.length);
    weight += other.weight;
  }
};

/// How often a plane turned depends on the order of the rows, which a second look need not share. What any order
/// obeys: b₀ is the number of turns towards one class less that towards the other; a turn moves (w, b₀) by no more
/// than the longest row; a pass has at most as many turns as rows, and but for the last of a plane that separates at
/// least one.
void compare_counts(Comparison& same, const PerceptronModel& model, const Rows& rows, const Execution& execution) {
  const Standard standard = standard_of(model.spec, rows, execution);
  const Longest all = scan(rows, Longest{&standard, model.spec.intercept}, execution);
  for (Index k = 0; k < model.planes(); ++k) {
    const double updates = model.updates.of(k), passes = model.passes.of(k);
    const bool separates = model.errors.of(k) == 0;
    const Vector b = model.coefficients.of.row(k).transpose();
    const double shift = model.intercept.of(k) + b.dot(standard.mean), turned = passes - (separates ? 1 : 0);
    const double length = std::hypot(b.cwiseProduct(standard.scale).stableNorm(), model.spec.intercept ? shift : 0.0);
    const double least = std::max(turned, std::ceil(length / all.length * (1 - 1e-9)));
    const double most = std::max(least, turned * all.weight);
    const bool even = std::fmod(std::abs(updates - std::round(shift)), 2) == 0;
    const bool uneven = model.spec.intercept && separates && !even;
    same.entry("passes", k, passes, std::clamp(passes, 0.0, static_cast<double>(model.spec.max_iterations)), 0);
    same.entry("updates", k, updates, uneven ? updates + 1 : std::clamp(updates, least, most), 0);
  }
}

}  // namespace

/// From the rows anew, by the coefficients in the user's units.
Certificate certify(const PerceptronModel& model, const Rows& rows, const Execution& execution) {
  const Sides sides = sides_of(model, rows, execution);
  Certificate out = certificate_of(sides.wrong.sum(), 0, false);
  Comparison same;
  compare(same, model.margin, model.errors, sides);
  if (!same.finding()) compare_counts(same, model, rows, execution);
  if (same.finding()) {
    same.report(out);
    out.strength = Strength::optimal;
  }
  return out;
}

template const Method& method_of<Perceptron>();

}  // namespace lemma
