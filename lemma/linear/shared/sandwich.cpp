// lemma/linear/shared/sandwich.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/shared/sandwich.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/multiply.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

/// R's rule: a leverage this near to 1 is 1.
constexpr double kWhole = 1 - 10 * std::numeric_limits<double>::epsilon();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// z = (1/√Σw, R⁻ᵀ(x − mean)) of each row.
Matrix coordinates(const MatrixView& x, const CentredTriangle& of) {
  const Matrix slopes = whitened_rows(x, of);
  if (of.constant == 0) return slopes;
  Matrix out(x.rows(), slopes.cols() + 1);
  out.col(0).setConstant(std::sqrt(of.constant));
  out.rightCols(slopes.cols()) = slopes;
  return out;
}

using Parts = std::function<ScoreParts(const Block&)>;

/// Σ ω z zᵀ, row by row.
struct RowScatter {
  StandardErrors errors;
  const CentredTriangle* of;
  const Parts* parts;
  Matrix sum;
  Index whole = 0;

  void accumulate(const Block& block) {
    Matrix z = coordinates(block.x, *of);
    const ScoreParts each = (*parts)(block);
    const int power = errors == StandardErrors::hc3 ? 2 : errors == StandardErrors::hc2 ? 1 : 0;
    for (Index i = 0; i < z.rows(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      double root = std::sqrt(each.frequency[k]) * each.weight[k] * std::abs(each.residual[k]);
      if (each.frequency[k] == 0) root = 0;
      if (power > 0 && each.frequency[k] > 0) {
        const double h = each.weight[k] * z.row(i).squaredNorm();
        if (h > kWhole) {
          ++whole;
          root = 0;
        } else {
          root /= power == 2 ? 1 - h : std::sqrt(1 - h);
        }
      }
      z.row(i) *= root;
    }
    Matrix own = Matrix::Zero(sum.rows(), sum.cols());
    blas::gram(z, own);
    sum += own;
  }
  void merge(const RowScatter& other) {
    sum += other.sum;
    whole += other.whole;
  }
};

/// The summed scores of each cluster seen, the clusters rising.
struct ClusterSums {
  const CentredTriangle* of;
  const Parts* parts;
  std::vector<std::uint64_t> ids;
  Matrix sums;

  void accumulate(const Block& block) {
    const Matrix z = coordinates(block.x, *of);
    const ScoreParts each = (*parts)(block);
    std::vector<Index> order;
    for (Index i = 0; i < z.rows(); ++i)
      if (each.frequency[static_cast<std::size_t>(i)] > 0) order.push_back(i);
    const auto id = [&](Index i) { return block.cluster[static_cast<std::size_t>(i)]; };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return id(a) < id(b); });
    ClusterSums own{of, parts, {}, Matrix(static_cast<Index>(order.size()), z.cols())};
    for (const Index i : order) {
      const auto k = static_cast<std::size_t>(i);
      if (own.ids.empty() || own.ids.back() != id(i)) {
        own.ids.push_back(id(i));
        own.sums.row(static_cast<Index>(own.ids.size()) - 1).setZero();
      }
      own.sums.row(static_cast<Index>(own.ids.size()) - 1) +=
          each.frequency[k] * each.weight[k] * each.residual[k] * z.row(i);
    }
    own.sums.conservativeResize(static_cast<Index>(own.ids.size()), z.cols());
    merge(own);
  }
  void merge(const ClusterSums& other) {
    std::vector<std::uint64_t> all;
    std::set_union(ids.begin(), ids.end(), other.ids.begin(), other.ids.end(), std::back_inserter(all));
    Matrix joined = Matrix::Zero(static_cast<Index>(all.size()), sums.cols());
    for (const ClusterSums* side : {static_cast<const ClusterSums*>(this), &other})
      for (std::size_t at = 0, i = 0; i < side->ids.size(); ++i) {
        while (all[at] != side->ids[i]) ++at;
        joined.row(static_cast<Index>(at)) += side->sums.row(static_cast<Index>(i));
      }
    ids = std::move(all);
    sums = std::move(joined);
  }
};

}  // namespace

StandardErrors chosen_errors(std::string_view method, const std::optional<StandardErrors>& asked, const Rows& rows) {
  const auto by_default = rows.has_clusters ? StandardErrors::cluster : StandardErrors::classical;
  const StandardErrors out = asked.value_or(by_default);
  if (out == StandardErrors::cluster && !rows.has_clusters)
    throw Error(
        fmt::format("{}: errors cluster need the column that tells the clusters; name it by --cluster", method));
  if (out != StandardErrors::cluster && rows.has_clusters)
    throw Error(fmt::format("{}: --cluster is for errors cluster, and errors {} were asked for", method, name_of(out)));
  return out;
}

