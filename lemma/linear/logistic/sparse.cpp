// lemma/linear/logistic/sparse.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/logistic/sparse.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/math/special.hpp>

namespace lemma::logit {
namespace {

constexpr Index kMostRuns = 16, kLeastRunRows = 2048;
constexpr Index kColumnsAtOnce = 8192, kRowsAtOnce = 16'384;

/// x_i · b, in four sums.
double row_times(const Csr& x, Index i, const double* b) {
  auto k = static_cast<std::size_t>(x.start[static_cast<std::size_t>(i)]);
  const auto end = static_cast<std::size_t>(x.start[static_cast<std::size_t>(i) + 1]);
  const std::int32_t* column = x.column.data();
  const double* value = x.value.data();
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (; k + 4 <= end; k += 4) {
    s0 += value[k] * b[column[k]];
    s1 += value[k + 1] * b[column[k + 1]];
    s2 += value[k + 2] * b[column[k + 2]];
    s3 += value[k + 3] * b[column[k + 3]];
  }
  for (; k < end; ++k) s0 += value[k] * b[column[k]];
  return (s0 + s1) + (s2 + s3);
}

/// sum += r x_i.
void add_row(const Csr& x, Index i, double r, double* sum) {
  const auto end = static_cast<std::size_t>(x.start[static_cast<std::size_t>(i) + 1]);
  for (auto k = static_cast<std::size_t>(x.start[static_cast<std::size_t>(i)]); k < end; ++k)
    sum[x.column[k]] += r * x.value[k];
}

}  // namespace

SparseLoss::SparseLoss(const Csr& x, const Rows& rows, Frame frame, Execution execution)
    : Loss(std::move(frame)), x_(x), execution_(std::move(execution)) {
  const Index n = x_.rows();
  runs_ = std::clamp<Index>(n / kLeastRunRows, 1, kMostRuns);
  run_rows_ = (n + runs_ - 1) / runs_;
  y_.resize(static_cast<std::size_t>(n));
  w_.resize(static_cast<std::size_t>(n));
  if (rows.has_offset) offset_.resize(static_cast<std::size_t>(n));
  BlockBuffer buffer;
  std::vector<double> y, w;
  for (Index first = 0; first < n; first += kRowsAtOnce) {
    const Block block = rows.outcome(first, std::min(kRowsAtOnce, n - first), buffer);
    responses(block, std::min(kRowsAtOnce, n - first), frame_, y, w);
    std::copy(y.begin(), y.end(), y_.begin() + first);
    std::copy(w.begin(), w.end(), w_.begin() + first);
    std::copy(block.offset.begin(), block.offset.end(), offset_.begin() + (rows.has_offset ? first : 0));
  }
}

std::unique_ptr<SparseLoss> SparseLoss::of_dense(const Rows& rows, const Frame& frame, const Execution& execution) {
  const Index n = rows.count(), p = rows.width();
  auto x = std::make_shared<Csr>();
  x->width = p;
  x->column.resize(static_cast<std::size_t>(n * p));
  x->value.resize(x->column.size());
  for (Index i = 0; i <= n; ++i) x->start.push_back(i * p);
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index j = 0; j < p; ++j) {
        const auto to = static_cast<std::size_t>((block.first + i) * p + j);
        x->column[to] = static_cast<std::int32_t>(j);
        x->value[to] = (block.x(i, j) - frame.mean(j)) * frame.inverse_scale(j);
      }
  });
  Frame made = frame;
  made.mean.setZero();
  made.inverse_scale = made.inverse_scale.unaryExpr([](double s) { return s > 0 ? 1.0 : 0.0; });
  auto out = std::make_unique<SparseLoss>(*x, rows, made, execution);
  out->own_ = x;
  return out;
}

void SparseLoss::for_each_run(const std::function<void(std::size_t, Index, Index)>& visit) const {
  parallel_for(runs_, execution_, [&](Index run) {
    visit(static_cast<std::size_t>(run), std::min(run * run_rows_, x_.rows()),
          std::min((run + 1) * run_rows_, x_.rows()));
  });
}

Vector SparseLoss::slopes_of(const Vector& beta) const {
  return beta.tail(frame_.width()).cwiseProduct(frame_.inverse_scale);
}

