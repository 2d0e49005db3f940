// lemma/kernel/svm/machines.cpp: the rows of each machine, and what a solution is worth on them.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/shared/pairs.hpp>
#include <lemma/kernel/svm/parts.hpp>

namespace lemma::svm {
namespace {

constexpr Index kRowsAtOnce = 65536;

Machine machine_of(const Outcomes& outcomes, int negative, int positive) {
  Machine out;
  out.negative = negative;
  out.positive = positive;
  out.of_classes = outcomes.of_classes;
  std::vector<double> target, factor, weight;
  for (Index i = 0; i < outcomes.count(); ++i) {
    if (!(outcomes.weight[at(i)] > 0)) continue;
    double value = 0;
    if (outcomes.of_classes) {
      const int label = outcomes.label[at(i)];
      if (label != positive && label != negative && negative >= 0) continue;
      value = label == positive ? 1 : -1;
    } else {
      value = outcomes.y(i);
    }
    out.rows.push_back(i);
    target.push_back(value);
    factor.push_back(outcomes.factor(i));
    weight.push_back(outcomes.weight[at(i)]);
  }
  const auto vector = [](const std::vector<double>& numbers) -> Vector {
    return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
  };
  out.target = vector(target);
  out.factor = vector(factor);
  out.weight = vector(weight);
  if (!out.of_classes) {
    out.centre = out.target.dot(out.weight) / out.weight.sum();
    out.target.array() -= out.centre;
  }
  return out;
}

}  // namespace

Outcomes read_outcomes(const Svm& spec, const Rows& rows) {
  Outcomes out;
  out.of_classes = !rows.classes.empty();
  out.classes = rows.classes;
  const Index n = rows.count();
  if (!out.of_classes) out.y.resize(n);
  BlockBuffer buffer;
  std::vector<double> counts(rows.classes.size(), 0.0);
  double all = 0;
  for (Index first = 0; first < n; first += kRowsAtOnce) {
    const Block block = rows.outcome(first, std::min(kRowsAtOnce, n - first), buffer);
    for (Index i = 0; i < std::min(kRowsAtOnce, n - first); ++i) {
      const double weight = block.weight_of(i);
      out.weight.push_back(weight);
      all += weight;
      if (out.of_classes) {
        out.label.push_back(block.label[at(i)]);
        counts[at(out.label.back())] += weight;
      } else {
        out.y(first + i) = block.y[at(i)];
      }
    }
  }
  if (!(all > 0)) throw Error("svm: all weights are 0, so there are no rows to learn from");
  if (out.of_classes) {
    const auto factors = class_factors(Svm::name, spec.class_weights, counts, rows.classes);
    out.class_factors = Eigen::Map<const Vector>(factors.data(), static_cast<Index>(factors.size()));
  }
  return out;
}

Index machines_for(const Svm& spec, Index classes) {
  if (classes <= 2) return 1;
  return spec.classes == MultiClass::one_vs_rest ? classes : classes * (classes - 1) / 2;
}

Matrix machine_classes(const Svm& spec, Index classes) {
  Matrix out = Matrix::Constant(machines_for(spec, classes), 2, -1);
  if (classes == 0) return out;
  if (classes > 2 && spec.classes == MultiClass::one_vs_rest) {
    for (Index k = 0; k < classes; ++k) out(k, 1) = static_cast<double>(k);
    return out;
  }
  Index m = 0;
  for (const auto& [negative, positive] : class_pairs(classes))
    out.row(m++) << static_cast<double>(negative), static_cast<double>(positive);
  return out;
}

std::vector<Machine> machines_of(const Svm& spec, const Outcomes& outcomes) {
  std::vector<Machine> out;
  const Matrix classes = machine_classes(spec, outcomes.class_factors.size());
  for (Index m = 0; m < classes.rows(); ++m)
    out.push_back(machine_of(outcomes, static_cast<int>(classes(m, 0)), static_cast<int>(classes(m, 1))));
  return out;
}

std::string machine_name(int negative, int positive, const std::vector<std::string>& classes) {
  const auto name = [&](int k) { return at(k) < classes.size() ? classes[at(k)] : fmt::format("class {}", k + 1); };
  if (positive < 0) return "";
  return fmt::format("{} against {}", name(positive), negative < 0 ? "the rest" : name(negative));
}

double row_cost(const Svm& spec, const Machine& machine) {
  return spec.average ? spec.C / machine.weight.sum() : spec.C;
}
double users_cost(const Svm& spec, const Machine& machine, double cost) {
  return spec.average ? cost * machine.weight.sum() : cost;
}

double loss_of(bool of_classes, double epsilon, double target, double f) {
  return std::max(0.0, of_classes ? 1 - target * f : std::abs(target - f) - epsilon);
}

double violation_of(bool of_classes, double epsilon, double target, double bound, double beta, double f) {
  // How far beyond its margin the row is, as its multiplier sees it: 0 on the margin, below 0 with a loss.
  const bool upper = of_classes ? target > 0 : beta > 0 || (beta == 0 && target > f);
  const double beyond = of_classes ? target * f - 1 : epsilon - (upper ? target - f : f - target);
  const double alpha = std::abs(beta);
  if (alpha == 0) return std::max(0.0, -beyond);
  if (alpha >= bound * (1 - 1e-12)) return std::max(0.0, beyond);
  return std::abs(beyond);
}

Measured measure(const Svm& spec, const Machine& machine, double cost, const Vector& beta, const Vector& values,
                 double bias) {
  Measured out;
  const bool classes = machine.of_classes, hard = std::isinf(cost);
  const double unit = unit_of(machine);
  double sum = 0, losses = 0, gap = 0, linear = 0;
  out.least_margin = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < beta.size(); ++i) {
    const double target = machine.target(i), f = values(i) + bias, alpha = std::abs(beta(i));
    const double bound = cost * machine.factor(i), loss = loss_of(classes, spec.epsilon, target, f);
    sum += beta(i);
    out.squared_norm += beta(i) * values(i);
    out.sum_of_alpha += alpha;
    out.slack += machine.factor(i) * loss;
    linear += classes ? alpha : beta(i) * target - spec.epsilon * alpha;
    if (!hard) {
      losses += bound * loss;
      gap += bound * loss + (classes ? alpha * (target * f - 1) : spec.epsilon * alpha - beta(i) * (target - f));
      out.outside = std::max(out.outside, alpha / bound - 1);
    }
    if (classes) {
      out.least_margin = std::min(out.least_margin, target * f);
      if (beta(i) * target < 0) out.outside = std::max(out.outside, 1.0);
    }
    out.violation = std::max(out.violation, violation_of(classes, spec.epsilon, target, bound, beta(i), f) / unit);
    if (alpha > 0) ++(alpha >= bound * (1 - 1e-12) ? out.n_bounded : out.n_free);
  }
  out.imbalance = out.sum_of_alpha > 0 ? std::abs(sum) / out.sum_of_alpha : 0.0;
  out.dual = linear - out.squared_norm / 2;
  if (!hard) {
    out.primal = out.squared_norm / 2 + losses;
    out.absolute_gap = gap;
  } else {  // w / m has every margin, for the least margin m of w
    const double m = out.least_margin;
    out.primal = m > 0 ? out.squared_norm / (2 * m * m) : std::numeric_limits<double>::infinity();
    out.absolute_gap = out.primal - out.dual;
  }
  return out;
}

