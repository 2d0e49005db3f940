// lemma/linear/shared/likelihood_gap.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/shared/likelihood_gap.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/math/special.hpp>

namespace lemma::likelihood {
namespace {

constexpr double kSmall = 1e-10;            // a gap beside the objective: no better proof is looked for
constexpr double kApart = 1e-9;             // of its terms a sum that is 0 but for rounding
constexpr double kApartOfDependent = 1e-6;  // what a column may have of its own that the others are said to determine
constexpr double kSeriesBelow = 1e-3;

/// Of the rows of a block: (1, x̃), η turned into p, the shares y, and w.
struct Seen {
  Matrix z, p, y;
  Vector w, loss;

  Seen(const Point& at, const Block& block) : z(block.rows(), at.terms()), p(block.rows(), at.classes()) {
    const logit::Frame& frame = at.frame;
    const Index n = block.rows();
    z.col(0).setConstant(frame.intercept ? 1 : 0);
    z.rightCols(frame.width()) =
        (block.x.rowwise() - frame.mean.transpose()).array().rowwise() * frame.inverse_scale.transpose().array();
    blas::gemm(blas::Op::plain, z, blas::Op::transposed, at.b, p);
    y = Matrix::Zero(n, at.classes());
    w.resize(n);
    for (Index i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (!block.offset.empty()) p(i, 1) += block.offset_of(i);
      w(i) = block.weight_of(i);
      if (frame.of_classes) {
        y(i, block.label[row]) = 1;
        if (at.classes() == 2) w(i) *= frame.class_factor[block.label[row]];
      } else {
        y(i, 0) = 1 - block.y[row];
        y(i, 1) = block.y[row];
      }
    }
    loss = -p.cwiseProduct(y).rowwise().sum();
    loss += softmax_rows(p);
  }
  /// y_k − p_k; where p_k is nearly 1 by the other classes, which have all their digits.
  double less(Index i, Index k) const {
    if (p(i, k) <= 0.5) return y(i, k) - p(i, k);
    double sum = 0;
    for (Index j = 0; j < p.cols(); ++j)
      if (j != k) sum += p(i, j) - y(i, j);
    return sum;
  }
};

/// The squares that Newton's step is the least sum of, as rows of a regression. By the law of total variance, with
/// s_k = Σ_{j ≥ k} p_j and classes settled one after the other,
///
///     Var_p(f) = Σ_{k < K} (p_k s_{k+1} / s_k) (f_k − Σ_{j > k} p_j f_j / s_{k+1})²:
///
/// a row of K classes makes K − 1 rows, without cancellation.
class StepRows final : public Rows {
 public:
  StepRows(const Point& at, const std::vector<Index>& terms) : at_(at), terms_(terms) {
    features.resize(static_cast<std::size_t>(at.classes() - 1) * terms.size());
    has_response = true;
  }
  Index count() const override { return at_.rows.count() * (at_.classes() - 1); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;

 private:
  const Point& at_;
  const std::vector<Index>& terms_;
};

Block StepRows::read(Index first, Index size, BlockBuffer& buffer) const {
  const Index each = at_.classes() - 1, begin = first / each, width = static_cast<Index>(terms_.size());
  BlockBuffer inner;
  const Seen seen(at_, at_.rows.read(begin, (first + size - 1) / each - begin + 1, inner));
  buffer.x = Matrix::Zero(size, width * each);
  buffer.y.assign(static_cast<std::size_t>(size), 0);
  buffer.precision.assign(static_cast<std::size_t>(size), 0);
  Vector tail(at_.classes() + 1), tail_y(at_.classes() + 1);
  for (Index s = 0; s < size; ++s) {
    const Index i = (first + s) / each - begin, k = (first + s) % each;
    tail(at_.classes()) = tail_y(at_.classes()) = 0;
    for (Index j = at_.classes() - 1; j >= k; --j) {
      tail(j) = tail(j + 1) + seen.p(i, j);
      tail_y(j) = tail_y(j + 1) + seen.y(i, j);
    }
    const double precision = seen.w(i) * seen.p(i, k) * (tail(k + 1) / tail(k));
    if (!(precision > 0)) continue;
    const auto row = static_cast<std::size_t>(s);
    buffer.precision[row] = precision;
    buffer.y[row] = seen.y(i, k) / seen.p(i, k) - tail_y(k + 1) / tail(k + 1);
    const Vector z = seen.z.row(i)(terms_).transpose();
    if (k > 0) buffer.x.row(s).segment((k - 1) * width, width) = z.transpose();
    for (Index j = k + 1; j < at_.classes(); ++j)
      buffer.x.row(s).segment((j - 1) * width, width) = -(seen.p(i, j) / tail(k + 1)) * z.transpose();
  }
  Block out(buffer.x, first);
  out.y = buffer.y;
  out.precision = buffer.precision;
  return out;
}

/// (1 + u) log(1 + u) − u ≥ 0: near 0 by its series, where the two parts would cancel.
double divergence(double u) {
  if (std::abs(u) < kSeriesBelow) return u * u * (1.0 / 2 - u * (1.0 / 6 - u * (1.0 / 12 - u / 20)));
  return u > -1 ? (1 + u) * std::log1p(u) - u : 1;
}

struct GapSums {
  const Point* at;
  const Matrix* d;
  Gap found;
  Matrix left, size;  // Σ w x̃ (y − q) and the sum of its terms' sizes, a row for each class