/// The sums of the runs, in their order, in the frame's units.
Vector SparseLoss::merged(const std::vector<Vector>& parts) const {
  Vector out(size());
  const Index pieces = (size() + kColumnsAtOnce - 1) / kColumnsAtOnce;
  parallel_for(pieces, execution_, [&](Index piece) {
    const Index first = piece * kColumnsAtOnce, count = std::min(kColumnsAtOnce, size() - first);
    auto to = out.segment(first, count);
    to = parts.front().segment(first, count);
    for (std::size_t run = 1; run < parts.size(); ++run) to += parts[run].segment(first, count);
  });
  if (!frame_.intercept) out(0) = 0;
  return out;
}

Vector SparseLoss::predictor(const Vector& beta) const {
  const Vector b = slopes_of(beta);
  Vector eta(x_.rows());
  for_each_run([&](std::size_t, Index first, Index last) {
    for (Index i = first; i < last; ++i)
      eta(i) = (offset_.empty() ? 0.0 : offset_[static_cast<std::size_t>(i)]) + (beta(0) + row_times(x_, i, b.data()));
  });
  return eta;
}

double SparseLoss::rows_loss(const Vector& eta, Vector& residual, Vector& curvature) const {
  residual.resize(eta.size());
  curvature.resize(eta.size());
  std::vector<double> losses(static_cast<std::size_t>(runs_));
  for_each_run([&](std::size_t run, Index first, Index last) {
    const auto n = static_cast<std::size_t>(last - first), from = static_cast<std::size_t>(first);
    losses[run] = simd::logistic_loss({eta.data() + first, n}, {y_.data() + from, n}, {w_.data() + from, n},
                                      {residual.data() + first, n}, {curvature.data() + first, n});
  });
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum;
}

Vector SparseLoss::add_up(const Vector& r) const {
  std::vector<Vector> parts(static_cast<std::size_t>(runs_));
  for_each_run([&](std::size_t run, Index first, Index last) {
    Vector& sum = parts[run] = Vector::Zero(size());
    for (Index i = first; i < last; ++i) {
      if (r(i) == 0) continue;
      sum(0) += r(i);
      add_row(x_, i, r(i), sum.data() + 1);
    }
  });
  Vector out = merged(parts);
  out.tail(frame_.width()).array() *= frame_.inverse_scale.array();
  return out;
}

Vector SparseLoss::add_up_squares(const Vector& r) const {
  std::vector<Vector> parts(static_cast<std::size_t>(runs_));
  for_each_run([&](std::size_t run, Index first, Index last) {
    Vector& sum = parts[run] = Vector::Zero(size());
    for (Index i = first; i < last; ++i) {
      sum(0) += r(i);
      const auto end = static_cast<std::size_t>(x_.start[static_cast<std::size_t>(i) + 1]);
      for (auto k = static_cast<std::size_t>(x_.start[static_cast<std::size_t>(i)]); k < end; ++k)
        sum(x_.column[k] + 1) += r(i) * x_.value[k] * x_.value[k];
    }
  });
  Vector out = merged(parts);
  out.tail(frame_.width()).array() *= frame_.inverse_scale.array().square();
  return out;
}

void SparseLoss::add_up_both(const Vector& r, const Vector& h, Vector& sums, Vector& squares) const {
  std::vector<Vector> parts(static_cast<std::size_t>(runs_)), others(parts.size());
  for_each_run([&](std::size_t run, Index first, Index last) {
    Vector &sum = parts[run] = Vector::Zero(size()), &square = others[run] = Vector::Zero(size());
    for (Index i = first; i < last; ++i) {
      sum(0) += r(i);
      square(0) += h(i);
      const auto end = static_cast<std::size_t>(x_.start[static_cast<std::size_t>(i) + 1]);
      for (auto k = static_cast<std::size_t>(x_.start[static_cast<std::size_t>(i)]); k < end; ++k) {
        sum(x_.column[k] + 1) += r(i) * x_.value[k];
        square(x_.column[k] + 1) += h(i) * x_.value[k] * x_.value[k];
      }
    }
  });
  sums = merged(parts);
  squares = merged(others);
  sums.tail(frame_.width()).array() *= frame_.inverse_scale.array();
  squares.tail(frame_.width()).array() *= frame_.inverse_scale.array().square();
}

void SparseLoss::add_up_by_sign(const Vector& r, Vector& positive, Vector& negative) const {
  std::vector<Vector> ups(static_cast<std::size_t>(runs_)), downs(ups.size());
  for_each_run([&](std::size_t run, Index first, Index last) {
    Vector &up = ups[run] = Vector::Zero(size()), &down = downs[run] = Vector::Zero(size());
    for (Index i = first; i < last; ++i) {
      double* sum = (r(i) > 0 ? up : down).data();
      sum[0] += r(i);
      add_row(x_, i, r(i), sum + 1);
    }
  });
  positive = merged(ups);
  negative = merged(downs);
  for (Vector* each : {&positive, &negative}) each->tail(frame_.width()).array() *= frame_.inverse_scale.array();
}

