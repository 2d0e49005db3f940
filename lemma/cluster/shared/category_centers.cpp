// lemma/cluster/shared/category_centers.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/shared/category_centers.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/cut_short.hpp>

namespace lemma {
namespace {

/// Of the rows nearest to each centre the share of the weight that has its value, in each column.
Matrix shares_of(const ColumnLosses& losses, const Matrix& centers, const AlikeRows& rows, const Vector& sizes) {
  Matrix out = Matrix::Zero(centers.rows(), centers.cols());
  const Labels to = nearest_centers(losses, centers, rows.x);
  for (Index i = 0; i < rows.x.rows(); ++i)
    for (Index j = 0; j < centers.cols(); ++j)
      if (rows.x(i, j) == centers(to[at(i)], j)) out(to[at(i)], j) += rows.w(i);
  for (Index c = 0; c < centers.rows(); ++c)
    if (sizes(c) > 0) out.row(c) /= sizes(c);
  return out;
}

}  // namespace

void CategoryCenters::check_centers(std::string_view method, Index wanted) const {
  require(k() == wanted && width() > 0, fmt::format("{}: there are not k centres", method));
  require(sizes.size() == k() && within.size() == k() && shares.rows() == k() && shares.cols() == width() &&
              centers.allFinite() && sizes.allFinite() && within.allFinite() && shares.allFinite() &&
              std::isfinite(total_within),
          fmt::format("{}: a number is not usable", method));
  require(static_cast<Index>(level_counts.size()) == width(), fmt::format("{}: the levels do not fit", method));
  Index all = 0;
  for (Index j = 0; j < width(); ++j) {
    const int count = level_counts[at(j)];
    require(count >= 0 && count < (1 << 24), fmt::format("{}: the levels do not fit", method));
    all += count;
    for (Index c = 0; c < k() && count > 0; ++c)
      require(centers(c, j) >= 0 && centers(c, j) < count && centers(c, j) == std::floor(centers(c, j)),
              fmt::format("{}: a centre has a level that there is not", method));
  }
  require(static_cast<Index>(levels.size()) == all, fmt::format("{}: the names of the levels do not fit", method));
}

std::string CategoryCenters::table(const Names& names) const {
  const Index shown = std::min<Index>(k(), 50);
  std::vector<std::string> cluster, size;
  std::vector<double> sum;
  for (Index c = 0; c < shown; ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_significant(sizes(c), 7));
    sum.push_back(within(c));
  }
  TextTable out;
  out.right("cluster", cluster).right("size", size).numbers("within", sum, 5);
  std::size_t first = 0;
  for (Index j = 0; j < width(); ++j) {
    const std::string name = at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1);
    if (holds_codes(j)) {
      std::vector<std::string> column;
      for (Index c = 0; c < shown; ++c) column.push_back(levels[first + static_cast<std::size_t>(centers(c, j))]);
      out.right(name, column);
    } else {
      const Vector column = centers.col(j).head(shown);
      out.numbers(name, {column.begin(), column.end()}, 4);
    }
    first += static_cast<std::size_t>(level_counts[at(j)]);
  }
  std::string text = out.str({.width = 100});
  if (shown < k()) text += fmt::format("... and {} more\n", k() - shown);
  return text;
}

void CategoryCenters::tell(const ColumnCenters& found, const ColumnLosses& losses, const AlikeRows& rows,
                           const Rows& named, const Execution& execution) {
  centers = found.centers;
  for (Index j = 0; j < named.width(); ++j) {
    level_counts.push_back(named.holds_codes(j) ? static_cast<int>(named.levels[at(j)].size()) : 0);
    if (named.holds_codes(j)) levels.insert(levels.end(), named.levels[at(j)].begin(), named.levels[at(j)].end());
  }
  const CenterTold told = told_of(losses, centers, rows, unheard(execution));
  sizes = told.sizes;
  within = told.within;
  total_within = told.within.sum();
  shares = shares_of(losses, centers, rows, sizes);
}

Certificate CategoryCenters::look(std::string_view method, const CenterClaim& claim, const ColumnLosses& losses,
                                  const Rows& rows, const AlikeRows& alike, const Execution& execution) const {
  for (Index j = 0; j < width(); ++j)
    require((rows.holds_codes(j) ? static_cast<int>(rows.levels[at(j)].size()) : 0) == level_counts[at(j)],
            fmt::format("{}: '{}' has other levels than the rows of the fit", method, rows.features[at(j)]));
  Certificate out = certify_centers(claim, losses, alike, execution);
  if (!out.holds()) return out;
  const Matrix expected = shares_of(losses, centers, alike, sizes);
  Comparison same;
  for (Index c = 0; c < k(); ++c)
    for (Index j = 0; j < width(); ++j)
      same.number("shares", shares(c, j), expected(c, j), 1, kAgree,
                  fmt::format("of cluster {} and {} ", c + 1, rows.features[at(j)]));
  if (!same.finding()) return out;
  same.report(out);
  out.message = fmt::format("What the model tells is not what the rows give: {}'{}' is off.", same.finding()->place,
                            same.finding()->field);
  return out;
}

}  // namespace lemma
