// lemma/kernel/svm/smo_pair.hpp: two variables at a time, the second by the greatest fall of the objective (Fan, Chen and Lin
// 2005). Inner header.
#pragma once
#include <algorithm>
#include <lemma/kernel/svm/smo_parts.hpp>
#include <lemma/math/simd/pairs.hpp>

namespace lemma::smo {

/// `Rows` gives row i of K, a number (float or double) for each variable and beyond the last up to padded_to_pairs; the
/// row asked for before stays where it is.
template <class Rows>
class PairDescent {
 public:
  PairDescent(const Vector& low, const Vector& high, const Vector& diagonal, const Vector& beta, const Vector& v)
      : low_(low), high_(high), beta_(beta), size_(v.size()), padded_(simd::padded_to_pairs(size_)) {
    diagonal_ = Vector::Ones(padded_);
    v_ = Vector::Zero(padded_);
    may_grow_ = Vector::Constant(padded_, -kInfinity);
    may_fall_ = Vector::Constant(padded_, kInfinity);
    diagonal_.head(size_) = diagonal;
    v_.head(size_) = v;
    for (Index i = 0; i < size_; ++i) set_bars(i);
  }

  const Vector& beta() const { return beta_; }
  auto v() const { return v_.head(size_); }
  double violation() const { return violation_; }
  Index steps() const { return steps_; }
  /// All of β times a factor, and v to match.
  void stretch(double factor, const Vector& c) {
    beta_ *= factor;
    v_.head(size_) = c - factor * (c - v_.head(size_));
    for (Index i = 0; i < size_; ++i) set_bars(i);
    greatest_ = find_greatest();
  }

  /// `look` is called after every so many steps and may end it all: an End, or nothing.
  template <class Look>
  Descent::End run(Rows& rows, double tolerance, Index most_steps, Index steps_between_looks, Look&& look) {
    greatest_ = find_greatest();
    while (true) {
      const Index i = greatest_.place;
      if (i < 0) return Descent::End::optimal;
      const auto* row = rows(i);
      const simd::Partner partner = simd::find_partner(greatest_.value, diagonal_(i), kLeastCurvature, row,
                                                       diagonal_.data(), may_fall_.data(), v_.data(), padded_);
      violation_ = Extremes{greatest_.value, partner.least}.violation();
      if (violation_ <= tolerance || partner.place < 0) return Descent::End::optimal;
      if (steps_ >= most_steps) return Descent::End::steps;
      if (!step(i, partner.place, row, rows(partner.place))) return Descent::End::rounding;
      if (++steps_ % steps_between_looks == 0)
        if (const std::optional<Descent::End> end = look()) return *end;
    }
  }

 private:
  void set_bars(Index i) {
    may_grow_(i) = beta_(i) < high_(i) ? 0 : -kInfinity;
    may_fall_(i) = beta_(i) > low_(i) ? 0 : kInfinity;
  }
  simd::Placed find_greatest() {
    return simd::move_and_find(0, diagonal_.data(), diagonal_.data(), may_grow_.data(), v_.data(), padded_);
  }

  /// β_i grows by what β_j falls. False when that is too little to be seen.
  bool step(Index i, Index j, const auto* row_i, const auto* row_j) {
    const double bend = diagonal_(i) + diagonal_(j) - 2 * static_cast<double>(row_i[j]);
    const double wanted = (v_(i) - v_(j)) / (bend > 0 ? bend : kLeastCurvature);
    const double before_i = beta_(i), before_j = beta_(j);
    const double size = std::min({wanted, high_(i) - before_i, before_j - low_(j)});
    beta_(i) = size == high_(i) - before_i ? high_(i) : before_i + size;
    beta_(j) = size == before_j - low_(j) ? low_(j) : before_j - size;
    if (beta_(i) == before_i && beta_(j) == before_j) return false;
    set_bars(i);
    set_bars(j);
    greatest_ = simd::move_and_find(size, row_i, row_j, may_grow_.data(), v_.data(), padded_);
    return true;
  }

  const Vector &low_, &high_;
  Vector beta_, v_, diagonal_;
  Vector may_grow_, may_fall_;  // 0, or the infinity that takes a variable out of the question
  Index size_, padded_, steps_ = 0;
  simd::Placed greatest_{};
  double violation_ = kInfinity;
};

/// A matrix with a row for each variable.
template <class T>
struct DenseRows {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> numbers;
  const T* operator()(Index i) const { return &numbers(i, 0); }
};

}  // namespace lemma::smo
