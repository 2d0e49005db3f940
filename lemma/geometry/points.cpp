// lemma/geometry/points.cpp
#include <lemma/geometry/points.hpp>
#include <numeric>

namespace lemma {
namespace {

std::vector<Index> counted(Index count) {
  std::vector<Index> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), Index{0});
  return places;
}
Vector weights_of(std::span<const double> weights, Index count) {
  if (weights.empty()) return Vector::Ones(count);
  return Eigen::Map<const Vector>(weights.data(), count);
}

}  // namespace

Points::Points(Matrix dense) : width_(dense.cols()), dense_(std::move(dense)), places_(counted(dense_.rows())) {}
Points::Points(Csr sparse)
    : width_(sparse.width), is_sparse_(true), sparse_(std::move(sparse)), places_(counted(sparse_.rows())) {}

Points Points::at_places(std::vector<Index> places, Index width) {
  Points out;
  out.width_ = width;
  out.places_ = std::move(places);
  return out;
}

Points Points::of(const Rows& rows, const Execution& execution) {
  if (const Csr* sparse = rows.sparse()) return Points(*sparse);
  return Points(gather(rows, execution));
}

Points Points::select(std::span<const Index> which) const {
  Points out;
  out.width_ = width_;
  out.is_sparse_ = is_sparse_;
  if (is_sparse_) {
    out.sparse_.width = sparse_.width;
    out.sparse_.start.push_back(0);
    for (const Index i : which) {
      const auto from = sparse_.start[at(i)], to = sparse_.start[at(i) + 1];
      out.sparse_.column.insert(out.sparse_.column.end(), sparse_.column.begin() + from, sparse_.column.begin() + to);
      out.sparse_.value.insert(out.sparse_.value.end(), sparse_.value.begin() + from, sparse_.value.begin() + to);
      out.sparse_.start.push_back(static_cast<Index>(out.sparse_.column.size()));
    }
  } else if (dense_.size() > 0) {
    out.dense_ = rows(which);
  }
  for (const Index i : which) out.places_.push_back(places_[at(i)]);
  return out;
}

Matrix Points::rows(std::span<const Index> which) const {
  Matrix out = Matrix::Zero(static_cast<Index>(which.size()), width());
  for (Index r = 0; r < out.rows(); ++r) {
    const Index i = which[at(r)];
    if (!is_sparse_) {
      out.row(r) = dense_.row(i);
      continue;
    }
    for (Index k = sparse_.start[at(i)]; k < sparse_.start[at(i) + 1]; ++k)
      out(r, sparse_.column[at(k)]) = sparse_.value[at(k)];
  }
  return out;
}

Matrix Points::rows(Index first, Index size) const {
  std::vector<Index> which(at(size));
  std::iota(which.begin(), which.end(), first);
  return rows(which);
}

Vector Points::means(std::span<const double> weights) const {
  if (count() == 0) return Vector::Zero(width());
  const Vector w = weights_of(weights, count());
  if (!is_sparse_) return dense_.transpose() * w / w.sum();
  Vector sums = Vector::Zero(width());
  for (Index i = 0; i < count(); ++i)
    for (Index k = sparse_.start[at(i)]; k < sparse_.start[at(i) + 1]; ++k)
      sums(sparse_.column[at(k)]) += w(i) * sparse_.value[at(k)];
  return sums / w.sum();
}

Vector Points::variances(std::span<const double> weights) const {
  if (count() == 0) return means(weights);
  const Vector mean = means(weights);
  const Vector w = weights_of(weights, count());
  const double n = w.sum();
  if (!is_sparse_) return (dense_.rowwise() - mean.transpose()).cwiseAbs2().transpose() * w / n;
  Vector squares = Vector::Zero(width()), filled = squares;  // Σ (x − m)² over what is not zero, and how many these are
  for (Index i = 0; i < count(); ++i)
    for (Index k = sparse_.start[at(i)]; k < sparse_.start[at(i) + 1]; ++k) {
      const Index j = sparse_.column[at(k)];
      squares(j) += w(i) * (sparse_.value[at(k)] - mean(j)) * (sparse_.value[at(k)] - mean(j));
      filled(j) += w(i);
    }
  return (squares.array() + (n - filled.array()) * mean.array().square()) / n;
}

}  // namespace lemma
