// lemma/select/subsets.cpp
#include <lemma/select/subsets.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kDetermined = 1e-10;  // of its length: what is left of a column that others determine is rounding

}  // namespace

double value_of(const Subset& subset, SubsetCriterion criterion) {
  switch (criterion) {
    case SubsetCriterion::aic: return subset.aic;
    case SubsetCriterion::bic: return subset.bic;
    case SubsetCriterion::cp: return subset.cp;
    case SubsetCriterion::adjusted_r_squared: break;
  }
  return -subset.adjusted_r_squared;
}

ChosenColumns::ChosenColumns(const LeastSquares& data) : width_(data.features()), a_(data.triangle()) {
  a_.conservativeResizeLike(Eigen::MatrixXd::Zero(std::max(a_.rows(), Index{1}), a_.cols()));
  length_ = a_.leftCols(width_).colwise().norm();
}

bool ChosenColumns::contains(Index j) const { return std::find(chosen_.begin(), chosen_.end(), j) != chosen_.end(); }

std::vector<Index> ChosenColumns::sorted() const {
  auto out = chosen_;
  std::sort(out.begin(), out.end());
  return out;
}

double ChosenColumns::rss() const {
  return a_.col(width_).tail(a_.rows() - static_cast<Index>(chosen_.size())).squaredNorm();
}

bool ChosenColumns::adds(Index j) const {
  const auto left = a_.rows() - static_cast<Index>(chosen_.size());
  return left > 0 && a_.col(j).tail(left).norm() > kDetermined * length_(j);
}

/// A reflection that turns what is left of the column into one entry.
void ChosenColumns::add(Index j) {
  const auto s = static_cast<Index>(chosen_.size()), left = a_.rows() - s;
  Vector v = a_.col(j).tail(left);
  const double norm = v.norm();
  v(0) += v(0) < 0 ? -norm : norm;
  const double squared = v.squaredNorm();
  if (squared > 0) {
    const Eigen::RowVectorXd product = v.transpose() * a_.bottomRows(left);
    a_.bottomRows(left).noalias() -= (2 / squared) * v * product;
  }
  a_.col(j).tail(left - 1).setZero();
  chosen_.push_back(j);
}

/// Rotations of neighbouring rows: the columns after it move one place up.
void ChosenColumns::drop(Index j) {
  const auto place = static_cast<Index>(std::find(chosen_.begin(), chosen_.end(), j) - chosen_.begin());
  chosen_.erase(chosen_.begin() + place);
  for (Index k = place; k < static_cast<Index>(chosen_.size()); ++k) {
    const Index column = chosen_[at(k)];
    const double a = a_(k, column), b = a_(k + 1, column), r = std::hypot(a, b);
    if (r == 0) continue;
    const Eigen::RowVectorXd above = a_.row(k), below = a_.row(k + 1);
    a_.row(k) = (a * above + b * below) / r;
    a_.row(k + 1) = (a * below - b * above) / r;
    a_(k + 1, column) = 0;
  }
}

Vector ChosenColumns::after_each_move() const {
  const auto s = static_cast<Index>(chosen_.size()), left = a_.rows() - s;
  const double now = rss();
  Vector out = Vector::Constant(width_, now);
  if (left > 0)
    for (Index j = 0; j < width_; ++j) {
      if (contains(j) || !adds(j)) continue;
      const auto rest = a_.col(j).tail(left);
      const double part = rest.dot(a_.col(width_).tail(left)) / rest.norm();
      out(j) = std::max(0.0, now - part * part);
    }
  if (s == 0) return out;
  // The RSS without column k is greater by b_k² / [(R'R)⁻¹]_kk.
  Eigen::MatrixXd r(s, s);
  for (Index k = 0; k < s; ++k) r.col(k) = a_.col(chosen_[at(k)]).head(s);
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(s, s);
  for (Index k = 0; k < s; ++k) {  // column k of the inverse has k + 1 entries
    Vector e = Vector::Zero(k + 1);
    e(k) = 1;
    for (Index i = k + 1; i-- > 0;) {
      double sum = e(i);
      for (Index l = i + 1; l <= k; ++l) sum -= r(i, l) * inverse(l, k);
      inverse(i, k) = sum / r(i, i);
    }
  }
  const Vector b = inverse.triangularView<Eigen::Upper>() * a_.col(width_).head(s);
  for (Index k = 0; k < s; ++k) out(chosen_[at(k)]) = now + b(k) * b(k) / inverse.row(k).squaredNorm();
  return out;
}

