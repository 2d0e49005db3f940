// lemma/linear/perceptron.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/perceptron.hpp>
#include <lemma/linear/shared/planes.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/one_vs_rest.hpp>
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

/// One plane in the course of its passes.
struct Plane {
  Vector w;
  double b = 0;
  double updates = 0, passes = 0;
  bool separates = false;
  double run = 0, longest = -1;  // rows without a mistake
  Vector pocket;
  double pocket_b = 0;

  void see(const Vector& z, bool positive, double copies, bool intercept) {
    const double s = positive ? 1 : -1;
    for (double copy = 0; copy < copies; ++copy) {
      if (s * (w.dot(z) + b) > 0) {
        run += copies - copy;
        break;
      }
      keep();
      w += s * z;
      if (intercept) b += s;
      ++updates;
      run = 0;
    }
  }
  void keep() {
    if (run <= longest) return;
    longest = run;
    pocket = w;
    pocket_b = b;
  }
};

/// All planes look at each block; those that separate look no more.
void pass(std::vector<Plane>& planes, const Perceptron& spec, const Rows& rows, const Standard& standard,
          const Execution& execution) {
  std::vector<double> before;
  for (const Plane& plane : planes) before.push_back(plane.updates);
  const Index size = block_rows(rows);
  BlockBuffer buffer;
  Vector z(rows.width());
  for (Index first = 0; first < rows.count(); first += size) {
    if (execution.cancelled()) return;
    const Block block = rows.read(first, std::min(size, rows.count() - first), buffer);
    for (Index i = 0; i < block.rows(); ++i) {
      const double weight = block.weight_of(i);
      if (weight == 0) continue;
      require(weight == std::floor(weight),
              fmt::format("perceptron: the weight of row {} is {}; weights count copies and must be whole",
                          first + i + 1, weight));
      standard.bring(block, i, z);
      for (std::size_t k = 0; k < planes.size(); ++k)
        if (!planes[k].separates)
          planes[k].see(z,
                        is_positive(block.label[static_cast<std::size_t>(i)], static_cast<Index>(k),
                                    static_cast<Index>(planes.size())),
                        weight, spec.intercept);
    }
  }
  for (std::size_t k = 0; k < planes.size(); ++k) {
    if (planes[k].separates) continue;
    ++planes[k].passes;
    planes[k].separates = planes[k].updates == before[k];
  }
}

/// Passes until every plane separates, or there are no more.
std::vector<Plane> turned(const Perceptron& spec, const Rows& rows, const Standard& standard,
                          const Execution& execution) {
  std::vector<Plane> planes(static_cast<std::size_t>(planes_of(rows)));
  for (Plane& plane : planes) plane.w = plane.pocket = Vector::Zero(rows.width());
  const auto all_separate = [&] {
    return std::all_of(planes.begin(), planes.end(), [](const Plane& plane) { return plane.separates; });
  };
  for (int round = 0; round < spec.passes && !all_separate() && !execution.cancelled(); ++round) {
    pass(planes, spec, rows, standard, execution);
    execution.report((round + 1.0) / spec.passes, "passes");
  }
  for (Plane& plane : planes) plane.keep();
  return planes;
}

/// (b₀, b) in the user's units.
Vector users_plane(const Plane& plane, const Standard& standard) {
  Vector out(plane.w.size() + 1);
  out.tail(plane.w.size()) = (plane.separates ? plane.w : plane.pocket).cwiseQuotient(standard.scale);
  out(0) = (plane.separates ? plane.b : plane.pocket_b) - out.tail(plane.w.size()).dot(standard.mean);
  return out;
}

/// The least signed distance, and the weight of the rows on the wrong side.
struct Sides {
  const PerceptronModel* model;
  Vector least, wrong;

