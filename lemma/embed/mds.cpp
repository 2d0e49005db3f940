// lemma/embed/mds.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/mds.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kTolerance = 1e-8;

/// The largest c with min eig(B + 2c B' + ½c² J) = 0, in units of `unit`; 0 where B has no negative eigenvalue. From below: the
/// eigenvector v of the smallest eigenvalue at c makes a quadratic vᵀBv + 2c vᵀB'v + ½c², whose larger root is nearer.
double additive_constant(const Dissimilarities& d, double unit, const Execution& execution) {
  const Matrix b = centred_squares(d, unit, 0, execution).inner, plain = centred_plain(d, unit, execution).inner;
  const Index n = d.count();
  double c = 0;
  for (int step = 0; step < 50; ++step) {
    if (execution.cancelled()) throw Cancelled();
    Matrix negated = -(b + 2 * c * plain);
    negated.diagonal().array() -= 0.5 * c * c;  // of 1 itself the eigenvalue is then ½c², which is not the smallest
    const Eigenpairs least = symmetric_eigen(negated, 1);
    if (least.values(0) <= 1e-13 * static_cast<double>(n)) break;
    const Vector v = least.vectors.col(0);
    const double of_squares = v.dot(b * v), of_plain = v.dot(plain * v);
    const double next = -2 * of_plain + std::sqrt(std::max(0.0, 4 * of_plain * of_plain - 2 * of_squares));
    if (!(next > c * (1 + 1e-14))) break;
    c = next;
  }
  return c;
}

constexpr double kFlat = 1e-9;  // gradient of the stress at which filling ends

Index unknown_pairs(const Compared& data) {
  return static_cast<Index>(std::count(data.weight.begin(), data.weight.end(), 0.0));
}

/// All dissimilarities: those that are not given are filled in as the spec says.
Dissimilarities filled_in(const MdsModel& model, const Compared& data, const Execution& execution) {
  if (model.spec.fill == MdsFill::refuse) data.require_all(Mds::name);
  if (model.spec.fill == MdsFill::scaling) return completed_by_places(data, model.filled_places);
  return completed_by_ways(Mds::name, data, execution);
}

Matrix least_stress_places(const Mds& spec, const Compared& data, const Execution& execution) {
  if (spec.fill != MdsFill::scaling || unknown_pairs(data) == 0) return {};
  const Stress stress(Mds::name, data, {}, execution.part(0, 0.1));
  const StressMinimum found = least_stress(Mds::name, stress, data,
                                           {.most_iterations = 5000, .tolerance = kFlat, .dimensions = spec.dimensions},
                                           execution.part(0.1, 1));
  if (found.cancelled) throw Cancelled();
  return found.places;
}

struct Axes {
  Vector values;
  Matrix vectors;
};

Axes axes_of(const Matrix& inner, Index dimensions, const Execution& execution) {
  if (inner.rows() <= MdsModel::kMostEigen) {
    Eigenpairs all = symmetric_eigen(inner);
    return {std::move(all.values), std::move(all.vectors)};
  }
  PartialEigen some = largest_eigen(inner, std::min(dimensions, inner.rows()), execution);
  return {std::move(some.values), std::move(some.vectors)};
}

Vector goodness(const Vector& values, Index kept, bool all) {
  if (!all) return Vector::Constant(2, kNone);
  Vector out(2);
  out << values.head(kept).sum() / values.cwiseAbs().sum(), values.head(kept).sum() / values.cwiseMax(0).sum();
  return out;
}

double negative_share(const Vector& values, bool all) {
  return all ? values.cwiseMin(0).cwiseAbs().sum() / values.cwiseAbs().sum() : kNone;
}

Matrix less_places(Matrix inner, const Matrix& places) {
  blas::gemm(blas::Op::plain, places, blas::Op::transposed, places, inner, -1, 1);
  return inner;
}

/// No eigenvalue above `limit` is left: limit I − rest has a Cholesky factor.
bool none_above(const Matrix& rest, double limit) {
  Matrix a = -rest;
  a.diagonal().array() += limit;
  return blas::cholesky(a);
}

}  // namespace