SubsetCriteria::SubsetCriteria(const LeastSquares& data) : n_(data.weight()), intercept_(data.intercept()) {
  const LinearSolution full = solve(data);
  total_ = full.total_ss;
  full_rss_ = full.residual_ss;
  full_rank_ = full.rank(intercept_);
}

Subset SubsetCriteria::of(std::vector<Index> columns, double rss) const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Subset out;
  const double one = intercept_ ? 1.0 : 0.0, q = static_cast<double>(columns.size()) + one;
  const double s2 = full_rss_ / (n_ - static_cast<double>(full_rank_));
  out.columns = std::move(columns);
  out.rss = rss;
  out.aic = n_ * std::log(rss / n_) + 2 * q;
  out.bic = n_ * std::log(rss / n_) + std::log(n_) * q;
  out.adjusted_r_squared = n_ > q && total_ > 0 ? 1 - rss / (n_ - q) / (total_ / (n_ - one)) : kNone;
  out.cp = s2 > 0 && n_ > static_cast<double>(full_rank_) ? rss / s2 - n_ + 2 * q : kNone;
  return out;
}

namespace {

/// The step of least criterion; NaN is never the least.
std::size_t best_step(const std::vector<Subset>& steps, SubsetCriterion criterion) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const double now = value_of(steps[i], criterion), then = value_of(steps[best], criterion);
    if (now < then || (std::isnan(then) && !std::isnan(now))) best = i;
  }
  return best;
}

void require_rows(const LeastSquares& data) {
  require(data.rows() > (data.intercept() ? 1 : 0), "one row tells nothing of columns; there must be more");
}

}  // namespace

SubsetPath stepwise_subsets(const LeastSquares& data, const std::vector<std::string>& names, SubsetSearch search,
                            SubsetCriterion criterion) {
  require(search != SubsetSearch::best, "the best subsets are found by best_subsets");
  require_rows(data);
  const SubsetCriteria criteria(data);
  ChosenColumns state(data);
  SubsetPath out;
  const auto record = [&] { out.steps.push_back(criteria.of(state.sorted(), state.rss())); };
  const auto move = [&](Index j) {
    const bool leaves = state.contains(j);
    leaves ? state.drop(j) : state.add(j);
    out.moves.push_back((leaves ? "- " : "+ ") + names.at(at(j)));
    record();
  };
  if (search == SubsetSearch::backward)
    for (Index j = 0; j < data.features(); ++j)
      if (state.adds(j)) state.add(j);
  record();
  for (bool moved = true; moved;) {
    moved = false;
    const Vector after = state.after_each_move();
    Index best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < data.features(); ++j) {
      const bool leaves = state.contains(j);
      if (search == SubsetSearch::forward    ? leaves || !state.adds(j)
          : search == SubsetSearch::backward ? !leaves
                                             : !leaves && !state.adds(j))
        continue;
      double value = after(j);
      if (search == SubsetSearch::both) {
        auto columns = state.sorted();
        if (leaves) std::erase(columns, j);
        else columns.push_back(j);
        value = value_of(criteria.of(std::move(columns), after(j)), criterion);
      }
      if (value < least) {
        least = value;
        best = j;
      }
    }
    if (best < 0) break;
    if (search == SubsetSearch::both && !(least < value_of(out.steps.back(), criterion) - 1e-9)) break;
    move(best);
    moved = true;
  }
  out.choice = best_step(out.steps, criterion);
  return out;
}

