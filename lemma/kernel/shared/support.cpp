// lemma/kernel/shared/support.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/same_rows.hpp>
#include <lemma/kernel/shared/support.hpp>
#include <lemma/model/claim.hpp>
#include <limits>
#include <map>

namespace lemma {

double beyond_bounds(const Kernel& kernel, const KeptRows& kept, const RowNumbers& places, const Vector& beta,
                     const Points& points, const Vector& sign, const Vector& bound) {
  using Key = std::pair<std::uint64_t, bool>;
  const bool by_place = kernel.contains<Precomputed>();
  const Points carried = kept.points(kernel, places.of);
  const auto key = [&](const Points& of, Index i, bool positive) -> Key {
    return {by_place ? static_cast<std::uint64_t>(of.places()[at(i)]) : fingerprint(of, i), positive};
  };
  std::map<Key, double> allowed, used;
  for (Index j = 0; j < beta.size(); ++j)
    if (beta(j) != 0) used[key(carried, j, beta(j) > 0)] += std::abs(beta(j));
  for (Index i = 0; i < points.count(); ++i) allowed[key(points, i, sign(i) > 0)] += bound(i);
  double worst = 0;
  for (const auto& [row, sum] : used) {
    const auto found = allowed.find(row);
    if (found == allowed.end() || !(found->second > 0)) return std::numeric_limits<double>::infinity();
    const double beyond = sum / found->second - 1;
    if (!(beyond <= worst)) worst = beyond;
  }
  return worst;
}

Support support_of(const Kernel& kernel, const Points& points, const Matrix& beta) {
  std::vector<Index> carried;
  for (Index i = 0; i < beta.cols(); ++i)
    if ((beta.col(i).array() != 0).any()) carried.push_back(i);
  const Points rows = points.select(carried);
  return {KeptRows::of(kernel, rows), kept_places(kernel, rows), beta(Eigen::all, carried)};
}

Certificate gap_certificate(double gap, double tolerance, long long steps, std::string stopped) {
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "relative duality gap";
  out.value = gap;
  out.tolerance = claimed(tolerance);
  out.iterations = steps;
  out.stopped = std::move(stopped);
  out.message = fmt::format(
      "The objective exceeds the least possible one by at most {:.1e} of ½‖w‖² (allowed {:.0e}), as the multipliers "
      "prove, which are feasible for the dual.",
      out.value, out.tolerance);
  if (!out.holds() && out.value <= tolerance) out.message += ended_too_soon(tolerance);
  return out;
}

double known_to(double tolerance, double objective, const BoundKernel& support) {
  return std::sqrt(2 * tolerance * std::max(objective, 0.0) * support.diagonal().cwiseAbs().maxCoeff());
}

void require_positive(std::string_view method, const BoundKernel& kernel, const Execution& execution) {
  if (kernel.kernel().is_positive()) return;
  const GramCheck check = check_gram(kernel, execution);
  if (!check.is_positive())
    throw Error(fmt::format("{}: the matrix of the kernel {} is not positive semidefinite ({}); take another kernel",
                            method, kernel.kernel().text(), check.text()));
}

}  // namespace lemma