void MdsModel::check() const {
  check_embedded(Mds::name, spec.input, spec.metric, spec.dimensions);
  require(eigenvalues.size() == (count() <= kMostEigen ? count() : dimensions()) && eigenvalues.allFinite() &&
              goodness_of_fit.size() == 2,
          "mds: the eigenvalues do not fit the coordinates");
  for (Index k = 0; k < eigenvalues.size(); ++k)
    require((k == 0 || eigenvalues(k) <= eigenvalues(k - 1)) && (k >= dimensions() || eigenvalues(k) > 0),
            "mds: the eigenvalues do not fall, or one that is kept is not above 0");
  require(filled_pairs >= 0 && (filled_pairs == 0 || spec.fill != MdsFill::refuse),
          "mds: pairs are told to be filled in");
  require(spec.fill == MdsFill::scaling && filled_pairs > 0
              ? filled_places.rows() == count() && filled_places.allFinite()
              : filled_places.size() == 0,
          "mds: the places that fill pairs in do not fit the things");
  require(mean_squares.size() == count() && mean_squares.allFinite(), "mds: the means do not fit the coordinates");
  require(std::isfinite(strain) && strain >= 0 && std::isfinite(constant) && constant >= 0 &&
              (spec.additive || constant == 0),
          "mds: the strain or the constant is not usable");
}

Matrix MdsModel::transform(const MatrixView& x) const {
  Matrix out(x.rows(), dimensions());
  for_each_new(Mds::name, *this, spec.input, spec.metric, x, [&](Index i, std::span<const double> far) {
    for (Index k = 0; k < dimensions(); ++k) {
      double sum = 0;
      for (Index j = 0; j < count(); ++j) {
        const double d = far[at(j)] > 0 ? far[at(j)] + constant : 0;
        sum += places(j, k) * ((mean_squares(j) - d * d) / eigenvalues(k));  // in this order no unit is too large
      }
      out(i, k) = 0.5 * sum;
    }
  });
  return out;
}

std::string MdsModel::summary(const Names&) const {
  std::string out;
  TextTable table;
  std::vector<double> values, share;
  const bool all = !std::isnan(negative_share);
  for (Index k = 0; k < std::min<Index>(eigenvalues.size(), 6); ++k) {
    values.push_back(eigenvalues(k));
    share.push_back(eigenvalues(k) / eigenvalues.cwiseAbs().sum());
  }
  table.words("", dimension_names(static_cast<Index>(values.size()))).numbers("eigenvalue", values);
  if (all) table.numbers("share of sizes", share);
  out = table.str();
  if (all)
    out += fmt::format("\nKept: {} of the eigenvalues' sizes; negative: {}\n", format_fixed(goodness_of_fit(0), 4),
                       format_fixed(negative_share, 4));
  if (filled_pairs > 0) out += fmt::format("Filled in: {}\n", count_of(filled_pairs, "pair"));
  if (spec.additive) out += fmt::format("Added to each dissimilarity: {}\n", format_significant(constant, 5));
  return out + "\n" + picture();
}

MdsModel fit(const Valid<Mds>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_room(Mds::name, rows, spec->input, spec->gigabytes, 6);
  const Compared data = compare_known(Mds::name, spec->input, spec->metric, rows, execution.part(0, 0.2));
  MdsModel model;
  model.spec = *spec;
  if (spec->fill != MdsFill::refuse) model.filled_pairs = unknown_pairs(data);
  model.filled_places = least_stress_places(model.spec, data, execution.part(0.2, 0.3));
  const Dissimilarities d = filled_in(model, data, execution.part(0.2, 0.3));
  const double unit = largest_dissimilarity(Mds::name, d);
  if (spec->input == Input::rows) model.spec.metric = data.metric;
  if (spec->additive) model.constant = unit * additive_constant(d, unit, execution.part(0.3, 0.4));
  const Centred centred = centred_squares(d, unit, model.constant, execution.part(0.4, 0.5));
  execution.report(0.5, "eigenvalues");
  const Axes axes = axes_of(centred.inner, spec->dimensions, execution.part(0.5, 0.8));
  const Index kept = carrying(axes.values, spec->dimensions);
  require(kept > 0, "mds: no eigenvalue is positive: these dissimilarities have no places; try --additive true");
  if (kept < spec->dimensions)
    model.warnings.push_back(fmt::format("{} of {} dimensions carry nothing beyond rounding and are left out",
                                         spec->dimensions - kept, spec->dimensions));
  model.spec.dimensions = static_cast<int>(kept);
  const bool all = axes.values.size() == data.count();
  model.eigenvalues = unit * unit * (all ? axes.values : Vector(axes.values.head(kept)));
  model.goodness_of_fit = goodness(axes.values, kept, all);
  model.negative_share = negative_share(axes.values, all);
  model.places = axes.vectors.leftCols(kept) * axes.values.head(kept).cwiseSqrt().asDiagonal();
  model.strain = unit * unit * less_places(centred.inner, model.places).norm();
  model.places *= unit;
  model.mean_squares = unit * unit * centred.means;
  model.describe(data, rows.width(), execution.part(0.8, 0.9, "quality of the picture"));
  model.certificate = certify(model, rows, execution.part(0.9, 1));
  return model;
}

