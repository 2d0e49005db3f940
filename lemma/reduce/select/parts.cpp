// lemma/reduce/select/parts.cpp
#include <lemma/reduce/select/parts.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/math/distributions.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace lemma::filters {

Columns columns_of(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution);
  std::vector<Index> kept;
  std::vector<double> weight, y;
  Columns out;
  BlockBuffer buffer;
  for (Index first = 0, size = block_rows(rows); first < rows.count(); first += size) {
    const Block block = rows.outcome(first, std::min(size, rows.count() - first), buffer);
    const Index count = std::min(size, rows.count() - first);
    for (Index i = 0; i < count; ++i) {
      if (block.weight_of(i) == 0) continue;
      kept.push_back(first + i);
      weight.push_back(block.weight_of(i));
      if (!rows.classes.empty()) out.label.push_back(block.label[at(i)]);
      else y.push_back(block.y[at(i)]);
    }
  }
  require(!kept.empty(), "select: all weights are 0, so there are no rows to learn from");
  const Matrix x = gather(rows, execution);
  const auto n = static_cast<Index>(kept.size());
  out.x.resize(n, rows.width());
  for (Index i = 0; i < n; ++i) out.x.row(i) = x.row(kept[at(i)]);
  for (Index j = 0; j < rows.width(); ++j)
    out.levels.push_back(rows.holds_codes(j) ? static_cast<Index>(rows.levels[at(j)].size()) : 0);
  out.names = rows.features;
  out.classes = static_cast<Index>(rows.classes.size());
  out.y = Eigen::Map<const Vector>(y.data(), static_cast<Index>(y.size()));
  out.w = Eigen::Map<const Vector>(weight.data(), n);
  out.weighted = rows.has_weights;
  out.target = rows.target;
  return out;
}

Filter resolved(const Filter& filter, const Columns& columns) {
  if (!std::holds_alternative<AutoFilter>(filter)) return filter;
  if (columns.classes > 0) return AnovaFilter{};
  return CorrelationFilter{};
}

void require_suits(const Filter& filter, const Columns& c) {
  const auto name = name_of(filter);
  const bool of_two = std::holds_alternative<TFilter>(filter) || std::holds_alternative<WelchFilter>(filter) ||
                      std::holds_alternative<FisherFilter>(filter) || std::holds_alternative<ThresholdFilter>(filter) ||
                      std::holds_alternative<MarginFilter>(filter) || std::holds_alternative<AucFilter>(filter);
  const std::string response = c.classes == 0 ? "numbers" : fmt::format("{} classes", c.classes);
  if (of_two && c.classes != 2)
    throw Error(fmt::format("select: the filter {} compares two classes, and '{}' is {}; use {}", name, c.target,
                            response, c.classes == 0 ? "correlation" : "anova"));
  if (std::holds_alternative<AnovaFilter>(filter) && c.classes == 0)
    throw Error(
        fmt::format("select: the filter anova compares classes, and '{}' is numbers; use correlation", c.target));
  if (std::holds_alternative<CorrelationFilter>(filter) && c.classes > 2)
    throw Error(fmt::format("select: the filter correlation is for numbers or two classes, and '{}' is {}; use anova",
                            c.target, response));
  if (std::holds_alternative<NeighborInformationFilter>(filter) && c.weighted)
    throw Error("select: the filter neighbor_information takes no weights: k copies of a row are its own neighbours");
  for (Index k = 0; k < c.classes; ++k) {
    double weight = 0;
    for (Index i = 0; i < c.rows(); ++i) weight += c.label[at(i)] == k ? c.w(i) : 0;
    if (of_two && !(weight > 1))
      throw Error(fmt::format("select: the filter {} needs two rows of each class, and class {} of '{}' has {:g}", name,
                              k + 1, c.target, weight));
    if (const auto* margin = std::get_if<MarginFilter>(&filter); margin && !(weight > margin->ignore))
      throw Error(fmt::format("select: filter.ignore = {} leaves nothing of a class of {:g} rows; take less",
                              margin->ignore, weight));
  }
  require(c.rows() > 1, "select: one row tells nothing of a column; there must be two or more");
}

