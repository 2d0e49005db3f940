// lemma/embed/lle.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/lle.hpp>
#include <lemma/embed/shared/spectral.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma {
namespace lle {
namespace {

/// C / tr(C) + ρ I of the neighbours seen from the row; where all lie on it, the identity.
Matrix local_gram(const MatrixView& row, const MatrixView& neighbors, double regulariser) {
  Matrix apart = neighbors.rowwise() - row.row(0);
  const double size = apart.cwiseAbs().maxCoeff();  // squares of what is left are in the range of numbers
  if (!(size > 0)) return Matrix::Identity(apart.rows(), apart.rows());
  apart /= size;
  Matrix c = apart * apart.transpose();
  c /= c.trace();
  c.diagonal().array() += regulariser;
  return c;
}

Vector solved(const Matrix& c, const std::vector<Index>& free) {
  const auto triangle = cholesky(Matrix(c(free, free)));
  require(triangle.has_value(), "lle: the weights of a row are not unique to working precision; raise --regulariser");
  const Matrix ones = Matrix::Ones(static_cast<Index>(free.size()), 1);
  return solve_upper(*triangle, solve_upper_transposed(*triangle, ones)).col(0);
}

/// u ≥ 0 with the least ½ uᵀCu − Σu (Lawson and Hanson 1974): entries join while the slope asks for it, and leave at 0.
Vector nonnegative_solution(const Matrix& c) {
  const Index k = c.rows();
  Vector u = Vector::Zero(k);
  std::vector<Index> free;
  for (Index round = 0; round < 10 * k; ++round) {
    const Vector slope = Vector::Ones(k) - c * u;
    Index best = -1;
    for (Index j = 0; j < k; ++j)
      if (std::find(free.begin(), free.end(), j) == free.end() && slope(j) > 1e-12 &&
          (best < 0 || slope(j) > slope(best)))
        best = j;
    if (best < 0) break;
    free.push_back(best);
    for (;;) {
      const Vector z = solved(c, free);
      double step = 1;
      for (std::size_t f = 0; f < free.size(); ++f)
        if (z(static_cast<Index>(f)) <= 0) step = std::min(step, u(free[f]) / (u(free[f]) - z(static_cast<Index>(f))));
      for (std::size_t f = 0; f < free.size(); ++f) u(free[f]) += step * (z(static_cast<Index>(f)) - u(free[f]));
      if (step == 1) break;
      std::erase_if(free, [&](Index j) {
        if (u(j) > 1e-15) return false;
        u(j) = 0;
        return true;
      });
    }
  }
  return u;
}

}  // namespace

Vector weights_of(const MatrixView& row, const MatrixView& neighbors, double regulariser, bool nonnegative) {
  const Matrix c = local_gram(row, neighbors, regulariser);
  Vector w;
  if (nonnegative) {
    w = nonnegative_solution(c);
  } else {
    std::vector<Index> all(at(c.rows()));
    for (Index j = 0; j < c.rows(); ++j) all[at(j)] = j;
    w = solved(c, all);
  }
  return w / w.sum();
}

namespace {

struct Weights {
  Neighborhood near;
  std::vector<Vector> of;  // of each row, on its neighbours
  double error = 0;        // Σ ‖x_i − Σ w_ij x_j‖²
  double condition =
      0;  // how far the weights are from their own condition: C w equal where w > 0, and no less elsewhere
};

Matrix rows_at(const Matrix& x, std::span<const std::int32_t> which) {
  Matrix out(static_cast<Index>(which.size()), x.cols());
  for (std::size_t j = 0; j < which.size(); ++j) out.row(static_cast<Index>(j)) = x.row(which[j]);
  return out;
}

/// Rows and how they are compared.
ComparedPoints points_of(const Placed& placed) {
  return {placed.things.points, placed.things.dissimilarities.points()->metric(), {}};
}

Weights weights_for(const Lle& spec, const Placed& placed, const Execution& execution) {
  const ComparedPoints data = points_of(placed);
  Weights out;
  out.near = neighborhood(Lle::name, Neighbors(data.points, data.metric, SearchOptions{}, execution.part(0, 0.1)),
                          data.points, spec.near(), execution.part(0.1, 0.5));
  out.near.parts = std::max(out.near.parts, placed.parts);
  const Index n = data.points.rows();
  out.of.resize(at(n));
  Vector error(n), condition(n);
  parallel_for(n, execution.part(0.5, 1, "weights"), [&](Index i) {
    const Matrix near = rows_at(data.points, out.near.lists.rows_of(i));
    const auto row = data.points.middleRows(i, 1);
    const Vector w = out.of[at(i)] = weights_of(row, near, spec.regulariser, spec.nonnegative);
    error(i) = (row - w.transpose() * near).squaredNorm();
    const Vector cw =
        local_gram(row, near, spec.regulariser) * w;  // equal entries; with w ≥ 0 larger ones where w is 0
    const double level = w.dot(cw);
    condition(i) = 0;
    for (Index j = 0; j < w.size(); ++j) {
      const double off = cw(j) - level;
      condition(i) =
          std::max(condition(i), (spec.nonnegative && w(j) == 0 ? std::max(0.0, -off) : std::abs(off)) / cw.norm());
    }
  });
  out.error = error.sum();
  out.condition = condition.maxCoeff();
  return out;
}

/// (I − W)ᵀ(I − W): a block (δ − w)(δ − w)ᵀ for each row.
SpectralProblem problem_of(const Weights& weights) {
  const auto n = static_cast<Index>(weights.of.size());
  SparseSum sum(n);
  for (Index i = 0; i < n; ++i) {
    const auto near = weights.near.lists.rows_of(i);
    std::vector<std::int32_t> which{static_cast<std::int32_t>(i)};
    which.insert(which.end(), near.begin(), near.end());
    Vector d(static_cast<Index>(which.size()));
    d << 1, -weights.of[at(i)];
    sum.add(which, d * d.transpose());
  }
  const auto times = [&weights, n](const Matrix& v) -> Matrix {
    Matrix left = v, out;
    for (Index i = 0; i < n; ++i) {
      const auto near = weights.near.lists.rows_of(i);
      for (std::size_t j = 0; j < near.size(); ++j)
        left.row(i) -= weights.of[at(i)](static_cast<Index>(j)) * v.row(near[j]);
    }
    out = left;
    for (Index i = 0; i < n; ++i) {
      const auto near = weights.near.lists.rows_of(i);
      for (std::size_t j = 0; j < near.size(); ++j)
        out.row(near[j]) -= weights.of[at(i)](static_cast<Index>(j)) * left.row(i);
    }
    return out;
  };
  return {sum.matrix(), Vector::Constant(n, 1 / std::sqrt(static_cast<double>(n))), times};
}

Certificate certificate_of(const LleModel& model, const Weights& weights, const SpectralProblem& problem, double spread,
                           Comparison& same, const Execution& execution) {
  const double root = std::sqrt(static_cast<double>(model.count()));
  same.number("graph_pieces", static_cast<double>(model.graph_pieces), static_cast<double>(weights.near.parts), 1);
  same.number("reconstruction_error", model.reconstruction_error, weights.error, weights.error + 1e-12 * spread, 1e-7);
  Certificate out = spectral_certificate(problem, {model.eigenvalues, model.places / root}, execution);
  if (weights.condition > 1e-7) {
    out.value = std::max(out.value, 1.0);
    out.message = fmt::format("Weights do not rebuild a row as well as they could: off by {:.1e}.", weights.condition);
  }
  return out;
}

double spread_of(const Matrix& points) { return (points.rowwise() - points.colwise().mean()).squaredNorm(); }

}  // namespace
}  // namespace lle

