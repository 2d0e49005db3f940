// lemma/reduce/random_projection.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/reduce/random_projection.hpp>

namespace lemma {
namespace {

constexpr std::size_t kMostLookedAt = 1000;

/// Column k has the stream k of the seed: fewer dimensions are the first of more, up to their unit.
Matrix drawn(const RandomProjection& spec, Index columns, Index components, std::uint64_t seed) {
  Matrix out(columns, components);
  const double root = std::sqrt(static_cast<double>(components));
  for (Index k = 0; k < components; ++k) {
    RandomStream stream(seed, static_cast<std::uint64_t>(k) + 1);
    for (Index j = 0; j < columns; ++j) {
      if (spec.kind == Projection::gaussian) {
        out(j, k) = stream.normal() / root;
      } else {
        const double chance = stream.uniform(), density = *spec.density;
        const double sign = chance < 0.5 * density ? 1 : chance < density ? -1 : 0;
        out(j, k) = sign / std::sqrt(density) / root;
      }
    }
  }
  return out;
}

/// Up to 1,000 rows: those whose numbers have the least hashes, whichever order they come in.
Matrix some_rows(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.4));
  scan(rows, ColumnSizes(rows.width()), execution.part(0, 0)).require_usable(RandomProjection::name, rows);
  std::vector<std::pair<std::uint64_t, Index>> order(at(rows.count()));
  for_each_block(rows, execution.part(0.4, 0.8), [&](const Block& block) {
    std::vector<double> row(at(rows.width()));
    for (Index i = 0; i < block.rows(); ++i) {
      std::copy(block.x.row(i).begin(), block.x.row(i).end(), row.begin());
      order[at(block.first + i)] = {hash_numbers(row), block.first + i};
    }
  });
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), kMostLookedAt));
  Matrix out(static_cast<Index>(order.size()), rows.width());
  BlockBuffer buffer;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (execution.cancelled()) throw Cancelled();
    out.row(static_cast<Index>(i)) = rows.read(order[i].second, 1, buffer).x.row(0);
  }
  return out;
}

/// Least, mean and largest of after(i, j) / ‖x_i − x_j‖² over pairs that differ.
Vector ratios(const Matrix& x, const Execution& execution, const std::function<double(Index, Index)>& after) {
  const Index n = x.rows();
  Matrix of = Matrix::Zero(n, 4);  // least, sum, largest, pairs
  parallel_for(n, execution, [&](Index i) {
    of(i, 0) = HUGE_VAL;
    for (Index j = i + 1; j < n; ++j) {
      const double before = (x.row(i) - x.row(j)).squaredNorm();
      if (!(before > 0)) continue;
      const double ratio = after(i, j) / before;
      of(i, 0) = std::min(of(i, 0), ratio);
      of(i, 1) += ratio;
      of(i, 2) = std::max(of(i, 2), ratio);
      of(i, 3) += 1;
    }
  });
  const double pairs = of.col(3).sum();
  if (pairs == 0) return Vector::Ones(3);
  return Vector{{of.col(0).minCoeff(), of.col(1).sum() / pairs, of.col(2).maxCoeff()}};
}

Index chosen_components(const RandomProjection& spec, Index bound, Index columns) {
  return spec.components ? *spec.components : std::max<Index>(1, std::min(bound, columns));
}

}  // namespace

Index johnson_lindenstrauss(Index rows, double epsilon) {
  const double n = static_cast<double>(std::max<Index>(rows, 2));
  return static_cast<Index>(std::ceil(4 * std::log(n) / (epsilon * epsilon / 2 - epsilon * epsilon * epsilon / 3)));
}

void RandomProjection::check() const {
  if (density && kind == Projection::gaussian)
    throw Error("random_projection: density is that of '--kind sparse'; of normal directions it takes no part");
}

void RandomProjectionModel::check() const {
  require(components() > 0 && width() > 0 && directions.allFinite(),
          "random_projection: the directions are not usable");
  require(spec.components && *spec.components == components(),
          "random_projection: there are not as many directions as told");
  require((spec.kind == Projection::sparse) == spec.density.has_value(),
          "random_projection: the density does not suit the kind");
  require(distortion.size() == 3 && distortion.allFinite() && rows >= 1 && bound >= 1,
          "random_projection: the distortion is not usable");
}