Vector SparseLoss::hessian_times(const Vector& curvature, const Vector& v) const {
  const Vector b = slopes_of(v);
  std::vector<Vector> parts(static_cast<std::size_t>(runs_));
  for_each_run([&](std::size_t run, Index first, Index last) {
    Vector& sum = parts[run] = Vector::Zero(size());
    for (Index i = first; i < last; ++i) {
      const double t = curvature(i) * (v(0) + row_times(x_, i, b.data()));
      sum(0) += t;
      add_row(x_, i, t, sum.data() + 1);
    }
  });
  Vector out = merged(parts);
  out.tail(frame_.width()).array() *= frame_.inverse_scale.array();
  return out;
}

double SparseLoss::add_term(Index i, const Vector& beta, Vector& gradient) const {
  const auto at = static_cast<std::size_t>(i);
  const auto first = static_cast<std::size_t>(x_.start[at]), end = static_cast<std::size_t>(x_.start[at + 1]);
  double eta = beta(0) + (offset_.empty() ? 0.0 : offset_[at]);
  for (std::size_t k = first; k < end; ++k)
    eta += x_.value[k] * frame_.inverse_scale(x_.column[k]) * beta(x_.column[k] + 1);
  const double residual = w_[at] * (lemma::logistic(eta) - y_[at]);
  if (frame_.intercept) gradient(0) += residual;
  for (std::size_t k = first; k < end; ++k)
    gradient(x_.column[k] + 1) += residual * x_.value[k] * frame_.inverse_scale(x_.column[k]);
  return w_[at] * (log1p_exp(eta) - y_[at] * eta);
}

double SparseLoss::value(const Vector& beta) const {
  Vector residual, curvature;
  return rows_loss(predictor(beta), residual, curvature);
}

double SparseLoss::value(const Vector& beta, Vector& gradient) const {
  Vector residual, curvature;
  const double loss = rows_loss(predictor(beta), residual, curvature);
  gradient = add_up(residual);
  return loss;
}

double SparseLoss::value(const Vector& beta, Vector& gradient, Matrix& hessian) const {
  Vector residual, curvature;
  const double loss = rows_loss(predictor(beta), residual, curvature);
  gradient = add_up(residual);
  hessian = Matrix::Zero(size(), size());
  for (Index i = 0; i < x_.rows(); ++i) {
    const auto first = static_cast<std::size_t>(x_.start[static_cast<std::size_t>(i)]),
               end = static_cast<std::size_t>(x_.start[static_cast<std::size_t>(i) + 1]);
    const double h = curvature(i);
    hessian(0, 0) += h;
    for (std::size_t k = first; k < end; ++k) {
      const Index a = x_.column[k];
      const double scaled = h * x_.value[k] * frame_.inverse_scale(a);
      hessian(0, a + 1) += scaled;
      for (std::size_t m = k; m < end; ++m)
        hessian(a + 1, x_.column[m] + 1) += scaled * x_.value[m] * frame_.inverse_scale(x_.column[m]);
    }
  }
  hessian.triangularView<Eigen::StrictlyLower>() = hessian.transpose();
  if (!frame_.intercept) {
    hessian.row(0).setZero();
    hessian.col(0).setZero();
    hessian(0, 0) = 1;
  }
  return loss;
}

DualParts SparseLoss::split(const Vector& beta) const {
  DualParts out;
  Vector residual, curvature;
  out.loss = rows_loss(predictor(beta), residual, curvature);
  for (Index i = 0; i < residual.size(); ++i) {
    if (residual(i) == 0) continue;
    double& sum = residual(i) < 0 ? out.pearson_positive : out.pearson_negative;
    sum += curvature(i) > 0 ? residual(i) * residual(i) / curvature(i) : std::numeric_limits<double>::infinity();
  }
  add_up_by_sign(-residual, out.positive, out.negative);
  return out;
}

double SparseLoss::mismatch(const Vector& beta, double t_positive, double t_negative) const {
  const Vector eta = predictor(beta);
  std::vector<double> sums(static_cast<std::size_t>(runs_));
  for_each_run([&](std::size_t run, Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double t = y_[at] > lemma::logistic(eta(i)) ? t_positive : t_negative;
      sums[run] += row_mismatch(eta(i), y_[at], w_[at], t);
    }
  });
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

}  // namespace lemma::logit
