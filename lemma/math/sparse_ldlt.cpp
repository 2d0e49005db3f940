// lemma/math/sparse_ldlt.cpp
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <lemma/core/hearing.hpp>
#include <lemma/math/sparse_ldlt.hpp>
#include <vector>

namespace lemma {

using Sparse = Eigen::SparseMatrix<double>;

struct SparseLdlt::Factor : Eigen::SimplicialLDLT<Sparse> {
  explicit Factor(const Sparse& a);
  void factorise_rows(const Sparse& upper);
  void solve_together(const Eigen::Ref<const Eigen::MatrixXd>& b, Eigen::Ref<Eigen::MatrixXd> x) const;
};

SparseLdlt::Factor::Factor(const Sparse& a) {
  analyzePattern(a);
  ask();
  Sparse upper(a.rows(), a.cols());
  upper.selfadjointView<Eigen::Upper>() = a.selfadjointView<Eigen::Lower>().twistedBy(m_P);
  factorise_rows(upper);
}

/// Row k of L solves L₁ D₁ l = a, with L₁ and D₁ the rows before it and a those entries of A: its places are what the entries
/// reach in the tree of elimination, from the leaves on.
void SparseLdlt::Factor::factorise_rows(const Sparse& upper) {
  const int n = static_cast<int>(upper.cols());
  const int* const begin = m_matrix.outerIndexPtr();
  int* const row_of = m_matrix.innerIndexPtr();
  double* const value = m_matrix.valuePtr();
  std::vector<double> y(static_cast<std::size_t>(n), 0.0);
  std::vector<int> reached(y.size()), path(y.size()), seen(y.size(), -1);
  m_diag.resize(n);
  m_info = Eigen::Success;
  m_factorizationIsOk = true;
  for (int k = 0; k < n; ++k) {
    ask();
    auto top = reached.size();
    const auto own = static_cast<std::size_t>(k);
    seen[own] = k;
    m_nonZerosPerCol[k] = 0;
    for (Sparse::InnerIterator entry(upper, k); entry; ++entry) {
      if (entry.index() > k) continue;
      y[static_cast<std::size_t>(entry.index())] += entry.value();
      std::size_t length = 0;
      for (int i = static_cast<int>(entry.index()); seen[static_cast<std::size_t>(i)] != k; i = m_parent[i]) {
        path[length++] = i;
        seen[static_cast<std::size_t>(i)] = k;
      }
      while (length > 0) reached[--top] = path[--length];
    }
    double pivot = y[own];
    y[own] = 0;
    for (; top < reached.size(); ++top) {
      const int i = reached[top];
      const double yi = y[static_cast<std::size_t>(i)], l = yi / m_diag[i];
      y[static_cast<std::size_t>(i)] = 0;
      const int end = begin[i] + m_nonZerosPerCol[i];
      for (int p = begin[i]; p < end; ++p) y[static_cast<std::size_t>(row_of[p])] -= value[p] * yi;
      pivot -= l * yi;
      row_of[end] = k;
      value[end] = l;
      ++m_nonZerosPerCol[i];
    }
    m_diag[k] = pivot;
    if (pivot == 0) {
      m_info = Eigen::NumericalIssue;
      return;
    }
  }
}

/// L D Lᵀ x = b for up to kTogether columns, a row of them side by side, in the order in which Eigen solves for one.
void SparseLdlt::Factor::solve_together(const Eigen::Ref<const Eigen::MatrixXd>& b,
                                        Eigen::Ref<Eigen::MatrixXd> x) const {
  using Row = Eigen::Array<double, kTogether, 1>;
  const Index n = b.rows();
  const int *begin = m_matrix.outerIndexPtr(), *row_of = m_matrix.innerIndexPtr(), *place = m_P.indices().data();
  const double* value = m_matrix.valuePtr();
  std::vector<Row> y(at(n), Row::Zero());
  for (Index c = 0; c < b.cols(); ++c)
    for (Index i = 0; i < n; ++i) y[at(place[i])](c) = b(i, c);
  for (Index i = 0; i < n; ++i) {
    const Row own = y[at(i)];
    for (int p = begin[i]; p < begin[i + 1]; ++p) y[at(row_of[p])] -= own * value[p];
  }
  for (Index i = n; i-- > 0;) {
    Row own = y[at(i)] * (1 / m_diag[i]);
    for (int p = begin[i]; p < begin[i + 1]; ++p) own -= value[p] * y[at(row_of[p])];
    y[at(i)] = own;
  }
  for (Index c = 0; c < b.cols(); ++c)
    for (Index i = 0; i < n; ++i) x(i, c) = y[at(place[i])](c);
}

SparseLdlt::SparseLdlt(const Sparse& a) : factor_(std::make_shared<const Factor>(a)) {}
bool SparseLdlt::exists() const { return factor_->info() == Eigen::Success; }
Vector SparseLdlt::pivots() const { return factor_->vectorD(); }
Vector SparseLdlt::solve(const Vector& b) const { return factor_->solve(b); }
void SparseLdlt::solve_columns(const Eigen::Ref<const Eigen::MatrixXd>& b, Eigen::Ref<Eigen::MatrixXd> x) const {
  for (Index first = 0; first < b.cols(); first += kTogether) {
    const Index count = std::min(kTogether, b.cols() - first);
    factor_->solve_together(b.middleCols(first, count), x.middleCols(first, count));
  }
}

}  // namespace lemma
