// lemma/linear/logistic/loss.cpp: the loss by scans over blocks of rows.
#include <cmath>
#include <lemma/linear/logistic/loss.hpp>
#include <lemma/math/simd/gram.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/math/special.hpp>

namespace lemma::logit {
namespace {

std::span<double> span_of(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// β as it is applied to the rows: η = offset + start + x·slopes.
struct Predictor {
  Predictor(const Frame& of, const Vector& beta) : frame(&of) {
    slopes = frame->prepare ? Vector(beta.tail(frame->width()))
                            : Vector(beta.tail(frame->width()).cwiseProduct(frame->inverse_scale));
    start = frame->prepare ? beta(0) : beta(0) - frame->mean.dot(slopes);
  }
  const Frame* frame;
  Vector slopes;
  double start = 0;
};

/// A block's rows with η, y and w.
struct Looked {
  Looked(const Block& block, const Predictor& at) : frame(*at.frame), eta(static_cast<std::size_t>(block.rows())) {
    if (frame.prepare)
      made = (block.x.rowwise() - frame.mean.transpose()).array().rowwise() * frame.inverse_scale.transpose().array();
    simd::rows_times(x(block), span_of(at.slopes), at.start, eta);
    for (std::size_t i = 0; i < block.offset.size(); ++i) eta[i] += block.offset[i];
    responses(block, block.rows(), frame, y, w);
  }
  MatrixView x(const Block& block) const { return frame.prepare ? MatrixView(made) : block.x; }

  const Frame& frame;
  Matrix made;
  std::vector<double> eta, y, w;
};

/// Σ r (1, x) of the plain columns becomes that of (1, x̃).
Vector in_frame(const Frame& frame, const Vector& sums) {
  Vector out = sums;
  if (!frame.prepare)
    out.tail(frame.width()) = (sums.tail(frame.width()) - sums(0) * frame.mean).cwiseProduct(frame.inverse_scale);
  return out;
}

struct Sums {
  const Predictor* at;
  bool bends;  // the Hessian too
  double loss = 0;
  Vector gradient;           // Σ r (1, x)
  double curvature_sum = 0;  // Σ h
  Vector curvature_mean;     // Σ h (x − mean)
  Matrix curvature;          // the upper triangle of Σ h (x − mean)(x − mean)ᵀ
  bool empty = true;

  Sums(const Predictor& where, bool hessian) : at(&where), bends(hessian) {}

  void accumulate(const Block& block) {
    const Looked look(block, *at);
    const Index p = at->frame->width();
    std::vector<double> residual(look.eta.size()), bend(bends ? look.eta.size() : 0);
    if (empty) gradient = Vector::Zero(p + 1);
    loss += simd::logistic_loss(look.eta, look.y, look.w, residual, bend);
    for (const double r : residual) gradient(0) += r;
    const MatrixView x = look.x(block);
    simd::add_rows(x, residual, {gradient.data() + 1, static_cast<std::size_t>(p)});
    if (bends) add_curvature(x, bend);
    empty = false;
  }

  void add_curvature(const MatrixView& x, const std::vector<double>& bend) {
    const Index p = x.cols();
    if (empty) {
      curvature.resize(p, p);
      curvature_mean = Vector::Zero(p);
    }
    const Vector zero = Vector::Zero(p);
    const std::span<const double> origin = span_of(at->frame->prepare ? zero : at->frame->mean);
    simd::GramTile tile(curvature, empty ? simd::GramTile::Start::anew : simd::GramTile::Start::onto);
    for (Index i = 0; i < x.rows(); ++i) {
      const double h = bend[static_cast<std::size_t>(i)];
      curvature_sum += h;
      tile.add({x.data() + i * x.outerStride(), static_cast<std::size_t>(p)}, origin, std::sqrt(h),
               span_of(curvature_mean));
    }
    tile.finish();
  }

  void merge(const Sums& other) {
    if (other.empty) return;
    if (empty) {
      *this = other;
      return;
    }
    loss += other.loss;
    gradient += other.gradient;
    if (!bends) return;
    curvature_sum += other.curvature_sum;
    curvature_mean += other.curvature_mean;
    curvature.triangularView<Eigen::Upper>() += other.curvature;
  }

  Matrix hessian() const {
    const Frame& frame = *at->frame;
    const Index p = frame.width();
    Matrix out(p + 1, p + 1);
    const Vector unit = frame.prepare ? Vector::Ones(p) : frame.inverse_scale;
    const Matrix whole = curvature.selfadjointView<Eigen::Upper>();
    out.bottomRightCorner(p, p) = unit.asDiagonal() * whole * unit.asDiagonal();
    out(0, 0) = frame.intercept ? curvature_sum : 1;
    const Vector cross = frame.intercept ? Vector(curvature_mean.cwiseProduct(unit)) : Vector::Zero(p);
    out.row(0).tail(p) = cross.transpose();
    out.col(0).tail(p) = cross;
    return out;
  }
};

struct Split {
  const Predictor* at;
  double loss = 0, pearson[2] = {0, 0};
  Vector sums[2];  // of u > 0, of u < 0: Σ u (1, x)

  void accumulate(const Block& block) {
    const Looked look(block, *at);
    const Index p = at->frame->width();
    std::vector<double> residual(look.eta.size()), bend(look.eta.size()), part(look.eta.size());
    loss += simd::logistic_loss(look.eta, look.y, look.w, residual, bend);
    for (const int side : {0, 1}) {
      if (sums[side].size() == 0) sums[side] = Vector::Zero(p + 1);
      for (std::size_t i = 0; i < part.size(); ++i) {
        const double u = -residual[i];
        part[i] = (side == 0) == (u > 0) ? u : 0.0;
        sums[side](0) += part[i];
        if (part[i] != 0) pearson[side] += bend[i] > 0 ? u * u / bend[i] : std::numeric_limits<double>::infinity();
      }
      simd::add_rows(look.x(block), part, {sums[side].data() + 1, static_cast<std::size_t>(p)});
    }
  }
  void merge(const Split& other) {
    loss += other.loss;
    for (const int side : {0, 1}) {
      pearson[side] += other.pearson[side];
      if (sums[side].size() == 0) sums[side] = other.sums[side];
      else if (other.sums[side].size() > 0) sums[side] += other.sums[side];
    }
  }
};

struct Mismatch {
  const Predictor* at;
  double t_positive, t_negative;
  double sum = 0;

  void accumulate(const Block& block) {
    const Looked look(block, *at);
    for (std::size_t i = 0; i < look.eta.size(); ++i) {
      const bool positive = look.y[i] > lemma::logistic(look.eta[i]);
      sum += row_mismatch(look.eta[i], look.y[i], look.w[i], positive ? t_positive : t_negative);
    }
  }
  void merge(const Mismatch& other) { sum += other.sum; }
};

}  // namespace

void responses(const Block& block, Index rows, const Frame& frame, std::vector<double>& y, std::vector<double>& w) {
  const auto n = static_cast<std::size_t>(rows);
  y.resize(n);
  w.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = frame.of_classes ? static_cast<double>(block.label[i]) : block.y[i];
    w[i] = block.weight_of(static_cast<Index>(i)) * (frame.of_classes ? frame.class_factor[block.label[i]] : 1.0);
  }
}

double row_mismatch(double eta, double y, double w, double t) {
  if (w == 0) return 0;
  const double p = lemma::logistic(eta), other = lemma::logistic(-eta);  // 1 − p, with all its digits
  const double y_less_p = eta > 0 ? other - (1 - y) : y - p, shift = (1 - t) * y_less_p;
  const double q = p + shift, rest = other - shift;
  double sum = 0;
  if (q > 0) sum += q * std::log1p(shift / p);
  if (rest > 0) sum += rest * std::log1p(-shift / other);
  return w * std::max(0.0, sum);
}

double DenseLoss::value(const Vector& beta) const {
  const Predictor at(frame_, beta);
  return scan(rows_, Sums(at, false), execution_).loss;
}

double DenseLoss::value(const Vector& beta, Vector& gradient) const {
  const Predictor at(frame_, beta);
  const Sums sums = scan(rows_, Sums(at, false), execution_);
  gradient = in_frame(frame_, sums.gradient);
  if (!frame_.intercept) gradient(0) = 0;
  return sums.loss;
}

double DenseLoss::value(const Vector& beta, Vector& gradient, Matrix& hessian) const {
  const Predictor at(frame_, beta);
  const Sums sums = scan(rows_, Sums(at, true), execution_);
  gradient = in_frame(frame_, sums.gradient);
  if (!frame_.intercept) gradient(0) = 0;
  hessian = sums.hessian();
  return sums.loss;
}

DualParts DenseLoss::split(const Vector& beta) const {
  const Predictor at(frame_, beta);
  const Split found = scan(rows_, Split{&at}, execution_);
  DualParts out{found.loss, in_frame(frame_, found.sums[0]), in_frame(frame_, found.sums[1]), found.pearson[0],
                found.pearson[1]};
  if (!frame_.intercept) out.positive(0) = out.negative(0) = 0;
  return out;
}

double DenseLoss::mismatch(const Vector& beta, double t_positive, double t_negative) const {
  const Predictor at(frame_, beta);
  return scan(rows_, Mismatch{&at, t_positive, t_negative}, execution_).sum;
}

}  // namespace lemma::logit
