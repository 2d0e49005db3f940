// lemma/reduce/lift.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/reduce/lift.hpp>

namespace lemma {
namespace {

/// The products that are added; the squared length is their sum.
std::vector<Monomial> added(LiftKind kind, Index columns) {
  std::vector<Monomial> out;
  for (int i = 0; i < static_cast<int>(columns); ++i)
    for (int j = i; j < (kind == LiftKind::quadric ? static_cast<int>(columns) : i + 1); ++j) out.push_back({i, j});
  return out;
}

/// Of z only the columns themselves are taken from the transformation; what is added is found anew, from the last on.
struct ByProducts {
  const LiftModel* model;
  MapCheck found;

  void accumulate(const Block& block) {
    const Matrix z = model->transform(block.x);
    const Index p = model->columns;
    const auto terms = added(model->spec.kind, p);
    for (Index i = 0; i < z.rows(); ++i) {
      for (Index j = 0; j < p; ++j) found.compare(z(i, j), block.x(i, j), j);
      double length = 0;
      for (auto t = static_cast<Index>(terms.size()) - 1; t >= 0; --t) {
        const Monomial& term = terms[static_cast<std::size_t>(t)];
        const double product = block.x(i, term[1]) * block.x(i, term[0]);
        if (model->spec.kind == LiftKind::parabolic) length += product;
        else found.compare(z(i, p + t), product, p + t);
      }
      if (model->spec.kind == LiftKind::parabolic) found.compare(z(i, p), length, p);
    }
  }
  void merge(const ByProducts& other) { found.merge(other.found); }
};

constexpr Index kMostColumns = 1'000'000;

/// Of a sum that overflows: which column has the largest values.
std::string largest_column(const Rows& rows, const Execution& execution) {
  const auto range = scan(rows, ColumnMoments(rows.width()), execution);
  Index j = 0;
  range.least().cwiseAbs().cwiseMax(range.greatest().cwiseAbs()).maxCoeff(&j);
  return fmt::format("'{}' reaches from {:g} to {:g}", rows.features[static_cast<std::size_t>(j)], range.least()(j),
                     range.greatest()(j));
}

}  // namespace

Index LiftModel::output_width() const {
  if (spec.kind == LiftKind::parabolic) return columns + 1;
  return columns + (spec.kind == LiftKind::axis_aligned ? columns : columns * (columns + 1) / 2);
}

void LiftModel::check() const {
  require(columns > 0, "lift: there are no columns");
  require(columns <= kMostColumns && output_width() <= kMostColumns,
          fmt::format("lift: more than {} columns would come out", kMostColumns));
}

Matrix LiftModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Matrix products =
      spec.kind == LiftKind::parabolic ? Matrix(x.rowwise().squaredNorm()) : monomials_of(x, added(spec.kind, columns));
  Matrix out(x.rows(), columns + products.cols());
  out << x, products;
  return out;
}

Matrix LiftModel::inverse(const MatrixView& z) const {
  require(z.cols() == output_width(), "lift: wrong number of columns");
  return z.leftCols(columns);
}

std::vector<std::string> LiftModel::output_names(const std::vector<std::string>& features) const {
  std::vector<std::string> out = features;
  if (spec.kind == LiftKind::parabolic) out.emplace_back("|x|^2");
  else
    for (const Monomial& term : added(spec.kind, columns)) out.push_back(monomial_name(term, features));
  return out;
}

std::string LiftModel::summary(const Names& names) const {
  const auto out = output_names(names.features);
  return fmt::format("{} become {}:\n{}\n", count_of(columns, "column"), out.size(), wrap(join_words(out, 60), 100, 2));
}

LiftModel fit(const Valid<Lift>& spec, const Rows& rows, const FitOptions& options) {
  require_finite(rows, options.execution().part(0, 0.3));
  LiftModel model;
  model.spec = *spec;
  model.columns = rows.width();
  model.certificate = certify(model, rows, options.execution().part(0.3, 1));
  return model;
}

Certificate certify(const LiftModel& model, const Rows& rows, const Execution& execution) {
  const MapCheck found = scan(rows, ByProducts{&model, {}}, execution).found;
  if (found.overflow >= 0)
    throw Error(
        fmt::format("lift: '{}' is beyond the range of numbers in some row{}; put 'scale |' before it",
                    model.output_names(rows.features)[static_cast<std::size_t>(found.overflow)],
                    model.spec.kind == LiftKind::parabolic ? " (" + largest_column(rows, execution) + ")" : ""));
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "difference from the products of the columns";
  out.value = found.worst;
  out.tolerance = 1e-12;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message =
      fmt::format("The squares and products are those of the rows to within {:.1e} of their size (allowed {:.0e}).",
                  out.value, out.tolerance);
  return out;
}

LiftModel updated(const LiftModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(),
          fmt::format("lift: the model has {} columns and the rows have {}", model.width(), rows.width()));
  return fit(Valid<Lift>(model.spec), rows, options);
}

template const Method& method_of<Lift>();

}  // namespace lemma