Matrix RandomProjectionModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  return row_products(x, directions);
}

std::vector<std::string> RandomProjectionModel::output_names(const std::vector<std::string>&) const {
  std::vector<std::string> names;
  for (Index k = 1; k <= components(); ++k) names.push_back(fmt::format("RP{}", k));
  return names;
}

std::string RandomProjectionModel::summary(const Names&) const {
  return fmt::format(
      "{} onto {}; for a share of {} the bound asks for {}\nSquared distances after to before: least {}, mean {}, "
      "largest {}\n",
      count_of(width(), "column"), count_of(components(), "dimension"), format_significant(spec.epsilon, 3), bound,
      format_fixed(distortion(0), 4), format_fixed(distortion(1), 4), format_fixed(distortion(2), 4));
}

RandomProjectionModel fit(const Valid<RandomProjection>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Matrix x = some_rows(rows, execution.part(0, 0.3));
  RandomProjectionModel model;
  model.spec = *spec;
  model.rows = rows.count();
  model.seed = static_cast<std::int64_t>(options.seed);
  model.bound = johnson_lindenstrauss(rows.count(), spec->epsilon);
  if (!spec->components && model.bound > rows.width())
    model.warnings.push_back(
        fmt::format("the bound asks for {}, and there are {}: so many are made, and nothing is promised",
                    count_of(model.bound, "dimension"), count_of(rows.width(), "column")));
  model.spec.components = static_cast<int>(chosen_components(*spec, model.bound, rows.width()));
  if (spec->kind == Projection::sparse && !spec->density)
    model.spec.density = 1 / std::sqrt(static_cast<double>(rows.width()));
  model.directions = drawn(model.spec, rows.width(), *model.spec.components, options.seed);
  const Matrix z = model.transform(x);
  model.distortion =
      ratios(x, execution.part(0.3, 0.7), [&](Index i, Index j) { return (z.row(i) - z.row(j)).squaredNorm(); });
  model.certificate = certify(model, rows, execution.part(0.7, 1));
  return model;
}

Certificate certify(const RandomProjectionModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  same.number("rows", static_cast<double>(model.rows), static_cast<double>(rows.count()), 1, 0);
  same.number("bound", static_cast<double>(model.bound),
              static_cast<double>(johnson_lindenstrauss(rows.count(), model.spec.epsilon)), 1, 0);
  const Matrix expected = drawn(model.spec, model.width(), model.components(), static_cast<std::uint64_t>(model.seed));
  double worst = 0;
  for (Index j = 0; j < model.width(); ++j)
    for (Index k = 0; k < model.components(); ++k)
      worst = std::max(worst, std::abs(model.directions(j, k) - expected(j, k)) *
                                  std::sqrt(static_cast<double>(model.components())));
  const Matrix x = some_rows(rows, execution.part(0, 0.3));
  const Vector found = ratios(x, execution.part(0.3, 1), [&](Index i, Index j) {
    return ((x.row(i) - x.row(j)) * model.directions).squaredNorm();
  });
  for (Index k = 0; k < 3; ++k) same.entry("distortion", k, model.distortion(k), found(k), 1 + found(k), 1e-6);
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "directions beside those that the seed draws";
  out.value = worst;
  out.tolerance = 1e-12;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format(
      "The directions are those that the seed draws, to {:.1e} (allowed {:.0e}), and squared distances changed by "
      "factors from {} to {}, as told.",
      worst, out.tolerance, format_fixed(found(0), 4), format_fixed(found(2), 4));
  if (out.fails()) out.message = fmt::format("A direction is off by {:.1e} from the one that the seed draws.", worst);
  if (same.finding()) {
    same.report(out);
    out.message = fmt::format("What the model tells is not what the rows give: '{}' is off by {:.1e}.",
                              same.finding()->field, same.finding()->value);
  }
  return out;
}

template const Method& method_of<RandomProjection>();

}  // namespace lemma
