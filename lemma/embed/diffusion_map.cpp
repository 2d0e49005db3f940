// lemma/embed/diffusion_map.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/diffusion_map.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/partial_eigen.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-8;

/// D^−½ K^α D^−½, which has the walk's eigenvalues; q; and √π, its eigenvector of the eigenvalue 1.
struct Walk {
  Matrix symmetric;
  Vector degrees, root;
};

double median_square(const Dissimilarities& d) {
  std::vector<double> squares;
  for (const double each : d.kept()) squares.push_back(each * each);
  const auto middle = squares.begin() + static_cast<Index>(squares.size() / 2);
  std::nth_element(squares.begin(), middle, squares.end());
  return *middle;
}

Walk walk_of(const DiffusionMap& spec, const Dissimilarities& d, const Execution& execution) {
  const Index n = d.count();
  Walk out{Matrix(n, n), Vector(n), Vector(n)};
  Matrix& k = out.symmetric;
  parallel_for(n, execution.part(0, 0.6, "kernel matrix"), [&](Index i) {
    d.row(i, {k.row(i).data(), at(n)});
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += k(i, j) = std::exp(-k(i, j) * k(i, j) / *spec.epsilon);
    out.degrees(i) = sum;
  });
  const Vector share = out.degrees.array().pow(-spec.alpha);
  Vector degree(n);
  parallel_for(n, execution.part(0.6, 0.8), [&](Index i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += k(i, j) *= share(i) * share(j);
    degree(i) = sum;
  });
  parallel_for(n, execution.part(0.8, 1), [&](Index i) {
    for (Index j = 0; j < n; ++j) k(i, j) /= std::sqrt(degree(i) * degree(j));
  });
  out.root = (degree / degree.sum()).cwiseSqrt();
  return out;
}

Certificate certificate_of(const DiffusionMapModel& model, const Walk& walk, Comparison& same,
                           const Execution& execution) {
  const Index kept = model.dimensions(), n = model.count();
  const Vector shrink = model.eigenvalues.array().pow(model.spec.time);
  Matrix all(n, kept + 1);
  all << walk.root, walk.root.asDiagonal() * (model.places * shrink.cwiseInverse().asDiagonal());
  Vector values(kept + 1);
  values << 1, model.eigenvalues;
  const Matrix left = walk.symmetric * all - all * values.asDiagonal();
  const double worst = std::max(left.colwise().norm().maxCoeff() / values(kept),
                                (all.transpose() * all - Matrix::Identity(kept + 1, kept + 1)).cwiseAbs().maxCoeff());
  execution.report(0.5, "looking at the axes again");
  const Matrix scaled = all * values.cwiseSqrt().asDiagonal();
  Matrix rest = -walk.symmetric;
  blas::gemm(blas::Op::plain, scaled, blas::Op::transposed, scaled, rest, 1, 1);
  rest.diagonal().array() += values(kept) + kTolerance;
  const bool complete = blas::cholesky(rest);
  for (Index i = 0; i < n; ++i)
    same.entry("degrees", i, model.degrees(i), walk.degrees(i), walk.degrees(i), kTolerance);
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "residual of the eigenvectors";
  out.value = complete ? worst : 1;
  out.tolerance = 1e-6;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = complete ? fmt::format(
                               "The coordinates are eigenvectors of the walk to {:.1e} of the last eigenvalue (allowed "
                               "{:.0e}), and no larger "
                               "eigenvalue is left out.",
                               worst, out.tolerance)
                         : std::string("The walk has an eigenvalue that is larger than one that is kept.");
  return out;
}

}  // namespace

void DiffusionMapModel::check() const {
  check_embedded(DiffusionMap::name, spec.input, spec.metric, spec.dimensions);
  require(eigenvalues.size() == dimensions() && eigenvalues.allFinite() && degrees.size() == count() &&
              degrees.allFinite() && (degrees.array() >= 1).all() && spec.epsilon.has_value(),
          "diffusion_map: the eigenvalues or degrees do not fit the coordinates");
  for (Index k = 0; k < eigenvalues.size(); ++k)
    require(eigenvalues(k) > 0 && (k == 0 || eigenvalues(k) <= eigenvalues(k - 1)),
            "diffusion_map: the eigenvalues do not fall, or one is not above 0");
}

