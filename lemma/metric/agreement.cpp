// lemma/metric/agreement.cpp: how far two partitions of the same rows agree.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/metric/clustering.hpp>

namespace lemma {
namespace {

Vector row_sums(const Matrix& table) { return table.rowwise().sum(); }
Vector column_sums(const Matrix& table) { return table.colwise().sum().transpose(); }
double pairs(double n) { return n * (n - 1) / 2; }
double sum_of_pairs(const auto& counts) {
  return counts.reshaped().unaryExpr([](double n) { return pairs(n); }).sum();
}

/// −Σ (c / n) log(c / n)
double entropy(const Vector& counts) {
  const double n = counts.sum();
  double sum = 0;
  for (const double c : counts)
    if (c > 0) sum -= c / n * std::log(c / n);
  return std::max(0.0, sum);
}

/// log 0! … log n!
std::vector<double> log_factorials(Index n) {
  std::vector<double> out(static_cast<std::size_t>(n) + 1, 0.0);
  for (std::size_t i = 1; i < out.size(); ++i) out[i] = out[i - 1] + std::log(static_cast<double>(i));
  return out;
}

/// The mutual information of a table with these margins on average, when the rows are dealt at random: each cell is
/// hypergeometric (Vinh, Epps and Bailey 2010).
double expected_mutual_information(const Vector& a, const Vector& b) {
  const auto n = static_cast<Index>(a.sum());
  const auto log_factorial = log_factorials(n);
  const auto lf = [&](Index i) { return log_factorial[static_cast<std::size_t>(i)]; };
  double sum = 0;
  for (const double row : a)
    for (const double column : b) {
      const auto r = static_cast<Index>(row), c = static_cast<Index>(column);
      const double margins = lf(r) + lf(c) + lf(n - r) + lf(n - c) - lf(n);
      for (Index k = std::max<Index>(1, r + c - n); k <= std::min(r, c); ++k) {
        const double share = static_cast<double>(k) / static_cast<double>(n);
        const double log_probability = margins - lf(k) - lf(r - k) - lf(c - k) - lf(n - r - c + k);
        sum += share * std::log(share * (static_cast<double>(n) / row) * (static_cast<double>(n) / column)) *
               std::exp(log_probability);
      }
    }
  return sum;
}

int largest(const Labels& labels) {
  return labels.empty() ? 0 : std::max(0, *std::max_element(labels.begin(), labels.end()));
}

bool whole(const Matrix& table) { return (table.array() == table.array().floor()).all(); }

}  // namespace

Matrix contingency(const Labels& classes, const Labels& clusters, const VectorView& weights) {
  if (classes.size() != clusters.size())
    throw Error(fmt::format("there are {} clusters for {} rows", clusters.size(), classes.size()));
  const Vector w = detail::frequencies(static_cast<Index>(classes.size()), weights);
  const int columns = largest(clusters) + 1;
  const bool some_in_none = std::any_of(clusters.begin(), clusters.end(), [](int cluster) { return cluster < 0; });
  Matrix table = Matrix::Zero(largest(classes) + 1, columns + (some_in_none ? 1 : 0));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] < 0) throw Error(fmt::format("the class of row {} is missing", i + 1));
    table(classes[i], clusters[i] < 0 ? columns : clusters[i]) += w(static_cast<Index>(i));
  }
  return table;
}

Matrix contingency_of_clusters(Labels one, const Labels& other, const VectorView& weights) {
  const int none = largest(one) + 1;
  for (int& each : one)
    if (each < 0) each = none;
  return contingency(one, other, weights);
}

double rand_index(const Matrix& table) {
  const double all = pairs(table.sum()), together = sum_of_pairs(table);
  const double rows = sum_of_pairs(row_sums(table)), columns = sum_of_pairs(column_sums(table));
  return detail::share(all + 2 * together - rows - columns, all);
}

double adjusted_rand_index(const Matrix& table) {
  const double all = pairs(table.sum()), together = sum_of_pairs(table);
  const double rows = sum_of_pairs(row_sums(table)), columns = sum_of_pairs(column_sums(table));
  const double expected = all > 0 ? rows * columns / all : 0, most = (rows + columns) / 2;
  if (most == expected) return 1;  // both are one cluster, or both all singletons: nothing to disagree on
  return (together - expected) / (most - expected);
}

double mutual_information(const Matrix& table) {
  const double n = table.sum();
  const Vector a = row_sums(table), b = column_sums(table);
  double sum = 0;
  for (Index i = 0; i < table.rows(); ++i)
    for (Index j = 0; j < table.cols(); ++j)
      if (table(i, j) > 0) sum += table(i, j) / n * std::log(table(i, j) / n / ((a(i) / n) * (b(j) / n)));
  return std::max(0.0, sum);
}

double normalized_mutual_information(const Matrix& table) {
  const double entropies = entropy(row_sums(table)) + entropy(column_sums(table));
  return entropies == 0 ? 1 : 2 * mutual_information(table) / entropies;
}

double adjusted_mutual_information(const Matrix& table) {
  if (!whole(table)) return std::nan("");
  const Vector a = row_sums(table), b = column_sums(table);
  const double expected = expected_mutual_information(a, b), most = (entropy(a) + entropy(b)) / 2;
  if (std::abs(most - expected) <= 1e-15 * std::max(1.0, most)) return 1;
  return (mutual_information(table) - expected) / (most - expected);
}

double purity(const Matrix& table) { return detail::share(table.colwise().maxCoeff().sum(), table.sum()); }

double fowlkes_mallows(const Matrix& table) {
  const double rows = sum_of_pairs(row_sums(table)), columns = sum_of_pairs(column_sums(table));
  if (rows == 0 && columns == 0) return 1;  // all rows alone in both
  return rows == 0 || columns == 0 ? 0.0 : sum_of_pairs(table) / std::sqrt(rows) / std::sqrt(columns);
}

double variation_of_information(const Matrix& table) {
  return std::max(0.0, entropy(row_sums(table)) + entropy(column_sums(table)) - 2 * mutual_information(table));
}

double matched_share(const Matrix& table) { return detail::share(best_matching(table).total, table.sum()); }

std::vector<Measure> agreement_measures(const Labels& classes, const Labels& clusters, const VectorView& weights) {
  const Matrix table = contingency(classes, clusters, weights);
  return {
      {"adjusted_rand",
       adjusted_rand_index(table),
       "pairs of rows treated alike, beyond chance: 0 by chance, 1 at best",
       true,
       {}},
      {"rand", rand_index(table), "share of the pairs of rows that classes and clusters treat alike", true, {}},
      {"adjusted_mutual_information", adjusted_mutual_information(table), "shared information beyond chance", true, {}},
      {"normalized_mutual_information",
       normalized_mutual_information(table),
       "shared information over the mean entropy",
       true,
       {}},
      {"mutual_information", mutual_information(table), "shared information, in nats", true, {}},
      {"purity", purity(table), "share of the rows in the most frequent class of their cluster", true,
       wilson(purity(table), table.sum())},
      {"matched",
       matched_share(table),
       "share of the rows in the class that is paired with their cluster, the best pairs taken",
       true,
       {}},
      {"fowlkes_mallows",
       fowlkes_mallows(table),
       "of pairs that are together in one, the share that is so in both: geometric mean",
       true,
       {}},
      {"variation_of_information",
       variation_of_information(table),
       "information in one and not in the other, in nats: 0 of equal partitions",
       false,
       {}},
  };
}

}  // namespace lemma
