// lemma/bayes/naive_bayes/sparse.cpp: the same sums and checks over the entries of rows that lie without their zeros.
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/naive_bayes/parts.hpp>
#include <lemma/model/finite_or_missing.hpp>

namespace lemma::naive_bayes {
namespace {

constexpr Index kTogether = 8192;

/// visit(row, class, weight) for each row that counts.
void for_each_row(const Rows& rows, const Execution& execution, const auto& visit) {
  BlockBuffer buffer;
  for (Index first = 0; first < rows.count(); first += kTogether) {
    if (execution.cancelled()) throw Cancelled();
    execution.report(static_cast<double>(first) / static_cast<double>(rows.count()),
                     "counts and moments of the classes");
    const Block block = rows.outcome(first, std::min(kTogether, rows.count() - first), buffer);
    for (Index i = 0; i < block.rows(); ++i)
      if (block.label[at(i)] >= 0 && block.weight_of(i) > 0) visit(first + i, block.label[at(i)], block.weight_of(i));
  }
}

/// visit(column, value as its kind takes it) of a row's entries.
void for_each_entry(const Layout& layout, const Csr& x, Index row, const auto& visit) {
  for (auto e = at(x.start[at(row)]); e < at(x.start[at(row) + 1]); ++e)
    visit(Index{x.column[e]}, layout.value(x.column[e], x.value[e]));
}

/// What is known of the entries of each class and column: by weight, those that are there and not 0.
struct Entries {
  Vector counts;
  Matrix known, entries, levels;

  Entries(const Layout& layout, const Rows& rows, Index classes, const Execution& execution)
      : counts(Vector::Zero(classes)),
        known(Matrix::Zero(classes, layout.columns())),
        entries(known),
        levels(Matrix::Zero(classes, layout.all_levels)) {
    for_each_row(rows, execution, [&](Index i, Index k, double w) {
      counts(k) += w;
      for_each_entry(layout, *rows.sparse(), i, [&](Index j, double v) {
        if (std::isnan(v)) {
          known(k, j) -= w;
          return;
        }
        entries(k, j) += w;
        if (layout.is(j, ColumnKind::categorical) && v >= 0 && v < layout.levels[at(j)])
          levels(k, layout.start[at(j)] + static_cast<Index>(v)) += w;
      });
    });
    known.colwise() += counts;
    for (Index j = 0; j < layout.columns(); ++j)
      if (layout.is(j, ColumnKind::categorical)) levels.col(layout.start[at(j)]) += known.col(j) - entries.col(j);
  }
  double zeros(Index k, Index j) const { return known(k, j) - entries(k, j); }
};

/// The values of columns of kind density: entries, and all zeros of a class at once.
std::vector<Values> values_in(const Layout& layout, const Rows& rows, const Entries& found) {
  std::vector<Values> out(at(found.counts.size() * layout.densities));
  if (layout.densities == 0) return out;
  for_each_row(rows, {}, [&](Index i, Index k, double w) {
    for_each_entry(layout, *rows.sparse(), i, [&](Index j, double v) {
      if (layout.place[at(j)] >= 0 && !std::isnan(v))
        out[at(k * layout.densities + layout.place[at(j)])].emplace_back(v, w);
    });
  });
  for (Index k = 0; k < found.counts.size(); ++k)
    for (Index j = 0; j < layout.columns(); ++j)
      if (layout.place[at(j)] >= 0 && found.zeros(k, j) > 0)
        out[at(k * layout.densities + layout.place[at(j)])].emplace_back(0, found.zeros(k, j));
  return out;
}

bool any_gaussian(const Layout& layout) {
  for (Index j = 0; j < layout.columns(); ++j)
    if (layout.is(j, ColumnKind::gaussian)) return true;
  return false;
}

[[noreturn]] void fail_value(const Layout& layout, const Rows& rows, Index row, Index column, double v) {
  throw Error(fmt::format("naive_bayes: '{}' is {:g} in row {}, and {} columns hold {}", rows.features[at(column)], v,
                          row + 1, name_of(layout.kind[at(column)]),
                          layout.is(column, ColumnKind::poisson) ? "whole numbers from 0 on" : "numbers from 0 on"));
}

bool is_wrong(const Layout& layout, Index column, double v) {
  return layout.counts(column) && (v < 0 || (layout.is(column, ColumnKind::poisson) && v != std::floor(v)));
}

}  // namespace

void check_values(const Layout& layout, const Rows& rows, const Execution& execution) {
  if (const Csr* x = rows.sparse()) {
    for (Index i = 0; i < x->rows(); ++i)
      for (auto e = at(x->start[at(i)]); e < at(x->start[at(i) + 1]); ++e) {
        if (std::isinf(x->value[e]))
          throw Error(fmt::format("naive_bayes: '{}' is infinite in row {}", rows.features[at(x->column[e])], i + 1));
        if (is_wrong(layout, x->column[e], x->value[e])) fail_value(layout, rows, i, x->column[e], x->value[e]);
      }
    return;
  }
  require_finite_or_missing(NaiveBayes::name, rows, execution);
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index j = 0; j < layout.columns(); ++j)
        if (is_wrong(layout, j, block.x(i, j))) fail_value(layout, rows, block.first + i, j, block.x(i, j));
  });
}

