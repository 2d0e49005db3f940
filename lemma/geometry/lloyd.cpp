// lemma/geometry/lloyd.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/lloyd.hpp>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kBelow = 1 - 1e-6, kAbove = 1 + 1e-6;  // far more than float64 rounds, and no loss as a bound

/// What is remembered of every row from one iteration to the next.
struct RowMemory {
  std::vector<int> label;    // −1 before the first assignment
  std::vector<float> lower;  // no other centre is nearer than this, in the frame's units

  explicit RowMemory(Index rows)
      : label(static_cast<std::size_t>(rows), -1), lower(static_cast<std::size_t>(rows), 0) {}
};

/// The second least of the true squared distances is at least this.
double squared_bound(double score, double squared_norm, double error, double norm_error) {
  return std::max(0.0, squared_norm * (1 - norm_error) + 2 * (score - error));
}
double norm_of(double squared_norm) { return std::sqrt(squared_norm) * 1.001; }

/// The centres of an iteration and the bounds that hold for them.
class Search {
 public:
  Search(Matrix centers, const simd::Frame& frame, const Vector& moved)
      : centers_(std::move(centers)), plain_(centers_), filter_(centers_, frame), frame_(frame) {
    bound_by_other_centers();
    bound_by_movement(moved);
  }
  const Matrix& centers() const { return centers_; }
  const simd::Frame& frame() const { return frame_; }

  /// Lets the row's lower bound fall by what the centres moved, and says whether the row surely stays where it is.
  bool settled(int label, double own_distance, float& lower) const {
    const auto k = static_cast<Index>(label);
    lower = static_cast<float>(std::max(0.0, (lower - drift_(k)) * kBelow));
    const double bound = std::max(static_cast<double>(lower) * lower, near_(k));
    return own_distance * frame_.scale * frame_.scale < bound * kBelow;
  }

  /// New labels and lower bounds for these rows of the block.
  void assign(const Block& block, std::span<const int> open, int* label, float* lower, simd::Scores& scores) const {
    if (!filter_.usable()) return assign_plainly(block, open, label, lower);
    simd::filter(block.x, open, filter_, frame_, scores);
    for (std::size_t r = 0; r < open.size(); ++r) {
      const auto i = static_cast<std::size_t>(open[r]);
      const double squares = scores.squared_norm[r], error = filter_.error(norm_of(squares));
      const double best = scores.best[r], second = scores.second[r];
      const bool sure = second - best > 2 * error;
      label[i] = sure ? scores.which[r] : nearest(block, open[r], scores.which[r]);
      const double bound = squared_bound(sure ? second : best, squares, error, filter_.norm_error());
      lower[i] = static_cast<float>(std::sqrt(bound) * kBelow);
    }
  }

 private:
  int nearest(const Block& block, int row, int guess) const {
    double distance = 0;
    return plain_.nearest(block.x.row(row).data(), guess, distance);
  }
  void assign_plainly(const Block& block, std::span<const int> open, int* label, float* lower) const {
    for (const int i : open) {
      label[i] = nearest(block, i, std::max(0, label[i]));
      lower[i] = 0;
    }
  }

  /// ‖x − c‖ < ½ min_l ‖c − c_l‖ means that no c_l is nearer to x (triangle inequality). near_ is the square of that half.
  void bound_by_other_centers() {
    near_ = Vector::Zero(centers_.rows());
    if (!filter_.usable()) return;
    std::vector<int> all(static_cast<std::size_t>(centers_.rows()));
    std::iota(all.begin(), all.end(), 0);
    simd::Scores scores;
    simd::filter(centers_, all, filter_, frame_, scores);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double squares = scores.squared_norm[k], error = filter_.error(norm_of(squares));
      near_(static_cast<Index>(k)) =
          0.25 * kBelow * squared_bound(scores.second[k], squares, error, filter_.norm_error());
    }
  }

  /// The distance to another centre than k falls by at most the largest move among the others.
  void bound_by_movement(const Vector& moved) {
    Index first = 0;
    const double most = moved.maxCoeff(&first);
    double next = 0;
    for (Index k = 0; k < moved.size(); ++k)
      if (k != first) next = std::max(next, moved(k));
    drift_ = Vector::Constant(moved.size(), most * kAbove * frame_.scale);
    drift_(first) = next * kAbove * frame_.scale;
  }

  Matrix centers_;
  simd::PlainCenters plain_;
  simd::FilterCenters filter_;
  const simd::Frame& frame_;
  Vector near_, drift_;
};

/// One pass: assigns the rows, and sums them by centre. Blocks write to their own rows of the memory only.
struct Assignment {
  const Search* search;
  RowMemory* memory;
  Matrix sums;  // Σ w (x − origin)
  Vector weight, within;

  Assignment(const Search& s, RowMemory& m)
      : search(&s),
        memory(&m),
        sums(Matrix::Zero(s.centers().rows(), s.centers().cols())),
        weight(Vector::Zero(s.centers().rows())),
        within(weight) {}

