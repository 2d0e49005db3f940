// lemma/cluster/divisive/bisecting.cpp
#include <algorithm>
#include <cmath>
#include <lemma/cluster/divisive/bisecting.hpp>

namespace lemma {
namespace {

constexpr int kMostSteps = 200;
constexpr double kRounding = 1e-12;  // of the distance: nearer by less is no reason to go

double squares_to(const Matrix& x, Index row, const Vector& place) {
  double out = 0;
  for (Index j = 0; j < place.size(); ++j) out += (x(row, j) - place(j)) * (x(row, j) - place(j));
  return out;
}

std::size_t farthest_from(const Matrix& x, const std::vector<Index>& rows, const Vector& place) {
  std::size_t out = 0;
  double most = -1;
  for (std::size_t a = 0; a < rows.size(); ++a)
    if (const double d = squares_to(x, rows[a], place); d > most) most = d, out = a;
  return out;
}

/// The axis on which the rows vary most, by some steps of the power iteration from a row that is far out.
Vector widest_axis(const Matrix& x, const std::vector<Index>& rows, const Vector& mean) {
  Vector axis = x.row(rows[farthest_from(x, rows, mean)]).transpose() - mean;
  for (int step = 0; step < 20; ++step) {
    if (!(axis.norm() > 0)) break;
    axis /= axis.norm();
    Vector next = Vector::Zero(mean.size());
    for (const Index row : rows) {
      const Vector gap = x.row(row).transpose() - mean;
      next += gap.dot(axis) * gap;
    }
    axis = next;
  }
  return axis;
}

struct Sides {
  std::vector<char> left;  // of each row
  double squares = HUGE_VAL;
};

Parting parted(const std::vector<Index>& rows, const std::vector<char>& left) {
  Parting out;
  for (std::size_t a = 0; a < rows.size(); ++a) (left[a] ? out.left : out.stayed).push_back(rows[a]);
  return out;
}

/// 2-means from two sides; as they are where one of them has no rows.
Sides settled(const Matrix& x, const std::vector<Index>& rows, std::vector<char> left) {
  Sides out;
  for (int step = 0; step < kMostSteps; ++step) {
    const Parting now = parted(rows, left);
    if (now.left.empty() || now.stayed.empty()) return out;
    const Middle one = middle_of(x, now.left), other = middle_of(x, now.stayed);
    out = {left, one.squares + other.squares};
    bool moved = false;
    for (std::size_t a = 0; a < rows.size(); ++a) {
      const double here = squares_to(x, rows[a], left[a] ? one.mean : other.mean),
                   there = squares_to(x, rows[a], left[a] ? other.mean : one.mean);
      if (there < here * (1 - kRounding)) left[a] = !left[a], moved = true;
    }
    if (!moved) return out;
  }
  return out;
}

}  // namespace

Middle middle_of(const Matrix& x, const std::vector<Index>& rows) {
  const Vector first = x.row(rows.front()).transpose();  // differences keep their digits beside a large offset
  Vector sum = Vector::Zero(x.cols());
  for (const Index row : rows) sum += x.row(row).transpose() - first;
  Middle out{first + sum / static_cast<double>(rows.size()), 0};
  for (const Index row : rows) out.squares += squares_to(x, row, out.mean);
  return out;
}

Parting two_means(const Matrix& x, const std::vector<Index>& rows) {
  const Middle all = middle_of(x, rows);
  const Vector far = x.row(rows[farthest_from(x, rows, all.mean)]).transpose();
  const Vector opposite = x.row(rows[farthest_from(x, rows, far)]).transpose(), axis = widest_axis(x, rows, all.mean);
  std::vector<char> nearer(rows.size()), beyond(rows.size());
  for (std::size_t a = 0; a < rows.size(); ++a) {
    nearer[a] = squares_to(x, rows[a], far) < squares_to(x, rows[a], opposite);
    beyond[a] = (x.row(rows[a]).transpose() - all.mean).dot(axis) > 0;
  }
  const Sides by_pair = settled(x, rows, nearer), by_axis = settled(x, rows, beyond);
  const Sides& best = by_axis.squares < by_pair.squares * (1 - kRounding) ? by_axis : by_pair;
  if (std::isfinite(best.squares)) return parted(rows, best.left);
  std::vector<char> first(rows.size(), 0);
  first[0] = 1;
  return parted(rows, first);
}

std::vector<Parting> bisect(const Matrix& x, const Execution& execution) {
  return part_all(
      x.rows(), [&](const std::vector<Index>& rows) { return middle_of(x, rows).squares; },
      [&](const std::vector<Index>& rows) { return two_means(x, rows); }, execution);
}

}  // namespace lemma
