// lemma/linear/shared/separation.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/shared/separation.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/optimize/programme.hpp>
#include <limits>

namespace lemma::separation {
namespace {

constexpr double kAside = 1e-8;    // z·d / (‖x̃‖ max |d|) of a row that lies on the wrong side
constexpr double kNothing = 1e-7;  // a mean, or a margin, that is rounding
constexpr double kIllConditioned = 1e-9;
constexpr double kSure = 0.25;      // of a square that must be below 1
constexpr Index kAllAtOnce = 4000;  // rows of the first programme, when there are no more
constexpr Index kMostTerms = 1500;  // of a direction that is looked for by programmes
constexpr int kMostRounds = 200;
constexpr double kTakesPart = 1e-3;  // of the largest share of a column in a direction
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// (1, x̃) of the rows of a block.
Matrix terms_of(const Problem& problem, const Block& block) {
  Matrix out(block.rows(), problem.terms());
  out.col(0).setConstant(problem.intercept ? 1.0 : 0.0);
  out.rightCols(block.x.cols()) =
      (block.x.rowwise() - problem.mean.transpose()).array().rowwise() * problem.inverse_scale.transpose().array();
  return out;
}

/// z over ‖x̃‖ of one row and one class beside its own, as a row of a programme.
struct Cut {
  double margin;
  Index row;
  int own, beside;
  Vector z;
  bool stays;
  bool strictly = true;  // z·d must be above 0, where that is asked
};
bool worse(const Cut& a, const Cut& b) {
  if (a.margin != b.margin) return a.margin < b.margin;
  return a.row != b.row ? a.row < b.row : a.beside < b.beside;
}

Vector constraint(const Problem& problem, const Vector& terms, int own, int beside) {
  Vector z = Vector::Zero(problem.size());
  const Index t = problem.terms();
  if (own > 0) z.segment((own - 1) * t, t) += terms;
  if (beside > 0) z.segment((beside - 1) * t, t) -= terms;
  return z;
}

/// visit(row, own class, class beside it, (1, x̃) / ‖(1, x̃)‖) for all that the rows of a block ask. A row that stays
/// asks as class 1.
void for_each_constraint(const Problem& problem, const Block& block, const auto& visit) {
  const Matrix terms = terms_of(problem, block);
  for (Index i = 0; i < block.rows(); ++i) {
    const int side = problem.side(block, i);
    if (side == kNoPart) continue;
    const double length = terms.row(i).norm();
    if (!(length > 0)) continue;
    const Vector unit = terms.row(i).transpose() / length;
    if (side == kStays) visit(block.first + i, kStays, 0, unit);
    else
      for (int k = 0; k < static_cast<int>(problem.classes); ++k)
        if (k != side) visit(block.first + i, side, k, unit);
  }
}

/// The rows held against a direction: margins over its largest entry.
struct Sides {
  const Problem* problem;
  const Matrix* direction;
  Matrix bars;       // of a class and one beside it: rows with a margin below it are wanted …
  std::size_t most;  // … at most so many, the worst
  double least = kInfinity, greatest = -kInfinity;
  Matrix pair_least, pair_greatest;
  std::vector<Cut> cuts;

  Sides(const Problem& of, const Matrix& d, Matrix below, std::size_t at_most)
      : problem(&of),
        direction(&d),
        bars(std::move(below)),
        most(at_most),
        pair_least(Matrix::Constant(of.classes, of.classes, kInfinity)),
        pair_greatest(Matrix::Constant(of.classes, of.classes, -kInfinity)) {}

