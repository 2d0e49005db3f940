// lemma/ensemble/mixture_of_experts/rounds.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/ensemble/mixture_of_experts/rounds.hpp>
#include <lemma/ensemble/shared/out_of_fold.hpp>
#include <limits>
#include <numbers>

namespace lemma::ensemble {
namespace {

constexpr double kNothing = 1e-12;  // a responsibility below it is none
constexpr double kKnown = 1e-6;     // of classes, what each expert has of every row at least: it must know all of them
constexpr double kLeast = 1e-300;   // a probability in a logarithm

}  // namespace

Assembly::Assembly(const MixtureOfExperts& spec, const TrainingRows& rows)
    : spec_(spec), rows_(rows), order_(own_order(rows)) {}

Matrix Assembly::draw(std::uint64_t seed, int start) const {
  const bool with_response = start % 2 == 1 && !rows_.of_classes();
  Matrix z(size(), rows_.x.cols() + with_response);
  for (Index r = 0; r < size(); ++r) {
    z.row(r).head(rows_.x.cols()) = rows_.x.row(order_[at(r)]);
    if (with_response) z(r, z.cols() - 1) = rows_.y(order_[at(r)]);
  }
  Vector weight(size());
  for (Index r = 0; r < size(); ++r) weight(r) = rows_.weight(order_[at(r)]);
  for (Index j = 0; j < z.cols(); ++j) {
    z.col(j).array() -= z.col(j).dot(weight) / rows_.mass;
    const double spread = std::sqrt(z.col(j).cwiseAbs2().dot(weight) / rows_.mass);
    if (spread > 0) z.col(j) /= spread;
  }
  std::vector<Index> places(at(size()));
  for (Index r = 0; r < size(); ++r) places[at(r)] = r;
  RandomStream stream = RandomStream(seed, 0).split(static_cast<std::uint64_t>(start));
  const auto drawn = Urn(places, weight).with_replacement(spec_.experts, stream);
  Matrix out(size(), spec_.experts);
  const double rest = 0.1 / static_cast<double>(spec_.experts - 1);
  for (Index r = 0; r < size(); ++r) {
    Index nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (Index k = 0; k < spec_.experts; ++k)
      if (const double d = (z.row(r) - z.row(drawn[at(k)])).squaredNorm(); d < least) {
        least = d;
        nearest = k;
      }
    out.row(r).setConstant(rest);
    out(r, nearest) = 0.9;
  }
  return out;
}

double Assembly::log_density(const Matrix& said, const Vector& deviations, Index k, Index row) const {
  if (rows_.of_classes()) return std::log(std::max(said(row, rows_.label[at(row)]), kLeast));
  const double z = (rows_.y(row) - said(row, 0)) / deviations(k);
  return -0.5 * (z * z + std::log(2 * std::numbers::pi)) - std::log(deviations(k));
}

Shared Assembly::share(const Panel& panel, const Execution& execution) const {
  const Matrix gate = said(panel.gate, rows_.x, kProbabilitiesPart.name, execution).probabilities();
  Matrix joint(size(), spec_.experts);
  for (Index k = 0; k < spec_.experts; ++k) {
    const Matrix values = said_of(panel.experts[at(k)], rows_.x, rows_.classes(), execution);
    for (Index r = 0; r < size(); ++r)
      joint(r, k) =
          std::log(std::max(gate(order_[at(r)], k), kLeast)) + log_density(values, panel.deviations, k, order_[at(r)]);
  }
  Shared out{Matrix(size(), spec_.experts), 0};
  for (Index r = 0; r < size(); ++r) {
    const double largest = joint.row(r).maxCoeff();
    out.responsibilities.row(r) = (joint.row(r).array() - largest).exp();
    const double sum = out.responsibilities.row(r).sum();
    out.responsibilities.row(r) /= sum;
    out.log_likelihood += rows_.weight(order_[at(r)]) * (largest + std::log(sum));
  }
  out.log_likelihood /= rows_.mass;
  if (rows_.of_classes()) out.responsibilities = out.responsibilities.array() * (1 - kKnown * spec_.experts) + kKnown;
  else out.responsibilities = (out.responsibilities.array() < kNothing).select(0.0, out.responsibilities);
  return out;
}

void Assembly::with_rows_of(Index k, const Matrix& responsibilities,
                            const std::function<void(const Rows&)>& visit) const {
  std::vector<double> factors(at(rows_.count()), 0.0);
  for (Index r = 0; r < size(); ++r) factors[at(order_[at(r)])] = responsibilities(r, k);
  visit(ReweightedRows(rows_.rows, std::move(factors)));
}

void Assembly::with_rows_of_gate(const Matrix& responsibilities, const std::function<void(const Rows&)>& visit) const {
  const Index each = size(), count = each * spec_.experts;
  Matrix x(count, rows_.x.cols());
  Labels label(at(count));
  std::vector<double> weight(at(count));
  std::vector<std::string> names;
  for (Index k = 0; k < spec_.experts; ++k) {
    names.push_back(fmt::format("expert {}", k + 1));
    for (Index r = 0; r < each; ++r) {
      x.row(k * each + r) = rows_.x.row(order_[at(r)]);
      label[at(k * each + r)] = static_cast<int>(k);
      weight[at(k * each + r)] = rows_.weight(order_[at(r)]) * responsibilities(r, k);
    }
  }
  MemoryRows rows(x);
  rows.labels(label, std::move(names)).weights(weight);
  rows.features = rows_.rows.features;
  rows.levels = rows_.rows.levels;
  visit(rows);
}

Vector Assembly::shares(const Matrix& responsibilities) const {
  Vector out = Vector::Zero(spec_.experts);
  for (Index r = 0; r < size(); ++r) out += rows_.weight(order_[at(r)]) * responsibilities.row(r).transpose();
  return out / rows_.mass;
}

double Assembly::least_deviation() const {
  double mean = 0, spread = 0;
  for (const Index i : rows_.counting) mean += rows_.weight(i) * rows_.y(i) / rows_.mass;
  for (const Index i : rows_.counting) spread += rows_.weight(i) * std::pow(rows_.y(i) - mean, 2) / rows_.mass;
  return spread > 0 ? 1e-3 * std::sqrt(spread) : 1;
}

Vector Assembly::deviations(const std::vector<AnyModel>& experts, const Matrix& responsibilities,
                            const Execution& execution) const {
  if (rows_.of_classes()) return {};
  Vector out(spec_.experts);
  for (Index k = 0; k < spec_.experts; ++k) {
    const Vector value = said(experts[at(k)], rows_.x, kValuePart.name, execution).value();
    double sum = 0, mass = 0;
    for (Index r = 0; r < size(); ++r) {
      const Index i = order_[at(r)];
      sum += rows_.weight(i) * responsibilities(r, k) * std::pow(rows_.y(i) - value(i), 2);
      mass += rows_.weight(i) * responsibilities(r, k);
    }
    out(k) = std::max(std::sqrt(sum / mass), least_deviation());
  }
  return out;
}

Panel Assembly::fit(const Matrix& responsibilities, const FitOptions& options) const {
  Panel out;
  Quietly quiet(options.progress);
  const Vector share = shares(responsibilities);
  for (Index k = 0; k < spec_.experts; ++k) {
    if (!rows_.of_classes() && share(k) * rows_.mass < 1)
      throw Error(
          fmt::format("mixture_of_experts: expert {} is left with less than a row; ask for fewer experts", k + 1));
    with_rows_of(k, responsibilities, [&](const Rows& rows) {
      out.experts.push_back(spec_.expert->fit(rows, options_inside(options, quiet, static_cast<std::uint64_t>(k))));
    });
    require_fits(MixtureOfExperts::name, out.experts.back(), rows_.x.cols(), rows_.classes());
    if (quiet.cancelled()) throw Cancelled();
  }
  with_rows_of_gate(responsibilities, [&](const Rows& rows) {
    out.gate = spec_.gate->fit(rows, options_inside(options, quiet, static_cast<std::uint64_t>(spec_.experts)));
  });
  if (quiet.cancelled()) throw Cancelled();
  require_fits(MixtureOfExperts::name, out.gate, rows_.x.cols(), spec_.experts);
  out.deviations = deviations(out.experts, responsibilities, options.execution());
  return out;
}

double Assembly::divergence(const Matrix& found, const Matrix& kept) const {
  double sum = 0;
  for (Index r = 0; r < size(); ++r)
    for (Index k = 0; k < spec_.experts; ++k)
      if (found(r, k) > 0)
        sum += rows_.weight(order_[at(r)]) * found(r, k) * std::log(found(r, k) / std::max(kept(r, k), kNothing));
  return std::max(sum / rows_.mass, 0.0);
}

}  // namespace lemma::ensemble
