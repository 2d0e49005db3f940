// lemma/linear/logistic_columns.cpp: coordinate descent on the columns of a working set.
#include <algorithm>
#include <cmath>
#include <lemma/linear/logistic_parts.hpp>
#include <lemma/linear/logistic_sparse.hpp>
#include <numeric>
#include <optional>
#include <utility>

namespace lemma::logit {
namespace {

constexpr int kMostModels = 12, kMostSweeps = 100, kMostHalvings = 30, kMostStalls = 8;
constexpr double kLittle = 0.3, kDeviations = 1, kLeastBend = 1e-12;
constexpr Index kLeastWorking = 100, kRuns = 16;

/// The columns of a working set, each in one piece: scaled values and their rows.
struct Columns {
  std::vector<Index> which, start;
  std::vector<std::int32_t> row;
  std::vector<double> value;

  /// Runs of rows count and fill their own part of each column, so that rows rise within it.
  Columns(const Csr& x, const Frame& frame, std::vector<Index> chosen, const Execution& execution)
      : which(std::move(chosen)), start(which.size() + 1, 0) {
    std::vector<std::int32_t> place(static_cast<std::size_t>(x.width), -1);
    for (std::size_t k = 0; k < which.size(); ++k)
      place[static_cast<std::size_t>(which[k])] = static_cast<std::int32_t>(k);
    const Index run_rows = std::max<Index>(1, (x.rows() + kRuns - 1) / kRuns);
    const auto each = [&](Index run, auto&& visit) {
      for (Index i = std::min(x.rows(), run * run_rows); i < std::min(x.rows(), (run + 1) * run_rows); ++i)
        for (auto k = static_cast<std::size_t>(x.start[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(x.start[static_cast<std::size_t>(i) + 1]); ++k)
          if (const auto at = place[static_cast<std::size_t>(x.column[k])]; at >= 0)
            visit(i, static_cast<std::size_t>(at), k);
    };
    std::vector<std::vector<Index>> next(kRuns, std::vector<Index>(which.size(), 0));
    parallel_for(kRuns, execution, [&](Index run) {
      auto& count = next[static_cast<std::size_t>(run)];
      each(run, [&](Index, std::size_t at, std::size_t) { ++count[at]; });
    });
    Index total = 0;
    for (std::size_t at = 0; at < which.size(); ++at) {
      start[at] = total;
      for (auto& of_run : next) total += std::exchange(of_run[at], total);
    }
    start.back() = total;
    row.resize(static_cast<std::size_t>(total));
    value.resize(row.size());
    parallel_for(kRuns, execution, [&](Index run) {
      auto& to = next[static_cast<std::size_t>(run)];
      each(run, [&](Index i, std::size_t at, std::size_t k) {
        const auto here = static_cast<std::size_t>(to[at]++);
        row[here] = static_cast<std::int32_t>(i);
        value[here] = x.value[k] * frame.inverse_scale(x.column[k]);
      });
    });
  }
  std::size_t size() const { return which.size(); }
  std::size_t first(std::size_t k) const { return static_cast<std::size_t>(start[k]); }
  std::size_t last(std::size_t k) const { return static_cast<std::size_t>(start[k + 1]); }
};

/// The problem of the working set: β of its columns and of the intercept, η of all rows kept beside them.
class Working {
 public:
  Working(const SparseLoss& loss, const PenaltyTerm& penalty, const Columns& columns, Vector& beta, Vector& eta)
      : loss_(loss), frame_(loss.frame()), penalty_(penalty), columns_(columns), beta_(beta), eta_(eta) {}

  /// Quadratic models, each nearly minimised by coordinate descent and followed by a line search, until one promises
  /// less than `share` of what the first did.
  void minimise(double share) {
    double objective = loss_.rows_loss(eta_, residual_, curvature_) + penalty_.value(frame_, beta_);
    double enough = 0;
    for (int model = 0; model < kMostModels; ++model) {
      slopes_ = residual_;
      descend();
      double promised = 0;
      const double found = search(objective, promised), fell = objective - found;
      objective = found;
      if (model == 0) enough = share * promised;
      const double enough = out.iterations == 0 ? 1e-4 : 1e-3;
      Working(loss, penalty, *columns, out.beta, eta).minimise(enough);
    }
    return out;
  }

}  // namespace lemma::logit