  void accumulate(const Block& block) {
    const double size = direction->cwiseAbs().maxCoeff();
    for_each_constraint(*problem, block, [&](Index row, int own, int beside, const Vector& unit) {
      const int from = own == kStays ? 1 : own;
      const double along = (direction->row(from) - direction->row(beside)).dot(unit) / size;
      const double margin = own == kStays ? -std::abs(along) : along;
      least = std::min(least, margin);
      greatest = std::max(greatest, margin);
      pair_least(from, beside) = std::min(pair_least(from, beside), margin);
      pair_greatest(from, beside) = std::max(pair_greatest(from, beside), margin);
      if (!(margin < bars(from, beside))) return;
      cuts.push_back({margin, row, from, beside, constraint(*problem, unit, from, beside), own == kStays});
      if (cuts.size() >= 2 * most) shorten();
    });
    shorten();
  }
  void merge(const Sides& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
    pair_least = pair_least.cwiseMin(other.pair_least);
    pair_greatest = pair_greatest.cwiseMax(other.pair_greatest);
    cuts.insert(cuts.end(), other.cuts.begin(), other.cuts.end());
    shorten();
  }
  void shorten() {
    std::sort(cuts.begin(), cuts.end(), worse);
    if (cuts.size() > most) cuts.erase(cuts.begin() + static_cast<std::ptrdiff_t>(most), cuts.end());
  }
  bool separates() const { return greatest > kNothing && least >= -kAside; }
};

/// The mean of all z, and every so many of them to begin with.
struct Start {
  const Problem* problem;
  Index every;
  Vector sum;
  double count = 0;
  std::vector<Cut> cuts;

  void accumulate(const Block& block) {
    for_each_constraint(*problem, block, [&](Index row, int own, int beside, const Vector& unit) {
      const int from = own == kStays ? 1 : own;
      const Vector z = constraint(*problem, unit, from, beside);
      if (own != kStays) sum += z;
      ++count;
      if (row % every == 0) cuts.push_back({0, row, from, beside, z, own == kStays});
    });
  }
  void merge(const Start& other) {
    sum += other.sum;
    count += other.count;
    cuts.insert(cuts.end(), other.cuts.begin(), other.cuts.end());
  }
};

/// maximise c·d + t  subject to  z·d ≥ t (≥ 0 where not strictly, = 0 for rows that stay),  |d| ≤ 1,  0 ≤ t ≤ `widest`.
std::optional<std::pair<Vector, double>> best_direction(const std::vector<Cut>& cuts, const Vector& c, double widest,
                                                        const Execution& execution) {
  const Index size = c.size(), rows = static_cast<Index>(cuts.size());
  LinearProgramme programme;
  programme.c = Vector::Zero(size + 1);
  programme.c.head(size) = -c;
  programme.c(size) = -1;
  Matrix a = Matrix::Zero(rows, size + 1);
  programme.row_lower = Vector::Zero(rows);
  programme.row_upper = Vector::Constant(rows, kInfinity);
  for (Index i = 0; i < rows; ++i) {
    const Cut& cut = cuts[static_cast<std::size_t>(i)];
    a.row(i).head(size) = cut.z.transpose();
    if (cut.stays) programme.row_upper(i) = 0;
    else if (cut.strictly) a(i, size) = -1;
  }
  programme.a = std::move(a);
  programme.lower = Vector::Constant(size + 1, -1);
  programme.upper = Vector::Ones(size + 1);
  programme.lower(size) = 0;
  programme.upper(size) = widest;
  LinearProgrammeOptions how;
  how.tolerance = 0.01 * kAside;
  how.execution = execution;
  const ProgrammeAnswer found = solve(programme, how);
  if (!found.solved()) return {};
  return std::pair{Vector(found.x.head(size)), found.x(size)};
}

Matrix shaped(const Vector& d, const Problem& problem) {
  Matrix out = Matrix::Zero(problem.classes, problem.terms());
  for (Index k = 1; k < problem.classes; ++k)
    out.row(k) = d.segment((k - 1) * problem.terms(), problem.terms()).transpose();
  return out;
}

/// Where no row lies on the wrong side, all have their bar.
Matrix wrong_side(const Problem& problem) { return Matrix::Constant(problem.classes, problem.classes, -kAside); }

Sides look(const Problem& problem, const Matrix& direction, const Matrix& bars, const Execution& execution) {
  const auto most = static_cast<std::size_t>(std::max<Index>(64, 2 * problem.size()));
  return scan(problem.rows, Sides(problem, direction, bars, most), execution);
}

/// The columns whose values of one class all lie beyond those of the other.
struct Ranges {
  const Problem* problem;
  Vector least[2], greatest[2];
  bool all_sure = true;

