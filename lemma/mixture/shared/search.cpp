// lemma/mixture/shared/search.cpp
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/mixture/shared/search.hpp>

namespace lemma::em {
namespace {

constexpr Index kFewRows = 1 << 16;  // up to here starts run side by side, beyond it one after the other

/// A result for each start that got far enough; a cancel leaves the others empty.
std::vector<std::optional<Run>> run_all(const Rows& rows, const Plan& plan, Index k, const Execution& execution) {
  std::vector<std::optional<Run>> runs(at(plan.restarts));
  const auto run_one = [&](Index r, const Execution& part) {
    const auto start = plan.start(k, r, part.part(0, 0.1));
    runs[at(r)] = run(rows, start, plan.limits, part.part(0.1, 1));
  };
  try {
    if (plan.restarts > 1 && rows.count() <= kFewRows) {
      Quietly silent(execution.progress);
      Execution inner;
      inner.threads = execution.threads;
      inner.progress = &silent;
      parallel_for(plan.restarts, execution.part(0, 1, "starts"), [&](Index r) { run_one(r, inner); });
    } else {
      const auto n = static_cast<double>(plan.restarts);
      for (Index r = 0; r < plan.restarts; ++r)
        run_one(r, execution.part(static_cast<double>(r) / n, static_cast<double>(r + 1) / n));
    }
  } catch (const Cancelled&) {}
  return runs;
}

/// Of those that differ by rounding only the first.
Run* best_of(std::vector<std::optional<Run>>& runs, const Plan& plan) {
  Run* best = nullptr;
  for (auto& run : runs) {
    if (!run) continue;
    const double digits = best ? 1e-10 * std::abs(best->log_likelihood) : 0;
    const bool held = best && plan.held_up(best->mixture), holds = plan.held_up(run->mixture);
    const bool better =
        !best || (held && !holds) || (held == holds && run->log_likelihood > best->log_likelihood + digits);
    if (better) best = &*run;
  }
  return best;
}

}  // namespace

Search search(const Rows& rows, const Plan& plan, const Execution& execution) {
  Search out;
  const auto count = static_cast<double>(plan.components.size());
  const auto bic_of = [&](const Run& run) {
    const auto free = static_cast<double>(plan.parameters(run.mixture.weights.size()));
    return -2 * run.log_likelihood + free * std::log(plan.weight);
  };
  for (std::size_t c = 0; c < plan.components.size(); ++c) {
    auto runs = run_all(rows, plan, static_cast<Index>(plan.components[c]),
                        execution.part(static_cast<double>(c) / count, static_cast<double>(c + 1) / count));
    for (const auto& run : runs) out.cancelled = out.cancelled || !run || run->cancelled;
    Run* found = best_of(runs, plan);
    if (!found) break;
    out.tried.push_back(plan.components[c]);
    out.bic.push_back(bic_of(*found));
    const bool held = out.best && plan.held_up(out.best->mixture), holds = plan.held_up(found->mixture);
    const bool better = !out.best || (held && !holds) || (held == holds && out.bic.back() < bic_of(*out.best));
    if (better) out.best = std::move(*found);
    if (out.cancelled) break;
  }
  return out;
}

}  // namespace lemma::em