double unit_of(const Machine& machine) {
  if (machine.of_classes) return 1;
  const double mean = machine.target.dot(machine.factor) / machine.total();
  const double spread =
      std::sqrt((machine.target.array() - mean).square().matrix().dot(machine.factor) / machine.total());
  return spread > 0 && std::isfinite(spread) ? spread : 1;
}

double Measured::gap() const {
  if (std::isinf(primal)) return 1;
  if (absolute_gap == 0) return 0;
  return primal > 0 ? absolute_gap / primal : 1;
}

double Measured::margin(const Svm& spec, bool of_classes) const {
  if (!of_classes) return spec.epsilon / std::sqrt(1 + std::max(squared_norm, 0.0));
  return squared_norm > 0 ? 1 / std::sqrt(squared_norm) : std::numeric_limits<double>::quiet_NaN();
}

double Measured::hull_distance() const {
  return sum_of_alpha > 0 ? 2 * std::sqrt(std::max(squared_norm, 0.0)) / sum_of_alpha : 0.0;
}

double gap_with_budget(const Svm& spec, const Measured& measured, double cost) {
  if (!spec.slack || std::isinf(cost)) return measured.gap();
  const double absolute = measured.absolute_gap + cost * std::abs(*spec.slack - measured.slack);
  return absolute == 0 ? 0.0 : measured.primal > 0 ? absolute / measured.primal : 1.0;
}

}  // namespace lemma::svm