  explicit Sides(const PerceptronModel& m)
      : model(&m),
        least(Vector::Constant(m.planes(), std::numeric_limits<double>::infinity())),
        wrong(Vector::Zero(m.planes())) {}
  void accumulate(const Block& block) {
    const Matrix f = model->decision(block.x);
    for (Index i = 0; i < block.rows(); ++i) {
      if (block.weight_of(i) == 0) continue;
      for (Index k = 0; k < f.cols(); ++k) {
        const double side = is_positive(block.label[static_cast<std::size_t>(i)], k, f.cols()) ? f(i, k) : -f(i, k);
        least(k) = std::min(least(k), side);
        if (!(side > 0)) wrong(k) += block.weight_of(i);
      }
    }
  }
  void merge(const Sides& other) {
    least = least.cwiseMin(other.least);
    wrong += other.wrong;
  }
  Vector margins() const {
    const Vector length = model->coefficients.of.rowwise().stableNorm();
    return least.cwiseQuotient(length.unaryExpr([](double each) { return each > 0 ? each : 1.0; }));
  }
};

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
  require_width(*this, x.cols());
  Matrix out(x.rows(), planes());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index k = 0; k < planes(); ++k) out(i, k) = coefficients.of.row(k).dot(x.row(i)) + intercept.of(k);
  return out;
}

Labels PerceptronModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

std::string PerceptronModel::summary(const Names& names) const {
  const auto class_name = [&](Index k) {
    const auto at = static_cast<std::size_t>(planes() == 1 ? 1 : k);
    return at < names.classes.size() ? names.classes[at] : fmt::format("class {}", at + 1);
  };
  std::vector<std::string> terms;
  if (spec.intercept) terms.emplace_back("(Intercept)");
  terms.insert(terms.end(), names.features.begin(), names.features.end());
  TextTable table;
  table.words("", terms);
  std::string out = "Planes (positive on the side of the class named):\n", ends;
  for (Index k = 0; k < planes(); ++k) {
    std::vector<double> numbers;
    if (spec.intercept) numbers.push_back(intercept.of(k));
    for (Index j = 0; j < width(); ++j) numbers.push_back(coefficients.of(k, j));
    table.numbers(class_name(k), numbers);
    ends += errors.of(k) == 0
                ? fmt::format("{}: separated after {} updates in {} passes, margin {}\n", class_name(k),
                              format_significant(updates.of(k)), format_significant(passes.of(k)),
                              format_significant(margin.of(k), 4))
                : fmt::format("{}: not separated after {} updates in {} passes, {} rows on the wrong side\n",
                              class_name(k), format_significant(updates.of(k)), format_significant(passes.of(k)),
                              format_significant(errors.of(k)));
  }
  return out + table.str({.gap = 2, .width = 100}) + "\n" + ends;
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
  const Sides sides = scan(rows, Sides(model), to_the_end);
  model.margin.of = sides.margins();
  model.errors.of = sides.wrong;
  model.certificate = certificate_of(sides.wrong.sum(), static_cast<long long>(updates), execution.cancelled());
  if (sides.wrong.sum() > 0)
    model.warnings.push_back(fmt::format(
        "the classes were not separated after {} passes: rows of weight {} are on the wrong side of a plane",
        spec->passes, format_significant(sides.wrong.sum())));
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
    same.entry("passes", k, passes, std::clamp(passes, 0.0, static_cast<double>(model.spec.passes)), 0);
    same.entry("updates", k, updates, uneven ? updates + 1 : std::clamp(updates, least, most), 0);
  }
}

}  // namespace

/// From the rows anew, by the coefficients in the user's units.
Certificate certify(const PerceptronModel& model, const Rows& rows, const Execution& execution) {
  const Sides sides = scan(rows, Sides(model), execution);
  Certificate out = certificate_of(sides.wrong.sum(), 0, false);
  Comparison same;
  const Vector margins = sides.margins();
  for (Index k = 0; k < model.planes(); ++k) {
    same.entry("errors", k, model.errors.of(k), sides.wrong(k), 1 + sides.wrong(k));
    same.entry("margin", k, model.margin.of(k), margins(k), std::abs(margins(k)), 1e-6);
  }
  if (!same.finding()) compare_counts(same, model, rows, execution);
  if (same.finding()) {
    same.report(out);
    out.strength = Strength::optimal;
  }
  return out;
}

template const Method& method_of<Perceptron>();

}  // namespace lemma