  void accumulate(const Block& block) {
    const Seen seen(*at, block);
    Matrix f(block.rows(), at->classes());
    blas::gemm(blas::Op::plain, seen.z, blas::Op::transposed, *d, f);
    Matrix rest(block.rows(), at->classes());
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = seen.w(i), mean = seen.p.row(i).dot(f.row(i));
      rest.row(i).setZero();
      if (!(w > 0)) continue;
      found.objective += w * seen.loss(i);
      for (Index k = 0; k < at->classes(); ++k) {
        const double u = f(i, k) - mean;
        found.least = std::min(found.least, std::isnan(u) ? -1.0 : 1 + u);
        found.gap += w * seen.p(i, k) * divergence(u);
        rest(i, k) = w * (seen.less(i, k) - seen.p(i, k) * u);
      }
    }
    Matrix part(at->classes(), at->terms());
    blas::gemm(blas::Op::transposed, rest, blas::Op::plain, seen.z, part);
    add(left, part);
    blas::gemm(blas::Op::transposed, rest.cwiseAbs(), blas::Op::plain, seen.z.cwiseAbs(), part);
    add(size, part);
  }
  void merge(const GapSums& other) {
    found.objective += other.found.objective;
    found.gap += other.found.gap;
    found.least = std::min(found.least, other.found.least);
    add(left, other.left);
    add(size, other.size);
  }
  static void add(Matrix& sum, const Matrix& part) {
    if (sum.size() == 0) sum = part;
    else if (part.size() > 0) sum += part;
  }
};

bool told_apart(const LinearSolution& found) { return found.condition * logit::kDependent < 1; }

/// The terms that differ from row to row, or are 1.
std::vector<Index> terms_taking_part(const logit::Frame& frame) {
  std::vector<Index> out;
  if (frame.intercept) out.push_back(0);
  for (Index j = 0; j < frame.width(); ++j)
    if (frame.inverse_scale(j) > 0) out.push_back(j + 1);
  return out;
}

}  // namespace

Step step_by_triangle(const Point& at, const Execution& execution) {
  const std::vector<Index> terms = terms_taking_part(at.frame);
  const Index width = static_cast<Index>(terms.size()), others = at.classes() - 1, all = others * at.terms();
  Step out{Matrix::Zero(at.classes(), at.terms()), Matrix::Zero(all, all), Vector::Zero(all)};
  if (width == 0) return out;
  const LeastSquares squares =
      scan(StepRows(at, terms), LeastSquares(width * others, false, LeastSquares::Route::householder), execution);
  LinearSolution found = solve(squares);
  out.dependent = !found.aliased.empty() || !told_apart(found);
  for (double tolerance = 1e-10; !told_apart(found) && tolerance < 1; tolerance *= 10)
    found = solve(squares, tolerance);
  std::vector<Index> places;  // of the unknowns among all terms of the classes but the first
  for (Index k = 0; k < others; ++k)
    for (const Index term : terms) places.push_back(k * at.terms() + term);
  for (Index c = 0; c < width * others; ++c)
    out.d(1 + c / width, terms[static_cast<std::size_t>(c % width)]) = found.coefficients(c);
  const auto triangle = squares.triangle().leftCols(width * others);
  out.curvature(places, places) = triangle.transpose() * triangle;
  out.gradient(places) = -triangle.transpose() * squares.triangle().col(width * others);
  return out;
}

bool Gap::proved(bool dependent) const {
  return least >= 0 && apart <= (dependent ? kApartOfDependent : kApart) && std::isfinite(gap);
}

Gap gap_by(const Matrix& d, const Point& at, const Execution& execution) {
  const GapSums sums = scan(at.rows, GapSums{&at, &d, {}, {}, {}}, execution);
  Gap out = sums.found;
  for (Index k = 0; k < sums.left.rows(); ++k)
    for (Index j = 0; j < sums.left.cols(); ++j)
      if (sums.size(k, j) > 0) out.apart = std::max(out.apart, std::abs(sums.left(k, j)) / sums.size(k, j));
  return out;
}

Proof prove(std::optional<Step> by_hessian, const Point& at, const Execution& execution) {
  const auto proof_by = [&](Step step) {
    const Gap gap = gap_by(step.d, at, execution);
    return Proof{std::move(step), gap};
  };
  if (!by_hessian) return proof_by(step_by_triangle(at, execution));
  Proof first = proof_by(std::move(*by_hessian));
  if (first.holds() && first.gap.gap <= kSmall * first.gap.objective) return first;
  Proof second = proof_by(step_by_triangle(at, execution));
  return second.holds() && (!first.holds() || second.gap.gap < first.gap.gap) ? second : first;
}

}  // namespace lemma::likelihood