namespace {

/// Branch and bound over columns taken away.
class Leaps {
 public:
  Leaps(const LeastSquares& data, std::vector<Index> usable, long long most, const Execution& execution)
      : a_(data.triangle()), y_(data.features()), usable_(std::move(usable)), most_(most), execution_(execution) {
    const auto p = usable_.size();
    best_.assign(p + 1, std::numeric_limits<double>::infinity());
    sets_.resize(p + 1);
    best_[0] = a_.col(y_).squaredNorm();
  }

  void run() {
    if (!usable_.empty()) visit(triangle_of_columns(usable_), usable_, 0);
  }
  const std::vector<double>& best() const { return best_; }
  const std::vector<std::vector<Index>>& sets() const { return sets_; }
  long long looked_at() const { return looked_at_; }
  bool proven() const { return !ended_; }

 private:
  /// [R z; 0 ρ] of some columns and y: RSS of the first k is ρ² plus the squares of z after k.
  Eigen::MatrixXd triangle_of_columns(const std::vector<Index>& columns) const {
    Eigen::MatrixXd chosen(a_.rows(), static_cast<Index>(columns.size()) + 1);
    for (std::size_t k = 0; k < columns.size(); ++k) chosen.col(static_cast<Index>(k)) = a_.col(columns[k]);
    chosen.col(chosen.cols() - 1) = a_.col(y_);
    return turned(std::move(chosen));
  }
  /// Upper, by reflections.
  static Eigen::MatrixXd turned(Eigen::MatrixXd m) {
    const Index columns = m.cols(), steps = std::min(m.rows(), columns);
    for (Index k = 0; k < steps; ++k) {
      Vector v = m.col(k).tail(m.rows() - k);
      const double norm = v.norm();
      if (norm == 0) continue;
      v(0) += v(0) < 0 ? -norm : norm;
      const Eigen::RowVectorXd product = v.transpose() * m.bottomRightCorner(m.rows() - k, columns - k);
      m.bottomRightCorner(m.rows() - k, columns - k).noalias() -= (2 / v.squaredNorm()) * v * product;
      m.col(k).tail(m.rows() - k - 1).setZero();
    }
    return m.topRows(steps);
  }

  void offer(std::size_t size, double rss, const std::vector<Index>& columns) {
    if (!(rss < best_[size])) return;
    best_[size] = rss;
    sets_[size].assign(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(size));
  }

  /// The RSS of the set without each of its columns.
  static Vector without_each(const Eigen::MatrixXd& t, Index s, double rss) {
    const Eigen::MatrixXd inverse =
        t.topLeftCorner(s, s).triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(s, s));
    const Vector b = inverse.triangularView<Eigen::Upper>() * t.col(s).head(s);
    return (rss + b.array().square() / inverse.rowwise().squaredNorm().array()).matrix();
  }

