// lemma/linear/chebyshev/certify.cpp: the rows of largest error, and a point of the dual that shows they cannot be less.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/chebyshev/parts.hpp>
#include <lemma/linear/shared/plane.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>
#include <optional>

namespace lemma {
namespace chebyshev {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kActive = 1e-9;     // an error is the largest when it is less by no more than this share of it
constexpr double kCancelled = 1e-6;  // a gap is also measured in this share of the terms that cancel in an error

/// Larger errors first, then earlier rows.
bool before(const Extreme& a, const Extreme& b) {
  const double x = std::abs(a.error), y = std::abs(b.error);
  return x > y || (x == y && a.row < b.row);
}

double residual(std::span<const double> x, double y, double offset, const Plane& plane) {
  const std::span<const double> b(plane.slopes.data(), static_cast<std::size_t>(plane.slopes.size()));
  return (exact_sum(y, -offset) - simd::dot(x, b) - Twofold{plane.intercept, 0}).rounded();
}

}  // namespace

double residual(const Extreme& row, const Plane& plane) {
  return residual({row.x.data(), static_cast<std::size_t>(row.x.size())}, row.y, row.offset, plane);
}

void Extremes::accumulate(const Block& block) {
  const Vector size = plane_.slopes.cwiseAbs();
  double bar = 0;  // errors below it are not among the largest
  for (Index i = 0; i < block.rows(); ++i) {
    if (block.weight_of(i) == 0) continue;
    const double y = block.y[static_cast<std::size_t>(i)], offset = block.offset_of(i);
    const auto row = block.x.row(i);
    terms_ = std::max(terms_, std::abs(y) + std::abs(offset) + std::abs(plane_.intercept) + row.cwiseAbs().dot(size));
    const double error = residual({row.data(), static_cast<std::size_t>(row.size())}, y, offset, plane_);
    if (std::abs(error) < bar) continue;
    rows_.push_back({block.first + i, error, block.weight_of(i), row, y, offset});
    if (rows_.size() < 2 * most_) continue;
    shorten();
    bar = std::abs(rows_.back().error);
  }
  shorten();
}

void Extremes::merge(const Extremes& other) {
  rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end());
  terms_ = std::max(terms_, other.terms_);
  shorten();
}

void Extremes::shorten() {
  std::sort(rows_.begin(), rows_.end(), before);
  if (rows_.size() > most_) rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(most_), rows_.end());
}

namespace {

/// Σ w of the rows whose error is the largest.
struct ActiveWeight {
  const Plane* plane;
  double least, sum = 0;

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const auto row = block.x.row(i);
      const double error = residual({row.data(), static_cast<std::size_t>(row.size())},
                                    block.y[static_cast<std::size_t>(i)], block.offset_of(i), *plane);
      if (std::abs(error) >= least) sum += block.weight_of(i);
    }
  }
  void merge(const ActiveWeight& other) { sum += other.sum; }
};

/// How much of the bound Σ λ r = h the rows of largest error cannot show: λ with the signs of the errors, Σ |λ| = 1 and
/// Σ λ [1 x] = 0, as nearly as least squares within bounds finds it.
double gap_of(const std::vector<Extreme>& rows, double largest, double terms, bool intercept) {
  const Index m = static_cast<Index>(rows.size()), p = rows.front().x.size(), lead = intercept ? 1 : 0;
  Vector centre = Vector::Zero(p), spread = Vector::Zero(p);
  for (const Extreme& row : rows) centre += row.x / static_cast<double>(m);
  if (!intercept) centre.setZero();
  for (const Extreme& row : rows) spread = spread.cwiseMax((row.x - centre).cwiseAbs());
  std::vector<Index> columns;
  for (Index j = 0; j < p; ++j)
    if (spread(j) > 1e-13 * std::abs(centre(j))) columns.push_back(j);
  const Index equations = static_cast<Index>(columns.size()) + lead + 1;
  Matrix system(equations, m);
  for (Index i = 0; i < m; ++i) {
    const Extreme& row = rows[static_cast<std::size_t>(i)];
    const double sign = row.error > 0 ? 1 : -1;
    system(0, i) = 1;
    if (lead == 1) system(1, i) = sign;
    for (std::size_t j = 0; j < columns.size(); ++j)
      system(1 + lead + static_cast<Index>(j), i) =
          sign * (row.x(columns[j]) - centre(columns[j])) / spread(columns[j]);
  }
  Vector g = Vector::Zero(equations);
  g(0) = -1;
  const auto [size, wrong] = dual_point(system, g, Vector::Zero(m), Vector::Ones(m));
  double shown = 0;
  for (Index i = 0; i < m; ++i) shown += size(i) * std::abs(rows[static_cast<std::size_t>(i)].error);
  const double unit = largest + kCancelled * terms;
  return std::min(wrong + std::abs(largest - shown) / unit, largest / unit);  // at least, an error is not below 0
}