Certificate certify(const MdsModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Compared data =
      compared_again(Mds::name, model, model.spec.input, model.spec.metric, rows, same, execution.part(0, 0.2));
  const Dissimilarities d = filled_in(model, data, execution.part(0.2, 0.25));
  const double unit = largest_dissimilarity(Mds::name, d), squared = unit * unit;
  const Centred centred = centred_squares(d, unit, model.constant, execution.part(0.25, 0.4));
  const Index kept = model.dimensions();
  const Vector values = model.eigenvalues / squared;
  const Matrix places = model.places / unit;
  const Matrix vectors = places * values.head(kept).cwiseSqrt().cwiseInverse().asDiagonal();
  // ‖B v − λ v‖ / λ₁, and how far the v are from orthonormal.
  const Matrix left = centred.inner * vectors - vectors * values.head(kept).asDiagonal();
  const double worst = std::max(left.colwise().norm().maxCoeff() / values(0),
                                (vectors.transpose() * vectors - Matrix::Identity(kept, kept)).cwiseAbs().maxCoeff());
  const Matrix rest = less_places(centred.inner, places);
  const bool complete = none_above(rest, values(kept - 1) + kTolerance * values(0));

  if (model.spec.additive)
    same.number("constant", model.constant / unit, additive_constant(d, unit, execution.part(0.4, 0.5)), 1, 1e-7);
  if (model.spec.fill != MdsFill::refuse)
    same.number("filled_pairs", static_cast<double>(model.filled_pairs), static_cast<double>(unknown_pairs(data)), 1);
  if (model.filled_places.size() > 0)
    same.number("filled_places", look_at_stress(data, {}, model.filled_places, execution.part(0, 0)).gradient, 0, 1,
                1e-6);
  const bool all = values.size() == model.count();
  if (all) {
    same.number("eigenvalues", values.sum(), centred.inner.trace(), values(0), kTolerance);
    same.number("eigenvalues", values.squaredNorm(), centred.inner.squaredNorm(), values(0) * values(0), kTolerance);
  }
  const Vector fit_of = goodness(values, kept, all);
  for (Index k = 0; k < 2; ++k) same.entry("goodness_of_fit", k, model.goodness_of_fit(k), fit_of(k), 1);
  same.number("negative_share", model.negative_share, negative_share(values, all), 1);
  same.number("strain", model.strain / squared, rest.norm(), values(0), kTolerance);
  for (Index i = 0; i < model.count(); ++i)
    same.entry("mean_squares", i, model.mean_squares(i) / squared, centred.means(i), 1, kTolerance);
  compare_quality(same, model, data, execution.part(0.5, 1));

  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "residual of the eigenvectors";
  out.value = complete ? worst : 1;
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = complete
                    ? fmt::format(
                          "The coordinates are eigenvectors of the centred squares to {:.1e} of the largest eigenvalue "
                          "(allowed {:.0e}), and no larger eigenvalue is left out: no other places have less strain.",
                          worst, out.tolerance)
                    : std::string("The centred squares have an eigenvalue that is larger than one that is kept.");
  report(same, out);
  return out;
}

template const Method& method_of<Mds>();

}  // namespace lemma