void LleModel::check() const {
  check_embedded(Lle::name, Input::rows, spec.metric, spec.dimensions);
  check_left_out(Lle::name, left_out, count(), spec.pieces);
  require(eigenvalues.size() == dimensions() && eigenvalues.allFinite() && graph_pieces >= 1 &&
              std::isfinite(reconstruction_error) && reconstruction_error >= 0,
          "lle: the eigenvalues do not fit the coordinates");
  require(std::is_sorted(eigenvalues.begin(), eigenvalues.end()), "lle: the eigenvalues do not rise");
}

Matrix LleModel::transform(const MatrixView& x) const {
  require_width(Lle::name, columns, x.cols());
  Matrix out(x.rows(), dimensions());
  if (x.rows() == 0) return out;
  const Neighbors rows(points, BoundMetric(spec.metric, columns));
  const NeighborLists near = spec.radius ? rows.within(x, *spec.radius) : rows.nearest(x, spec.neighbors);
  const NeighborLists nearest = spec.radius ? rows.nearest(x, 1) : NeighborLists();
  for (Index i = 0; i < x.rows(); ++i) {
    const auto which = near.rows_of(i).empty() ? nearest.rows_of(i) : near.rows_of(i);
    const Vector w =
        lle::weights_of(x.middleRows(i, 1), lle::rows_at(points, which), spec.regulariser, spec.nonnegative);
    for (Index k = 0; k < dimensions(); ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < which.size(); ++j) sum += w(static_cast<Index>(j)) * places(which[j], k);
      out(i, k) = sum;
    }
  }
  return out;
}

