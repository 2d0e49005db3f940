// lemma/density/shared/rows.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/density/shared/rows.hpp>
#include <numeric>

namespace lemma::density {

DensityRows density_rows(std::string_view method, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.5));
  Matrix all = gather(rows, execution.part(0.5, 1));
  std::vector<double> weight(at(rows.count()), 1.0);
  if (rows.has_weights)
    for_each_block(rows, execution.part(1, 1), [&](const Block& block) {
      for (Index i = 0; i < block.rows(); ++i) weight[at(block.first + i)] = block.weight_of(i);
    });
  std::vector<Index> counting;
  for (Index i = 0; i < rows.count(); ++i)
    if (weight[at(i)] > 0) counting.push_back(i);
  if (counting.empty()) throw Error(fmt::format("{}: all weights are 0, so there are no rows to learn from", method));
  const auto n = static_cast<Index>(counting.size());
  DensityRows out{n == rows.count() ? std::move(all) : Matrix(all(counting, Eigen::all)), Vector(n), 0};
  for (Index i = 0; i < out.count(); ++i) out.weight(i) = weight[at(counting[at(i)])];
  for (const double w : out.weight) out.mass += w;
  return out;
}

SortedColumn::SortedColumn(const DensityRows& rows, Index column) {
  std::vector<Index> order(at(rows.count()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return rows.x(a, column) < rows.x(b, column); });
  for (const Index i : order) {
    if (value.empty() || value.back() != rows.x(i, column)) {
      value.push_back(rows.x(i, column));
      weight.push_back(0);
    }
    weight.back() += rows.weight(i);
  }
  for (const double w : weight) mass += w;
}

double SortedColumn::at_place(double place) const {
  double end = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    end += weight[i];
    if (place < end) return value[i];
  }
  return value.back();
}

double SortedColumn::quantile(double p) const {
  const double place = std::max(0.0, (mass - 1) * p), low = std::floor(place);
  const double below = at_place(low), above = at_place(low + 1);
  return below + (place - low) * (above - below);
}

double SortedColumn::standard_deviation() const {
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < value.size(); ++i) mean += weight[i] / mass * value[i];
  for (std::size_t i = 0; i < value.size(); ++i) squares += weight[i] * (value[i] - mean) * (value[i] - mean);
  return mass > 1 ? std::sqrt(squares / (mass - 1)) : 0;
}

void require_spread(std::string_view method, const DensityRows& rows, const std::vector<std::string>& features,
                    std::string_view or_else) {
  if (rows.mass <= 1)
    throw Error(fmt::format("{}: one row leaves no density; give at least 2 different ones{}", method, or_else));
  for (Index j = 0; j < rows.width(); ++j)
    if (rows.x.col(j).minCoeff() == rows.x.col(j).maxCoeff())
      throw Error(fmt::format("{}: '{}' has the same value in all rows, which leaves no density; leave it out{}",
                              method, features[at(j)], or_else));
}

}  // namespace lemma::density
