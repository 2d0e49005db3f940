// lemma/metric/matching.cpp: classes and clusters paired one to one.
#include <cmath>
#include <lemma/metric/clustering.hpp>
#include <limits>

namespace lemma {

/// Of a square table with costs −entry, filled up with zeros. Row after row is added by the shortest way of exchanges to a free
/// column; prices u, v keep all reduced costs cost(i, j) − u(i) − v(j) at 0 or above, and at 0 along the pairs.
Matching best_matching(const Matrix& table) {
  const Index m = std::max(table.rows(), table.cols());
  const auto cost = [&](Index i, Index j) { return i < table.rows() && j < table.cols() ? -table(i, j) : 0.0; };
  Vector u = Vector::Zero(m), v = Vector::Zero(m + 1);
  std::vector<Index> row_of(at(m + 1), -1);  // column m is where a way begins
  for (Index row = 0; row < m; ++row) {
    Vector least = Vector::Constant(m, std::numeric_limits<double>::infinity());
    std::vector<Index> before(at(m), m);
    std::vector<char> done(at(m + 1), 0);
    row_of[at(m)] = row;
    Index column = m;
    while (row_of[at(column)] >= 0) {
      done[at(column)] = 1;
      const Index i = row_of[at(column)];
      Index next = -1;
      for (Index j = 0; j < m; ++j) {
        if (done[at(j)]) continue;
        if (const double reduced = cost(i, j) - u(i) - v(j); reduced < least(j)) {
          least(j) = reduced;
          before[at(j)] = column;
        }
        if (next < 0 || least(j) < least(next)) next = j;
      }
      const double step = least(next);
      for (Index j = 0; j <= m; ++j) {
        if (done[at(j)]) {
          u(row_of[at(j)]) += step;
          v(j) -= step;
        } else if (j < m) {
          least(j) -= step;
        }
      }
      column = next;
    }
    for (; column != m; column = before[at(column)]) row_of[at(column)] = row_of[at(before[at(column)])];
  }
  Matching out{std::vector<Index>(at(table.cols()), -1), 0, -u.head(table.rows()), -v.head(table.cols())};
  for (Index j = 0; j < table.cols(); ++j)
    if (row_of[at(j)] < table.rows()) {
      out.row_of[at(j)] = row_of[at(j)];
      out.total += table(row_of[at(j)], j);
    }
  return out;
}

}  // namespace lemma
