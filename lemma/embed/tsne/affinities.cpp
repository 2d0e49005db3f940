// lemma/embed/tsne/affinities.cpp: how near rows are, in units of each row's own neighbourhood.
#include <algorithm>
#include <cmath>
#include <lemma/embed/tsne/parts.hpp>
#include <lemma/math/simd.hpp>
#include <numeric>

namespace lemma::tsne {
namespace {

constexpr double kVanishes = 800;      // exp(−800) is 0
constexpr double kNearEnough = 1e-13;  // of the entropy
constexpr int kMostSteps = 200;

/// p_j ∝ exp(−β g_j) of g ≥ 0 with least 0, its entropy, and the slope of that along log β.
struct Neighbourhood {
  std::vector<double> p;
  double entropy = 0, slope = 0;

  void find(const std::vector<double>& g, double beta) {
    p.resize(g.size());
    for (std::size_t j = 0; j < g.size(); ++j) p[j] = -beta * g[j];
    simd::exp(p, p);
    double sum = 0, mean = 0, square = 0;
    for (std::size_t j = 0; j < g.size(); ++j) {
      sum += p[j];
      mean += p[j] * g[j];
      square += p[j] * g[j] * g[j];
    }
    mean /= sum, square /= sum;
    for (double& each : p) each /= sum;
    entropy = std::log(sum) + beta * mean;
    slope = -beta * beta * std::max(0.0, square - mean * mean);
  }
};

/// β with the entropy of that perplexity: Newton along log β, halving where that leads out of the bracket. Of rows that have more equally
/// near ones than the perplexity the β at which all others vanish; true then.
bool find_beta(const std::vector<double>& g, double perplexity, double& beta, Neighbourhood& around) {
  const auto equal = static_cast<double>(std::count(g.begin(), g.end(), 0.0));
  double least = 0;
  for (const double each : g)
    if (each > 0 && (least == 0 || each < least)) least = each;
  if (equal >= perplexity || least == 0) {
    beta = least > 0 ? kVanishes / least : 1;
    around.find(g, beta);
    return true;
  }
  const double wanted = std::log(perplexity);
  double low = std::log(1e-18), high = std::log(kVanishes / least);
  double t = std::clamp(-std::log(std::accumulate(g.begin(), g.end(), 0.0) / static_cast<double>(g.size())), low, high);
  for (int step = 0; step < kMostSteps; ++step) {
    around.find(g, std::exp(t));
    const double off = around.entropy - wanted;
    if (std::abs(off) <= kNearEnough * wanted) break;
    (off > 0 ? low : high) = t;
    const double next = around.slope < 0 ? t - off / around.slope : low - 1;
    const double to = next > low && next < high ? next : 0.5 * (low + high);
    if (to == t) break;
    t = to;
  }
  beta = std::exp(t);
  return false;
}

}  // namespace

void for_each_row_seen(const Compared& data, TsneForces forces, double perplexity, SearchBy search,
                       const Execution& execution, const std::function<void(Index, Seen)>& visit) {
  const Index n = data.count();
  if (forces == TsneForces::exact) {
    const Dissimilarities& all = data.dissimilarities;
    parallel_for(n, execution, [&](Index i) {
      Seen seen{std::vector<std::int32_t>(at(n)), std::vector<double>(at(n))};
      all.row(i, seen.distance);
      std::iota(seen.row.begin(), seen.row.end(), 0);
      seen.row.erase(seen.row.begin() + i);
      seen.distance.erase(seen.distance.begin() + i);
      visit(i, std::move(seen));
    });
    return;
  }
  const Index near = std::min(n - 1, static_cast<Index>(std::ceil(3 * perplexity)));
  const NeighborLists lists = nearest_things(data, near, search, execution.part(0, 0.8));
  parallel_for(n, execution.part(0.8, 1), [&](Index i) {
    const auto rows = lists.rows_of(i);
    const auto far = lists.distances_of(i);
    visit(i, {{rows.begin(), rows.end()}, {far.begin(), far.end()}});
  });
}

Matrix symmetric(const Matrix& conditional, const Execution& execution) {
  Matrix p = conditional;
  const Index n = p.rows();
  parallel_for(n, execution, [&](Index i) {  // a pair belongs to its first row
    for (Index j = i + 1; j < n; ++j) p(i, j) = p(j, i) = (p(i, j) + p(j, i)) / (2 * static_cast<double>(n));
  });
  return p;
}

Csr symmetric(const std::vector<Seen>& seen, const std::vector<std::vector<double>>& conditional) {
  const std::size_t n = seen.size();
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows(n);
  const double share = 1 / (2 * static_cast<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < seen[i].row.size(); ++k) {
      rows[i].emplace_back(seen[i].row[k], share * conditional[i][k]);
      rows[at(seen[i].row[k])].emplace_back(static_cast<std::int32_t>(i), share * conditional[i][k]);
    }
  Csr out;
  out.width = static_cast<Index>(n);
  out.start.push_back(0);
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k].first == row[k - 1].first) {
        out.value.back() += row[k].second;
      } else {
        out.column.push_back(row[k].first);
        out.value.push_back(row[k].second);
      }
    }
    out.start.push_back(static_cast<Index>(out.column.size()));
    row = {};
  }
  return out;
}

Affinities affinities_of(const Compared& data, TsneForces forces, double perplexity, const Execution& execution) {
  const Index n = data.count();
  const bool exact = forces == TsneForces::exact;
  Affinities out;
  out.bandwidths.resize(n);
  Matrix conditional = exact ? Matrix::Zero(n, n) : Matrix();
  std::vector<Seen> near(exact ? 0 : at(n));
  std::vector<std::vector<double>> shares(near.size());
  std::vector<char> crowded(at(n), 0);
  for_each_row_seen(data, forces, perplexity, SearchBy::automatic, execution.part(0, 0.9), [&](Index i, Seen seen) {
    const auto [least, most] = std::minmax_element(seen.distance.begin(), seen.distance.end());
    const double unit = *most > 0 ? *most : 1, first = *least / unit;
    std::vector<double> g;
    for (const double d : seen.distance) g.push_back((d / unit - first) * (d / unit + first));
    double beta = 1;
    Neighbourhood around;
    crowded[at(i)] = find_beta(g, perplexity, beta, around);
    out.bandwidths(i) = unit / std::sqrt(2 * beta);
    if (exact) {
      for (std::size_t k = 0; k < seen.row.size(); ++k) conditional(i, seen.row[k]) = around.p[k];
    } else {
      near[at(i)] = std::move(seen);
      shares[at(i)] = std::move(around.p);
    }
  });
  out.crowded = std::accumulate(crowded.begin(), crowded.end(), Index{0});
  if (exact) out.dense = symmetric(conditional, execution.part(0.9, 1));
  else out.sparse = symmetric(near, shares);
  return out;
}

double negative_entropy(const Affinities& p) {
  double sum = 0;
  const auto add = [&](double each) { sum += each > 0 ? each * std::log(each) : 0; };
  for (Index i = 0; i < p.dense.rows(); ++i)
    for (Index j = 0; j < p.dense.cols(); ++j) add(p.dense(i, j));
  for (const double each : p.sparse.value) add(each);
  return sum;
}

}  // namespace lemma::tsne
