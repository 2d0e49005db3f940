// lemma/kernel/svm/platt.cpp
#include <algorithm>
#include <cmath>
#include <lemma/kernel/svm/platt.hpp>

namespace lemma {
namespace {

/// −log likelihood of the sigmoid at A f + B = z, for a target q: log(1 + e^z) − (1 − q) z, without overflow.
double loss(double z, double q) {
  return z >= 0 ? q * z + std::log1p(std::exp(-z)) : (q - 1) * z + std::log1p(std::exp(z));
}

}  // namespace

double Sigmoid::operator()(double f) const {
  const double z = slope * f + offset;
  return z >= 0 ? std::exp(-z) / (1 + std::exp(-z)) : 1 / (1 + std::exp(z));
}

Sigmoid platt(const Vector& f, const Vector& target, const Vector& weight) {
  constexpr int kMostSteps = 100;
  constexpr double kRidge = 1e-12, kLeastStep = 1e-10, kFlat = 1e-5;
  double positive = 0, negative = 0;
  for (Index i = 0; i < f.size(); ++i) (target(i) > 0 ? positive : negative) += weight(i);
  const double high = (positive + 1) / (positive + 2), low = 1 / (negative + 2);
  const auto goal = [&](Index i) { return target(i) > 0 ? high : low; };
  const auto value = [&](const Sigmoid& s) {
    double sum = 0;
    for (Index i = 0; i < f.size(); ++i) sum += weight(i) * loss(s.slope * f(i) + s.offset, goal(i));
    return sum;
  };
  Sigmoid now{0, std::log((negative + 1) / (positive + 1))};
  double least = value(now);
  for (int step = 0; step < kMostSteps; ++step) {
    double haa = kRidge, hbb = kRidge, hab = 0, ga = 0, gb = 0;  // Hessian (with a little on its diagonal) and gradient
    for (Index i = 0; i < f.size(); ++i) {
      const double p = now(f(i)), bend = weight(i) * p * (1 - p), slope = weight(i) * (goal(i) - p);
      haa += f(i) * f(i) * bend;
      hbb += bend;
      hab += f(i) * bend;
      ga += f(i) * slope;
      gb += slope;
    }
    if (std::abs(ga) < kFlat && std::abs(gb) < kFlat) break;
    const double determinant = haa * hbb - hab * hab;
    const double da = -(hbb * ga - hab * gb) / determinant, db = -(haa * gb - hab * ga) / determinant;
    const double fall = ga * da + gb * db;
    double size = 1;
    for (; size >= kLeastStep; size /= 2) {
      const Sigmoid next{now.slope + size * da, now.offset + size * db};
      const double at_next = value(next);
      if (at_next < least + 1e-4 * size * fall) {
        now = next;
        least = at_next;
        break;
      }
    }
    if (size < kLeastStep) break;
  }
  return now;
}

Vector couple(const Matrix& r) {
  const Index k = r.rows();
  Matrix q = Matrix::Zero(k, k);
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < k; ++j) {
      if (i == j) continue;
      q(i, i) += r(j, i) * r(j, i);
      q(i, j) = -r(j, i) * r(i, j);
    }
  Vector p = Vector::Constant(k, 1 / static_cast<double>(k)), qp = q * p;
  const int most = std::max(100, static_cast<int>(k));
  for (int sweep = 0; sweep < most; ++sweep) {
    double pqp = p.dot(qp);
    if ((qp.array() - pqp).abs().maxCoeff() < 0.005 / static_cast<double>(k) * 1e-6) break;
    for (Index i = 0; i < k; ++i) {  // each pᵢ to its optimum, and all divided by their sum
      const double change = (pqp - qp(i)) / q(i, i);
      p(i) += change;
      pqp = (pqp + change * (change * q(i, i) + 2 * qp(i))) / ((1 + change) * (1 + change));
      qp = (qp + change * q.col(i)) / (1 + change);
      p /= 1 + change;
    }
  }
  return p;
}

}  // namespace lemma