  explicit Ranges(const Problem& of) : problem(&of) {
    for (const int k : {0, 1}) {
      least[k] = Vector::Constant(of.mean.size(), kInfinity);
      greatest[k] = Vector::Constant(of.mean.size(), -kInfinity);
    }
  }
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const int side = problem->side(block, i);
      if (side == kStays) all_sure = false;
      if (side < 0) continue;
      least[side] = least[side].cwiseMin(block.x.row(i).transpose());
      greatest[side] = greatest[side].cwiseMax(block.x.row(i).transpose());
    }
  }
  void merge(const Ranges& other) {
    for (const int k : {0, 1}) {
      least[k] = least[k].cwiseMin(other.least[k]);
      greatest[k] = greatest[k].cwiseMax(other.greatest[k]);
    }
    all_sure = all_sure && other.all_sure;
  }
  /// `strictly`: without a value that both classes have.
  std::vector<Index> alone(bool strictly) const {
    std::vector<Index> out;
    for (Index j = 0; j < least[0].size() && all_sure; ++j) {
      const double apart = std::max(least[1](j) - greatest[0](j), least[0](j) - greatest[1](j));
      if (problem->inverse_scale(j) > 0 && (strictly ? apart > 0 : apart >= 0)) out.push_back(j);
    }
    return out;
  }
};

using Pairs = std::vector<std::pair<Index, Index>>;

Pairs every_pair(const Problem& problem) {
  Pairs out;
  for (Index k = 0; k < problem.classes; ++k)
    for (Index l = k + 1; l < problem.classes; ++l) out.emplace_back(k, l);
  return out;
}
Pairs told_apart(const Sides& sides) {
  Pairs out = every_pair(*sides.problem);
  std::erase_if(out, [&](const auto& pair) {
    const auto [k, l] = pair;
    return std::max(sides.pair_greatest(k, l), sides.pair_greatest(l, k)) <= kNothing;
  });
  return out;
}

/// Whether some direction leaves no row of these classes on the border, and no other row on the wrong side, beginning with
/// the rows that showed one that separates.
bool leaves_none_on_the_border(const Problem& problem, const Pairs& pairs, std::vector<Cut> cuts,
                               const Execution& execution) {
  Matrix asked = Matrix::Zero(problem.classes, problem.classes);
  for (const auto& [k, l] : pairs) asked(k, l) = asked(l, k) = 1;
  for (int round = 0; round < kMostRounds; ++round) {
    for (Cut& cut : cuts) {
      if (cut.stays) return false;
      cut.strictly = asked(cut.own, cut.beside) > 0;
    }
    const auto found = best_direction(cuts, Vector::Zero(problem.size()), 1, execution);
    if (!found || !(found->second > kNothing)) return false;
    const Matrix direction = shaped(found->first, problem);
    const Matrix bars = (0.5 * found->second + kAside) * asked + wrong_side(problem);
    const Sides sides = look(problem, direction, bars, execution);
    if (sides.cuts.empty()) return true;
    cuts.insert(cuts.end(), sides.cuts.begin(), sides.cuts.end());
  }
  return false;
}

/// Who is separated from whom, and by which columns alone.
Finding described(const Problem& problem, Matrix direction, const Sides& sides, const std::vector<Cut>& cuts,
                  const Execution& execution) {
  Finding out;
  out.direction = std::move(direction);
  const Pairs all = every_pair(problem), told = told_apart(sides);
  const bool complete = sides.least > kAside || leaves_none_on_the_border(problem, all, cuts, execution);
  out.verdict = complete ? Verdict::complete : Verdict::quasi;
  out.pairs = complete ? all : told;
  out.completely = complete || (told != all && leaves_none_on_the_border(problem, told, cuts, execution));
  if (problem.classes == 2 && problem.intercept)
    out.alone = scan(problem.rows, Ranges(problem), execution).alone(out.completely);
  return out;
}

}  // namespace