Matrix DiffusionMapModel::transform(const MatrixView& x) const {
  Matrix out(x.rows(), dimensions());
  for_each_new(DiffusionMap::name, *this, spec.input, spec.metric, x, [&](Index i, std::span<const double> far) {
    const double least = *std::min_element(far.begin(), far.end());
    std::vector<double> step(at(count()));
    double sum = 0;
    for (Index j = 0; j < count();
         ++j)  // the row's own degree, and its distance from all of them, take no part in the shares
      sum += step[at(j)] =
          std::exp(-(far[at(j)] - least) * (far[at(j)] + least) / *spec.epsilon) * std::pow(degrees(j), -spec.alpha);
    for (Index k = 0; k < dimensions(); ++k) {
      double place = 0;
      for (Index j = 0; j < count(); ++j) place += step[at(j)] * places(j, k);
      out(i, k) = place / sum / eigenvalues(k);
    }
  });
  return out;
}

std::string DiffusionMapModel::summary(const Names&) const {
  TextTable table;
  table.words("", dimension_names(dimensions())).numbers("eigenvalue", {eigenvalues.begin(), eigenvalues.end()});
  return table.str() +
         fmt::format("\nepsilon {}, alpha {}, time {}\n\n", format_significant(*spec.epsilon, 5),
                     format_significant(spec.alpha, 3), format_significant(spec.time, 3)) +
         picture();
}

DiffusionMapModel fit(const Valid<DiffusionMap>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_room(DiffusionMap::name, rows, spec->input, spec->gigabytes, 5);
  const Compared data = compare_known(DiffusionMap::name, spec->input, spec->metric, rows, execution.part(0, 0.2));
  data.require_all(DiffusionMap::name);
  largest_dissimilarity(DiffusionMap::name, data.dissimilarities);
  DiffusionMapModel model;
  model.spec = *spec;
  if (spec->input == Input::rows) model.spec.metric = data.metric;
  if (!spec->epsilon) model.spec.epsilon = median_square(data.dissimilarities);
  if (!(*model.spec.epsilon > 0))
    throw Error("diffusion_map: more than half of the distances are 0, and their median is no width; set --epsilon");
  const Walk walk = walk_of(model.spec, data.dissimilarities, execution.part(0.2, 0.4));
  const Index wanted = std::min<Index>(spec->dimensions + 1, data.count());
  const PartialEigen found = largest_eigen(walk.symmetric, wanted, execution.part(0.4, 0.8));
  const Index kept = carrying(found.values, wanted) - 1;
  require(kept > 0, "diffusion_map: the walk has no second eigenvalue above 0; take a smaller epsilon");
  if (found.values(1) > 1 - 1e-12)
    throw Error(
        fmt::format("diffusion_map: with epsilon {:g} the walk never leaves a part of the rows: their places are not "
                    "determined; take a larger one",
                    *model.spec.epsilon));
  if (kept < spec->dimensions)
    model.warnings.push_back(fmt::format("{} of {} dimensions carry nothing beyond rounding and are left out",
                                         spec->dimensions - kept, spec->dimensions));
  model.spec.dimensions = static_cast<int>(kept);
  model.eigenvalues = found.values.segment(1, kept);
  model.degrees = walk.degrees;
  const Vector shrink = model.eigenvalues.array().pow(spec->time);
  model.places = walk.root.cwiseInverse().asDiagonal() * found.vectors.middleCols(1, kept) * shrink.asDiagonal();
  turn_columns(model.places);
  model.describe(data, rows.width(), execution.part(0.8, 0.95, "quality of the picture"));
  Comparison same;
  model.certificate = certificate_of(model, walk, same, execution.part(0.95, 1));
  return model;
}

Certificate certify(const DiffusionMapModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Compared data = compared_again(DiffusionMap::name, model, model.spec.input, model.spec.metric, rows, same,
                                       execution.part(0, 0.2));
  data.require_all(DiffusionMap::name);
  const Walk walk = walk_of(model.spec, data.dissimilarities, execution.part(0.2, 0.4));
  Certificate out = certificate_of(model, walk, same, execution.part(0.4, 0.7));
  compare_quality(same, model, data, execution.part(0.7, 1));
  report(same, out);
  return out;
}

template const Method& method_of<DiffusionMap>();

}  // namespace lemma