constexpr double kHolds = 1e-6;  // of the largest error: what a row that holds the plane may lack to it

int mark_of(std::uint64_t hash) { return -1 - static_cast<int>(hash % 1'999'999'999); }

std::uint64_t hash_of(const Block& block, Index i) {
  const double rest[] = {block.y[static_cast<std::size_t>(i)], block.offset_of(i)};
  const auto x = block.x.row(i);
  return hash_numbers({x.data(), static_cast<std::size_t>(x.size())}, hash_numbers(rest));
}

/// A sum over the rows that changes when two different ones change places.
struct Order {
  std::uint64_t sum = 0;
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const Index row = block.first + i;
      sum += hash_bytes(&row, sizeof row, hash_of(block, i));
    }
  }
  void merge(const Order& other) { sum += other.sum; }
};

/// The rows with these marks and an error of at least `least`.
struct Marked {
  const Plane* plane;
  const Labels* marks;
  double least;
  std::vector<Extreme> rows;
  Labels mark;

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      if (block.weight_of(i) == 0) continue;
      Extreme row{block.first + i,   0, block.weight_of(i), block.x.row(i), block.y[static_cast<std::size_t>(i)],
                  block.offset_of(i)};
      row.error = residual(row, *plane);
      if (!(std::abs(row.error) >= least)) continue;
      const int its = mark_of(hash_of(block, i));
      if (std::find(marks->begin(), marks->end(), its) == marks->end()) continue;
      rows.push_back(std::move(row));
      mark.push_back(its);
    }
  }
  void merge(const Marked& other) {
    rows.insert(rows.end(), other.rows.begin(), other.rows.end());
    mark.insert(mark.end(), other.mark.begin(), other.mark.end());
  }
};

/// The rows that hold the plane, found by their marks; nothing when one is missing, or is not where it was though all
/// rows are in the order of the fit.
std::optional<std::vector<Extreme>> holders_of(const Holders& active, const Plane& plane, double least,
                                               const Rows& rows, const Execution& execution) {
  const std::size_t count = active.rows.size();
  if (active.marks.size() != count + 1) return {};
  const Labels marks(active.marks.begin(), active.marks.begin() + static_cast<std::ptrdiff_t>(count));
  const Marked found = scan(rows, Marked{&plane, &marks, least, {}, {}}, execution);
  const bool same_order = mark_of(scan(rows, Order{}, execution).sum) == active.marks.back();
  for (std::size_t k = 0; k < count; ++k) {
    bool there = false;
    for (std::size_t i = 0; i < found.rows.size(); ++i)
      there = there || (found.mark[i] == marks[k] && (!same_order || found.rows[i].row == active.rows[k]));
    if (!there) return {};
  }
  return found.rows;
}

/// The same by their numbers alone.
std::optional<std::vector<Extreme>> rows_with_numbers(const Labels& numbers, const Plane& plane, double least,
                                                      const Rows& rows) {
  std::vector<Extreme> out;
  BlockBuffer buffer;
  for (const int row : numbers) {
    if (row < 0 || row >= rows.count()) return {};
    const Block block = rows.read(row, 1, buffer);
    out.push_back({row, 0, block.weight_of(0), block.x.row(0), block.y[0], block.offset_of(0)});
    out.back().error = residual(out.back(), plane);
    if (!(std::abs(out.back().error) >= least)) return {};
  }
  return out;
}

}  // namespace

Labels marks_of(const Labels& which, const Rows& rows, const Execution& execution) {
  Labels out;
  BlockBuffer buffer;
  for (const int row : which) out.push_back(mark_of(hash_of(rows.read(row, 1, buffer), 0)));
  out.push_back(mark_of(scan(rows, Order{}, execution).sum));
  return out;
}

Look look(const ChebyshevModel& model, const Rows& rows, const Execution& execution) {
  const Plane plane{model.intercept, model.slopes()};
  const Index most = std::max<Index>(4 * (model.width() + 2), 64);
  const Extremes found = scan(rows, Extremes(plane, most), execution.part(0, 0.5));
  Look out;
  out.largest = found.largest();
  if (!std::isfinite(out.largest) || found.rows().empty()) {
    out.gap = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  std::vector<Extreme> top;
  const double reached = out.largest * (1 - kActive) - 1e-15 * found.terms();
  for (const Extreme& row : found.rows())
    if (std::abs(row.error) >= reached) top.push_back(row);
  // Where many rows tie, those that hold the plane need not be among the first.
  const double least = out.largest * (1 - kHolds) - 1e-14 * found.terms();
  const auto holders = model.active.marks.empty() ? rows_with_numbers(model.active.rows, plane, least, rows)
                                                  : holders_of(model.active, plane, least, rows, execution);
  out.holders = holders.has_value();
  if (holders)
    for (const Extreme& holder : *holders)
      if (std::none_of(top.begin(), top.end(), [&](const Extreme& each) { return each.row == holder.row; }))
        top.push_back(holder);
  out.gap = gap_of(top, out.largest, found.terms(), model.spec.intercept);
  out.active = scan(rows, ActiveWeight{&plane, reached}, execution.part(0.5, 1)).sum;
  return out;
}

ProgrammeGap gap_of(const Look& found) {
  return {found.largest, found.gap, kTolerance, "coefficients have", "a largest error"};
}

Certificate certificate_of(const Look& found, long long rounds, bool done) {
  Certificate out = lemma::certificate_of(gap_of(found), rounds, done ? "no error above the bound" : "stopped early");
  if (!done) out.message += " The search was stopped before its end; run it again for the best plane.";
  return out;
}

}  // namespace chebyshev