ScoreScatter score_scatter(StandardErrors errors, const CentredTriangle& of, const Parts& parts, double small_sample,
                           const Rows& rows, const Execution& execution) {
  const Index size = of.triangle.rows() + (of.constant > 0 ? 1 : 0);
  if (errors == StandardErrors::cluster) {
    const auto found = scan(rows, ClusterSums{&of, &parts, {}, Matrix(0, size)}, execution);
    ScoreScatter out{gram(found.sums, execution), static_cast<Index>(found.ids.size()), 0};
    const auto g = static_cast<double>(out.clusters);
    out.scatter *= g > 1 ? g / (g - 1) * small_sample : kNone;
    return out;
  }
  auto found = scan(rows, RowScatter{errors, &of, &parts, Matrix::Zero(size, size), 0}, execution);
  ScoreScatter out{found.sum.selfadjointView<Eigen::Upper>(), 0, found.whole};
  if (errors == StandardErrors::hc1) out.scatter *= small_sample;
  if (out.whole > 0) out.scatter.setConstant(kNone);
  return out;
}

/// (b₀, b) = L z with L = [1/√Σw  −meanᵀR⁻¹; 0  R⁻¹] for z in the coordinates of the scatter.
Matrix sandwich(const Matrix& scatter, const CentredTriangle& of) {
  const Index k = of.triangle.rows(), lead = of.constant > 0 ? 1 : 0;
  Matrix inverse = Matrix::Identity(k, k), to_users = Matrix::Zero(k + lead, k + lead);
  blas::solve_upper(blas::Op::plain, of.triangle, inverse);
  to_users.bottomRightCorner(k, k) = inverse;
  if (lead == 1) {
    const Vector mean = of.mean(of.kept);
    to_users(0, 0) = std::sqrt(of.constant);
    to_users.row(0).tail(k) = -(inverse.transpose() * mean).transpose();
  }
  const Matrix out = to_users * scatter * to_users.transpose();
  return 0.5 * (out + out.transpose());
}

Vector sandwich_form(const MatrixView& x, const Matrix& scatter, const CentredTriangle& of) {
  const Matrix z = coordinates(x, of);
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {  // a row's number depends on that row alone
    double sum = 0;
    for (Index a = 0; a < z.cols(); ++a) {
      double along = 0;
      for (Index b = 0; b < z.cols(); ++b) along += scatter(a, b) * z(i, b);
      sum += z(i, a) * along;
    }
    out(i) = std::max(sum, 0.0);
  }
  return out;
}

void warn_of_errors(StandardErrors errors, const ScoreScatter& found, Index rank, std::vector<std::string>& warnings) {
  if (found.whole > 0)
    warnings.push_back(fmt::format(
        "{} alone determine{} {} fit (leverage 1), and errors {} divide by 1 - leverage: there are no standard errors; "
        "use --errors HC1",
        count_of(found.whole, "row"), found.whole == 1 ? "s" : "", found.whole == 1 ? "its" : "their",
        name_of(errors)));
  if (errors != StandardErrors::cluster) return;
  if (found.clusters < 2) warnings.emplace_back("there is one cluster only, so there are no standard errors");
  else if (found.clusters <= rank)
    warnings.push_back(
        fmt::format("{} for {} coefficients: these cannot be tested together, and their standard errors are rough",
                    count_of(found.clusters, "cluster"), rank));
}

std::string errors_line(StandardErrors errors, Index clusters, std::optional<double> df) {
  if (errors == StandardErrors::classical) return "";
  if (errors != StandardErrors::cluster)
    return fmt::format("Standard errors: {}, robust against unequal variances\n", name_of(errors));
  const std::string tests =
      df && *df > 0 ? fmt::format("; t on {} degrees of freedom", format_significant(*df, 7)) : "";
  return fmt::format("Standard errors: by {}{}\n", count_of(clusters, "cluster"), tests);
}

double wald_statistic(const Vector& b, const Matrix& covariance) {
  if (b.size() == 0 || !covariance.allFinite()) return kNone;
  const Vector scale = covariance.diagonal().cwiseSqrt();
  if (!(scale.array() > 0).all()) return kNone;
  const auto root =
      cholesky(Matrix(scale.cwiseInverse().asDiagonal() * covariance * scale.cwiseInverse().asDiagonal()));
  if (!root || (root->diagonal().array() < 1e-7).any()) return kNone;
  return solve_upper_transposed(*root, Matrix(b.cwiseQuotient(scale))).squaredNorm();
}

}  // namespace lemma