  void accumulate(const Block& block) {
    const auto rows = static_cast<std::size_t>(block.rows());
    int* label = memory->label.data() + block.first;
    float* lower = memory->lower.data() + block.first;
    std::vector<double> own(rows);
    const std::vector<int> open = unsettled(block, {label, rows}, lower, own);
    simd::Scores scores;
    if (!open.empty()) search->assign(block, open, label, lower, scores);
    if (2 * open.size() > rows) simd::own_distances(block.x, search->centers(), {label, rows}, own);
    else measure(block, open, label, own);

    for (std::size_t i = 0; i < rows; ++i) {
      const double w = block.weight_of(static_cast<Index>(i));
      if (w == 0) continue;
      weight(label[i]) += w;
      within(label[i]) += w * own[i];
    }
    simd::add_rows(block.x, search->frame().origin, {label, rows}, block.weight, sums);
  }

  void merge(const Assignment& other) {
    sums += other.sums;
    weight += other.weight;
    within += other.within;
  }

 private:
  std::vector<int> unsettled(const Block& block, std::span<const int> label, float* lower,
                             std::vector<double>& own) const {
    std::vector<int> open(label.size());
    if (label[0] < 0) {
      std::iota(open.begin(), open.end(), 0);
      return open;
    }
    simd::own_distances(block.x, search->centers(), label, own);
    std::size_t count = 0;
    for (std::size_t i = 0; i < label.size(); ++i) {
      open[count] = static_cast<int>(i);
      count += search->settled(label[i], own[i], lower[i]) ? 0 : 1;
    }
    open.resize(count);
    return open;
  }
  void measure(const Block& block, const std::vector<int>& rows, const int* label, std::vector<double>& own) const {
    for (const int i : rows)
      simd::own_distances(block.x.row(i), search->centers(), {label + i, 1}, {&own[static_cast<std::size_t>(i)], 1});
  }
};

/// The `most` different points that lie farthest from their centres; of equally far ones the first in the order of their
/// coordinates, so that neither the order of the rows nor how often one is repeated matters.
struct Farthest {
  struct Order {
    bool operator()(const auto& a, const auto& b) const {
      return a.first > b.first || (a.first == b.first && a.second < b.second);
    }
  };
  const Matrix* centers;
  const RowMemory* memory;
  std::size_t most;
  std::set<std::pair<double, std::vector<double>>, Order> found;

  void accumulate(const Block& block) {
    const auto rows = static_cast<std::size_t>(block.rows());
    std::vector<double> own(rows);
    simd::own_distances(block.x, *centers, {memory->label.data() + block.first, rows}, own);
    for (std::size_t i = 0; i < rows; ++i) {
      if (block.weight_of(static_cast<Index>(i)) == 0 || (found.size() == most && own[i] < found.rbegin()->first))
        continue;
      const double* x = block.x.row(static_cast<Index>(i)).data();
      put({own[i], std::vector<double>(x, x + block.x.cols())});
    }
  }
  void merge(const Farthest& other) {
    for (const auto& one : other.found) put(one);
  }
  void put(std::pair<double, std::vector<double>> one) {
    found.insert(std::move(one));
    if (found.size() > most) found.erase(std::prev(found.end()));
  }
};

/// Where the centres go from here: to the means of their rows, and those without rows to the farthest points.
Matrix next_centers(const Assignment& pass, const Rows& rows, RowMemory& memory, const Execution& execution) {
  const Matrix& before = pass.search->centers();
  Matrix next = before;
  std::vector<Index> empty;
  for (Index k = 0; k < next.rows(); ++k) {
    if (pass.weight(k) > 0) next.row(k) = pass.search->frame().origin.transpose() + pass.sums.row(k) / pass.weight(k);
    else empty.push_back(k);
  }
  if (empty.empty()) return next;
  const auto farthest = scan(rows, Farthest{&before, &memory, empty.size(), {}}, execution);
  auto point = farthest.found.begin();
  for (const Index k : empty) {
    if (point == farthest.found.end() || point->first == 0) break;
    next.row(k) = Eigen::Map<const Vector>(point->second.data(), next.cols()).transpose();
    ++point;
  }
  return next;
}

std::string progress_message(const LloydRun& run) {
  return fmt::format("iteration {}, within sum of squares {}", run.objective.size(),
                     format_significant(run.total_within(), 7));
}

}  // namespace

LloydRun lloyd(const Rows& rows, const simd::Frame& frame, const Matrix& start, const LloydLimits& limits,
               const Execution& execution) {
  const Execution quietly = execution.part(0, 1);
  RowMemory memory(rows.count());
  LloydRun run;
  run.movement = kInfinity;
  Matrix centers = start;
  Vector moved = Vector::Zero(start.rows());
  try {
    for (Index iteration = 0; iteration <= limits.iterations; ++iteration) {
      const Search search(centers, frame, moved);
      const auto pass = scan(rows, Assignment(search, memory), quietly);
      Matrix next = next_centers(pass, rows, memory, quietly);
      moved = (next - centers).rowwise().norm();
      run.centers = std::exchange(centers, std::move(next));
      run.sizes = pass.weight;
      run.within = pass.within;
      run.movement = moved.maxCoeff();
      // The pass after the last iteration only measures where the centres have come to.
      if (iteration < limits.iterations) run.objective.push_back(run.total_within());
      if (run.movement <= limits.movement) break;
      execution.report(static_cast<double>(iteration + 1) / static_cast<double>(iteration + 11), progress_message(run));
    }
  } catch (const Cancelled&) {
    if (run.centers.size() == 0) throw;
    run.cancelled = true;
  }
  return run;
}

}  // namespace lemma