  /// All subsets that keep the first `fixed` columns.
  void visit(Eigen::MatrixXd t, std::vector<Index> columns, std::size_t fixed) {
    const auto s = columns.size();
    const double rest = t.rows() > static_cast<Index>(s) ? t(static_cast<Index>(s), static_cast<Index>(s)) : 0;
    const double rss = rest * rest;
    if (++looked_at_ > most_) ended_ = true;
    if (ended_) return;
    if (looked_at_ % 1024 == 0 && execution_.cancelled()) {
      ended_ = true;
      return;
    }
    Vector without = without_each(t, static_cast<Index>(s), rss);
    if (s - fixed > 2) reorder(t, columns, fixed, without);
    double tail = rss;
    for (std::size_t k = s; k > fixed; --k) {  // the first k columns, for each k
      offer(k, tail, columns);
      tail += t(static_cast<Index>(k) - 1, static_cast<Index>(s)) * t(static_cast<Index>(k) - 1, static_cast<Index>(s));
    }
    if (s == 1) return;
    for (std::size_t k = s; k-- > fixed;) {  // the small branches first: they lower the best for the large ones
      if (k + 1 == s) continue;              // without the last one: the first s − 1, which was offered
      if (without(static_cast<Index>(k)) >= best_[std::max<std::size_t>(k, 1)]) continue;
      Eigen::MatrixXd child(t.rows(), static_cast<Index>(s));
      std::vector<Index> kept;
      for (std::size_t c = 0, into = 0; c <= s; ++c) {
        if (c == k) continue;
        child.col(static_cast<Index>(into++)) = t.col(static_cast<Index>(c));
        if (c < s) kept.push_back(columns[c]);
      }
      visit(turned(std::move(child)), std::move(kept), k);
    }
  }

  /// The columns that may leave, those whose loss costs most first.
  static void reorder(Eigen::MatrixXd& t, std::vector<Index>& columns, std::size_t fixed, Vector& without) {
    const auto s = columns.size();
    std::vector<std::size_t> order(s);
    for (std::size_t c = 0; c < s; ++c) order[c] = c;
    std::stable_sort(
        order.begin() + static_cast<std::ptrdiff_t>(fixed), order.end(),
        [&](std::size_t a, std::size_t b) { return without(static_cast<Index>(a)) > without(static_cast<Index>(b)); });
    if (std::is_sorted(order.begin(), order.end())) return;
    Eigen::MatrixXd moved(t.rows(), t.cols());
    std::vector<Index> names;
    Vector losses(without.size());
    for (std::size_t c = 0; c < s; ++c) {
      moved.col(static_cast<Index>(c)) = t.col(static_cast<Index>(order[c]));
      names.push_back(columns[order[c]]);
      losses(static_cast<Index>(c)) = without(static_cast<Index>(order[c]));
    }
    moved.col(static_cast<Index>(s)) = t.col(static_cast<Index>(s));
    t = turned(std::move(moved));
    columns = std::move(names);
    without = std::move(losses);
  }

  Eigen::MatrixXd a_;
  Index y_;
  std::vector<Index> usable_;
  std::vector<double> best_;
  std::vector<std::vector<Index>> sets_;
  long long most_, looked_at_ = 0;
  bool ended_ = false;
  const Execution& execution_;
};

}  // namespace

SubsetPath best_subsets(const LeastSquares& data, SubsetCriterion criterion, long long most_nodes,
                        const Execution& execution) {
  require_rows(data);
  const SubsetCriteria criteria(data);
  if (data.features() > kMostLeaped)
    throw Error(
        fmt::format("the best subset of {} columns cannot be proven; {} are the most: search forward, or keep the "
                    "best columns by a filter first",
                    data.features(), kMostLeaped));
  // What others determine cannot be told from them: left out, as in ols. With fewer rows than columns all that fits is perfect.
  const LinearSolution full = solve(data);
  if (static_cast<Index>(full.kept.size()) + (data.intercept() ? 1 : 0) >= data.rows())
    throw Error(fmt::format("{} rows are fitted perfectly by {} columns, so no subset is best; search forward",
                            data.rows(), full.kept.size()));
  Leaps leaps(data, full.kept, most_nodes, execution);
  leaps.run();
  SubsetPath out;
  for (std::size_t size = 0; size < leaps.best().size(); ++size) {
    if (!std::isfinite(leaps.best()[size])) continue;
    auto columns = leaps.sets()[size];
    std::sort(columns.begin(), columns.end());
    out.steps.push_back(criteria.of(std::move(columns), leaps.best()[size]));
  }
  out.choice = best_step(out.steps, criterion);
  out.proven = leaps.proven();
  out.looked_at = leaps.looked_at();
  return out;
}

}  // namespace lemma