bool overlap_is_proved(const Matrix& curvature, const Vector& gradient, double longest) {
  std::vector<Index> used;  // a term that is 0 in every row is in no z
  for (Index i = 0; i < curvature.rows(); ++i)
    if (curvature(i, i) > 0) used.push_back(i);
  if (used.empty() || !curvature.allFinite() || !gradient.allFinite()) return false;
  const Eigenpairs pairs = symmetric_eigen(Matrix(curvature(used, used)));
  const double least = pairs.values(pairs.values.size() - 1);
  if (!(least > kIllConditioned * pairs.values(0))) return false;
  const Vector along = pairs.vectors.transpose() * gradient(used);
  return along.cwiseAbs2().cwiseQuotient(pairs.values).sum() * longest * longest / least < kSure;
}

double longest_row(const Problem& problem, const Execution& execution) {
  struct Longest {
    const Problem* of;
    double square = 0;
    void accumulate(const Block& block) {
      if (block.rows() > 0) square = std::max(square, terms_of(*of, block).rowwise().squaredNorm().maxCoeff());
    }
    void merge(const Longest& other) { square = std::max(square, other.square); }
  };
  const double square = scan(problem.rows, Longest{&problem}, execution).square;
  return std::sqrt(problem.classes > 2 ? 2 * square : square);
}

Finding decide(const Problem& problem, const std::vector<Matrix>& candidates, const Execution& execution) {
  for (const Matrix& candidate : candidates) {
    if (!candidate.allFinite() || !(candidate.cwiseAbs().maxCoeff() > 0)) continue;
    const Sides sides = look(problem, candidate, wrong_side(problem), execution);
    if (sides.least > kAside) return described(problem, candidate, sides, {}, execution);
  }
  if (problem.size() > kMostTerms) return {};
  const Index asked = problem.rows.count() * (problem.classes - 1);
  const Index every = std::max<Index>(1, asked / std::max(kAllAtOnce, 4 * problem.size()));
  Start start = scan(problem.rows, Start{&problem, every, Vector::Zero(problem.size()), 0, {}}, execution);
  if (!(start.count > 0)) return {};
  const Vector c = start.sum / start.count;
  for (int round = 0; round < kMostRounds && !execution.cancelled(); ++round) {
    const auto found = best_direction(start.cuts, c, 0, execution);
    if (!found) return {};
    if (!(c.dot(found->first) > kNothing)) return {Verdict::overlap, {}, {}, {}, false};
    const Matrix direction = shaped(found->first, problem);
    const Sides sides = look(problem, direction, wrong_side(problem), execution);
    if (sides.separates()) return described(problem, direction, sides, start.cuts, execution);
    if (sides.cuts.empty()) return {};
    start.cuts.insert(start.cuts.end(), sides.cuts.begin(), sides.cuts.end());
  }
  return {};
}

std::string in_words(const Finding& finding, const Rows& rows) {
  std::vector<Index> columns = finding.alone;
  const bool alone = !columns.empty();
  if (!alone) {
    std::vector<std::pair<double, Index>> share;
    for (Index j = 1; j < finding.direction.cols(); ++j)
      share.emplace_back(-finding.direction.col(j).cwiseAbs().maxCoeff(), j - 1);
    std::sort(share.begin(), share.end());
    for (const auto& [size, j] : share)
      if (-size >= kTakesPart * -share.front().first && size < 0) columns.push_back(j);
  }
  std::vector<std::string> names;
  for (const Index j : columns) names.push_back("'" + rows.features[static_cast<std::size_t>(j)] + "'");
  const std::string by = names.empty()       ? "the intercept"
                         : names.size() == 1 ? names.front()
                         : alone             ? "each of " + join_words(names, 5)
                                             : "a combination of " + join_words(names, 5);
  const auto named = [&](Index k) { return "'" + rows.classes[static_cast<std::size_t>(k)] + "'"; };
  std::string whom = "the two outcomes";
  if (rows.classes.size() == 2) whom = "the two classes";
  if (rows.classes.size() > 2) {
    std::vector<std::string> pairs;
    for (const auto& [k, l] : finding.pairs) pairs.push_back(named(k) + " from " + named(l));
    whom = join_words(pairs, 4);
  }
  return fmt::format("{} separates {} {}", by, whom,
                     finding.completely ? "completely" : "quasi-completely (some rows lie on the border)");
}

}  // namespace lemma::separation