Sums sums_of(const Layout& layout, const Rows& rows, Index classes, const Execution& execution) {
  if (!rows.sparse()) return scan(rows, Sums(layout, classes), execution);
  const Entries found(layout, rows, classes, execution.part(0, 0.4));
  Sums out(layout, classes);
  out.counts = found.counts;
  out.known = found.known;
  out.levels = found.levels;
  out.values = values_in(layout, rows, found);
  for_each_row(rows, execution.part(0.4, 0.7), [&](Index i, Index k, double w) {
    for_each_entry(layout, *rows.sparse(), i, [&](Index j, double v) {
      if (!std::isnan(v) && !layout.is(j, ColumnKind::categorical)) out.mean(k, j) += w * v;
    });
  });
  for (Index k = 0; k < classes; ++k)
    for (Index j = 0; j < layout.columns(); ++j)
      if (out.known(k, j) > 0) out.mean(k, j) /= out.known(k, j);
  if (!any_gaussian(layout)) return out;
  for (Index k = 0; k < classes; ++k)
    for (Index j = 0; j < layout.columns(); ++j)
      if (layout.is(j, ColumnKind::gaussian)) out.squares(k, j) = found.zeros(k, j) * out.mean(k, j) * out.mean(k, j);
  for_each_row(rows, execution.part(0.7, 1), [&](Index i, Index k, double w) {
    for_each_entry(layout, *rows.sparse(), i, [&](Index j, double v) {
      if (!std::isnan(v) && layout.is(j, ColumnKind::gaussian))
        out.squares(k, j) += w * (v - out.mean(k, j)) * (v - out.mean(k, j));
    });
  });
  return out;
}

Look look_at(const NaiveBayesModel& model, const Layout& layout, const Rows& rows, const Execution& execution) {
  if (!rows.sparse()) return scan(rows, Look(model, layout), execution);
  const Entries found(layout, rows, model.class_count(), execution.part(0, 0.5));
  Look out(model, layout);
  out.counts = found.counts;
  out.known = found.known;
  out.levels = found.levels;
  out.values = values_in(layout, rows, found);
  for (Index k = 0; k < model.class_count(); ++k)
    for (Index j = 0; j < layout.columns(); ++j) {
      if (layout.is(j, ColumnKind::categorical)) continue;
      const double d = -model.means(k, j);  // of a zero
      out.shift(k, j) = found.zeros(k, j) * d;
      out.squares(k, j) = found.zeros(k, j) * d * d;
    }
  for_each_row(rows, execution.part(0.5, 1), [&](Index i, Index k, double w) {
    for_each_entry(layout, *rows.sparse(), i, [&](Index j, double v) {
      if (std::isnan(v) || layout.is(j, ColumnKind::categorical)) return;
      const double d = v - model.means(k, j);
      out.shift(k, j) += w * d;
      out.squares(k, j) += w * d * d;
    });
  });
  return out;
}

}  // namespace lemma::naive_bayes