std::vector<double> cuts_of(const VectorView& values, const Vector& w, int bins) {
  std::vector<Index> order(at(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values(a) < values(b); });
  std::vector<double> distinct, above;  // each value, and the weight up to it
  double total = 0;
  for (const Index i : order) {
    total += w(i);
    if (distinct.empty() || values(i) > distinct.back()) {
      distinct.push_back(values(i));
      above.push_back(total);
    }
    above.back() = total;
  }
  if (static_cast<int>(distinct.size()) <= bins) {
    distinct.pop_back();
    return distinct;
  }
  std::vector<double> cuts;
  for (int b = 1; b < bins; ++b) {
    const double wanted = total * b / bins;
    const auto v = static_cast<std::size_t>(std::lower_bound(above.begin(), above.end(), wanted) - above.begin());
    const bool between = above[v] == wanted && v + 1 < distinct.size();
    cuts.push_back(between ? distinct[v] + (distinct[v + 1] - distinct[v]) / 2 : distinct[v]);
  }
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

Binned binned(const VectorView& values, const std::vector<double>& cuts) {
  Binned out;
  out.count = static_cast<Index>(cuts.size()) + 1;
  out.bin.reserve(at(values.size()));
  for (const double value : values)
    out.bin.push_back(static_cast<int>(std::lower_bound(cuts.begin(), cuts.end(), value) - cuts.begin()));
  return out;
}

Binned binned(const Columns& c, Index j, int bins) {
  if (c.levels[at(j)] == 0) return binned(c.x.col(j), cuts_of(c.x.col(j), c.w, bins));
  Binned out{{}, c.levels[at(j)]};
  for (const double code : c.x.col(j)) out.bin.push_back(static_cast<int>(code));
  return out;
}

Binned binned_response(const Columns& c, int bins) {
  if (c.classes > 0) return {{c.label.begin(), c.label.end()}, c.classes};
  return binned(c.y, cuts_of(c.y, c.w, bins));
}

Matrix counts_of(const Binned& a, const Binned& b, const Vector& w) {
  Matrix out = Matrix::Zero(a.count, b.count);
  for (Index i = 0; i < w.size(); ++i) out(a.bin[at(i)], b.bin[at(i)]) += w(i);
  return out;
}

double entropy(const VectorView& counts) {
  const double n = counts.sum();
  double out = 0;
  for (const double count : counts)
    if (count > 0) out -= count / n * std::log(count / n);
  return out;
}

double information(const Matrix& counts) {
  return entropy(counts.rowwise().sum()) + entropy(counts.colwise().sum().transpose()) -
         entropy(Eigen::Map<const Vector>(counts.data(), counts.size()));
}

double degrees_of(const Matrix& counts) {
  const auto rows = (counts.rowwise().sum().array() > 0).count(),
             columns = (counts.colwise().sum().array() > 0).count();
  return static_cast<double>((rows - 1) * (columns - 1));
}

double chi_squared(const Matrix& counts) {
  const double n = counts.sum();
  double out = 0;
  for (Index i = 0; i < counts.rows(); ++i)
    for (Index k = 0; k < counts.cols(); ++k) {
      const double expected = counts.row(i).sum() / n * counts.col(k).sum();
      if (expected > 0) out += (counts(i, k) - expected) * (counts(i, k) - expected) / expected;
    }
  return out;
}

double unit_of(double deviation) { return std::exp2(std::round(std::log2(deviation))); }

std::vector<double> digammas(Index n) {
  constexpr double kEuler = 0.57721566490153286061;
  std::vector<double> out(at(n) + 1, -kEuler);
  for (Index m = 2; m <= n; ++m) out[at(m)] = out[at(m - 1)] + 1.0 / static_cast<double>(m - 1);
  return out;
}

ClassSums class_sums(const Columns& c, Index j) {
  ClassSums out{Vector::Zero(c.classes), Vector::Zero(c.classes), Vector::Zero(c.classes)};
  for (Index i = 0; i < c.rows(); ++i) {
    out.weight(c.label[at(i)]) += c.w(i);
    out.mean(c.label[at(i)]) += c.w(i) * c.x(i, j);
  }
  for (Index k = 0; k < c.classes; ++k) out.mean(k) /= out.weight(k) > 0 ? out.weight(k) : 1.0;
  for (Index i = 0; i < c.rows(); ++i) {
    const double d = c.x(i, j) - out.mean(c.label[at(i)]);
    out.squares(c.label[at(i)]) += c.w(i) * d * d;
  }
  return out;
}

Tested t_of(double n0, double m0, double ss0, double n1, double m1, double ss1) {
  const double df = n0 + n1 - 2, spread = std::sqrt((ss0 + ss1) / df * (1 / n0 + 1 / n1));
  if (!(spread > 0)) return {0, 1};
  return {(m1 - m0) / spread, t_two_sided((m1 - m0) / spread, df)};
}

Tested welch_of(double n0, double m0, double ss0, double n1, double m1, double ss1) {
  const double v0 = ss0 / (n0 - 1) / n0, v1 = ss1 / (n1 - 1) / n1;
  if (!(v0 + v1 > 0)) return {0, 1};
  const double s0 = v0 / (v0 + v1), s1 = v1 / (v0 + v1);
  const double df = 1 / (s0 * s0 / (n0 - 1) + s1 * s1 / (n1 - 1)), t = (m1 - m0) / std::sqrt(v0 + v1);
  return {t, t_two_sided(t, df)};
}

Tested f_of(double between, double within, double groups, double n) {
  if (!(within > 0) || !(groups > 1) || !(n > groups)) return {0, 1};
  const double f = between / (groups - 1) / (within / (n - groups));
  return {f, f_upper(f, groups - 1, n - groups)};
}

Tested correlation_test(double r, double n) {
  if (!(n > 2)) return {r, 1};
  if (!(std::abs(r) < 1)) return {r, 0};
  return {r, t_two_sided(r * std::sqrt((n - 2) / ((1 - r) * (1 + r))), n - 2)};
}

double merit(const Filter& filter, double score) {
  if (std::holds_alternative<ThresholdFilter>(filter)) return -score;
  if (std::holds_alternative<AucFilter>(filter)) return std::abs(score - 0.5);
  const bool has_sign = std::holds_alternative<TFilter>(filter) || std::holds_alternative<WelchFilter>(filter) ||
                        std::holds_alternative<CorrelationFilter>(filter);
  return has_sign ? std::abs(score) : score;
}

std::vector<Index> order_by(const Filter& filter, const Vector& scores) {
  std::vector<Index> order(at(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return merit(filter, scores(a)) > merit(filter, scores(b)); });
  return order;
}

Scores each_column(const Filter& filter, const Columns& columns, const Execution& execution,
                   const std::function<Tested(Index)>& test) {
  Scores out;
  out.scores.resize(columns.width());
  if (has_p_values(filter)) out.p_values.resize(columns.width());
  parallel_for(columns.width(), execution, [&](Index j) {
    const Tested found = test(j);
    if (!std::isfinite(found.statistic))
      throw Error(fmt::format("select: the values of '{}' are beyond what can be computed with; use another unit",
                              columns.names[at(j)]));
    out.scores(j) = found.statistic;
    if (out.p_values.size() > 0) out.p_values(j) = found.p;
  });
  out.order = order_by(filter, out.scores);
  return out;
}

Scores choose_incrementally(const IncrementalFilter& filter, Index width, Index most, const Informed& by,
                            const std::vector<Index>* follow, const Execution& execution) {
  Vector relevant(width), shared = Vector::Zero(width);
  parallel_for(width, execution, [&](Index j) { relevant(j) = by.relevance(j); });
  Scores out;
  out.scores.resize(width);
  std::vector<bool> chosen(at(width));
  const auto others = [&] {
    std::vector<Index> left;
    for (Index j = 0; j < width; ++j)
      if (!chosen[at(j)]) left.push_back(j);
    std::stable_sort(left.begin(), left.end(), [&](Index a, Index b) { return out.scores(a) > out.scores(b); });
    return left;
  };
  const auto rescore = [&](Index step) {
    const double beta = filter.beta.value_or(step > 0 ? 1.0 / static_cast<double>(step) : 0.0);
    for (Index j = 0; j < width; ++j)
      if (!chosen[at(j)]) out.scores(j) = relevant(j) - beta * shared(j);
  };
  for (Index step = 0; step < std::min(most, width); ++step) {
    rescore(step);
    const Index best = others().front(), taken = follow ? (*follow)[at(step)] : best;
    out.shortfall = std::max(out.shortfall, out.scores(best) - out.scores(taken));
    chosen[at(taken)] = true;
    out.order.push_back(taken);
    parallel_for(width, execution, [&](Index j) {
      if (!chosen[at(j)]) shared(j) += by.redundancy(j, taken);
    });
  }
  rescore(std::min(most, width));
  const auto left = others();
  out.order.insert(out.order.end(), left.begin(), left.end());
  return out;
}

Vector adjusted(const Vector& p_values) {
  const Index m = p_values.size();
  std::vector<Index> order(at(m));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return p_values(a) < p_values(b); });
  Vector out(m);
  double least = 1;
  for (Index r = m; r-- > 0;) {
    least = std::min(least, p_values(order[at(r)]) * static_cast<double>(m) / static_cast<double>(r + 1));
    out(order[at(r)]) = least;
  }
  return out;
}

}  // namespace lemma::filters