std::string LleModel::summary(const Names&) const {
  TextTable table;
  table.words("", dimension_names(dimensions())).numbers("eigenvalue", {eigenvalues.begin(), eigenvalues.end()});
  return table.str() +
         fmt::format("\nRows rebuilt from their neighbours up to {} (sum of squares)\n\n",
                     format_significant(reconstruction_error, 4)) +
         picture();
}

LleModel fit(const Valid<Lle>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  LleModel model;
  model.spec = *spec;
  Compared all = things_of(Lle::name, Input::rows, rows, spec->metric, execution.part(0, 0.05));
  model.spec.metric = all.metric;
  const Placed placed =
      placed_of(Lle::name, std::move(all), Input::rows, rows.width(), spec->near(), execution.part(0.05, 0.1));
  if (const auto warning = warning_of(placed, spec->near())) model.warnings.push_back(*warning);
  model.left_out = placed.left_out;
  const ComparedPoints data = lle::points_of(placed);
  const lle::Weights weights = lle::weights_for(model.spec, placed, execution.part(0.1, 0.4));
  if (const auto warning = warning_of(weights.near, model.spec.near())) model.warnings.push_back(*warning);
  const SpectralProblem problem = lle::problem_of(weights);
  const SpectralAxes axes = spectral_axes(Lle::name, problem, spec->dimensions, execution.part(0.4, 0.8));
  model.eigenvalues = axes.values;
  model.places = std::sqrt(static_cast<double>(data.points.rows())) * axes.vectors;
  model.reconstruction_error = weights.error;
  model.graph_pieces = weights.near.parts;
  model.describe(data.points, data.metric, execution.part(0.8, 0.95, "quality of the picture"));
  Comparison same;
  model.certificate =
      lle::certificate_of(model, weights, problem, lle::spread_of(data.points), same, execution.part(0.95, 1));
  return model;
}

Certificate certify(const LleModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Placed placed = placed_again(Lle::name, model, model.left_out, Input::rows, rows, model.spec.metric,
                                     model.spec.near(), same, execution.part(0, 0.05));
  const ComparedPoints data = lle::points_of(placed);
  const lle::Weights weights = lle::weights_for(model.spec, placed, execution.part(0.05, 0.4));
  const SpectralProblem problem = lle::problem_of(weights);
  Certificate out =
      lle::certificate_of(model, weights, problem, lle::spread_of(data.points), same, execution.part(0.4, 0.7));
  compare_quality(same, model, Dissimilarities::on_demand(data.points, data.metric), {}, execution.part(0.7, 1));
  report(same, out);
  return out;
}

template const Method& method_of<Lle>();

}  // namespace lemma