Certificate certify(const ChebyshevModel& model, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution);
  const auto found = chebyshev::look(model, rows, execution.part(0, 0.8));
  Certificate out = chebyshev::certificate_of(found, 0, true);
  if (!out.holds()) {
    out.message = not_shown(chebyshev::gap_of(found));
    return out;
  }
  const LinearSolution ols =
      solve(scan(rows, LeastSquares(rows.width(), model.spec.intercept), execution.part(0.8, 1)), model.spec.tolerance);
  Comparison same;
  same.number("rank", static_cast<double>(model.rank), static_cast<double>(ols.rank(model.spec.intercept)), 0);
  for (std::size_t i = 0; i < ols.kept.size() && i < model.kept.size(); ++i)
    same.entry("kept", static_cast<Index>(i), model.kept[i], static_cast<double>(ols.kept[i]), 0);
  same.relative("objective", model.objective, found.largest);
  same.relative("n_active", model.n_active, found.active);
  same.number("active", found.holders, 1, 0);
  if (same.finding()) same.report(out);
  return out;
}

Value Codec<Holders>::write(const Holders& holders) {
  Labels all = holders.rows;
  all.insert(all.end(), holders.marks.begin(), holders.marks.end());
  return Codec<Labels>::write(all);
}

void Codec<Holders>::read(Holders& field, const Value& value, const std::string& where) {
  Labels all;
  Codec<Labels>::read(all, value, where);
  field = {};
  for (const int each : all) {
    require(each < 0 || field.marks.empty(), where + ": the numbers of rows come before their marks");
    (each < 0 ? field.marks : field.rows).push_back(each);
  }
}

void ChebyshevModel::check() const {
  Vector seen = Vector::Zero(width());
  for (const int j : kept) {
    require(j >= 0 && j < width() && seen(j) == 0 && std::isfinite(coefficients(j)),
            "chebyshev: a column that takes part is not usable");
    seen(j) = 1;
  }
  require((seen.array() == 1 || coefficients.array().isNaN()).all(),
          "chebyshev: a column has a coefficient and takes no part");
  require(std::isfinite(intercept) && (spec.intercept || intercept == 0), "chebyshev: the intercept is not usable");
  require(rank == static_cast<Index>(kept.size()) + (spec.intercept ? 1 : 0),
          "chebyshev: the rank does not fit the columns that take part");
  require(std::isfinite(objective) && objective >= 0, "chebyshev: the objective is not usable");
  require(std::is_sorted(active.rows.begin(), active.rows.end()) && (active.rows.empty() || active.rows.front() >= 0),
          "chebyshev: the active rows are not in order");
  require(active.marks.empty() || active.marks.size() == active.rows.size() + 1,
          "chebyshev: the marks do not fit the active rows");
}

Vector ChebyshevModel::slopes() const { return usable_slopes(coefficients); }

Vector ChebyshevModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  return heights(x, slopes(), intercept);
}

std::string ChebyshevModel::summary(const Names& names) const {
  require(static_cast<Index>(names.features.size()) == width(), "chebyshev: each column needs a name");
  std::vector<std::string> terms;
  std::vector<double> numbers;
  if (spec.intercept) {
    terms.emplace_back("(Intercept)");
    numbers.push_back(intercept);
  }
  for (Index j = 0; j < width(); ++j) {
    terms.push_back(names.features[static_cast<std::size_t>(j)]);
    numbers.push_back(coefficients(j));
  }
  std::string out =
      terms.empty() ? std::string("No Coefficients\n")
                    : "Coefficients:\n" + TextTable().words("", terms).numbers("Estimate", numbers, 5).str({.gap = 1});
  out += fmt::format("\nLargest error: {}, reached by {} rows", format_significant(objective),
                     format_significant(n_active));
  std::vector<std::string> rows;
  for (const int row : active.rows) rows.push_back(std::to_string(row + 1));
  return out + (rows.empty() ? "\n" : fmt::format("; held by rows {}\n", join_words(rows, 20)));
}

}  // namespace lemma
