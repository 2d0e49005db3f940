// lemma/validate/truth/mixture.cpp: classes as mixtures of Gaussians.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/value.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/validate/truth.hpp>
#include <limits>
#include <numbers>

namespace lemma {
namespace {

/// A Gaussian with its share of all rows.
struct Component {
  int label = 0;
  double weight = 1;  // prior · weight in its class
  Vector mean;
  Matrix root;            // R upper, RᵀR the covariance
  double log_factor = 0;  // log weight − ½ (d log 2π + log det)

  double log_density(const double* x, std::vector<double>& z) const {
    const Index d = mean.size();
    double squares = 0;  // ‖R⁻ᵀ (x − mean)‖², by forward substitution
    for (Index j = 0; j < d; ++j) {
      double value = x[j] - mean(j);
      for (Index i = 0; i < j; ++i) value -= root(i, j) * z[at(i)];
      z[at(j)] = value / root(j, j);
      squares += z[at(j)] * z[at(j)];
    }
    return log_factor - squares / 2;
  }
};

class MixtureTruth final : public Truth {
 public:
  std::vector<Component> components;

  double draw(RandomStream& stream, double* x) const override {
    double u = stream.uniform();
    std::size_t c = 0;
    while (c + 1 < components.size() && u >= components[c].weight) u -= components[c++].weight;
    const Component& from = components[c];
    const Index d = from.mean.size();
    for (Index j = 0; j < d; ++j) x[j] = from.mean(j);
    for (Index i = 0; i < d; ++i) {
      const double z = stream.normal();
      for (Index j = i; j < d; ++j) x[j] += from.root(i, j) * z;
    }
    return from.label;
  }
  bool joint_density(const double* x, double* density) const override {
    std::vector<double> z(features.size());
    std::fill(density, density + classes.size(), 0.0);
    for (const auto& each : components) density[each.label] += std::exp(each.log_density(x, z));
    return true;
  }
  /// Far from all components the densities are 0 in a double: their ratios are not.
  bool probabilities(const double* x, double* p) const override {
    std::vector<double> z(features.size()), logs;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const auto& each : components) {
      logs.push_back(each.log_density(x, z));
      largest = std::max(largest, logs.back());
    }
    std::fill(p, p + classes.size(), 0.0);
    for (std::size_t c = 0; c < components.size(); ++c) {
      const double share = std::exp(logs[c] - largest);
      p[components[c].label] += share;
      sum += share;
    }
    for (std::size_t k = 0; k < classes.size(); ++k) p[k] /= sum;
    return true;
  }
  std::optional<Box> box() const override {
    constexpr double kReach = 7.5;  // standard deviations: 6e-14 of a Gaussian lies beyond
    const auto d = static_cast<Index>(features.size());
    Box out{Vector::Constant(d, std::numeric_limits<double>::infinity()),
            Vector::Constant(d, -std::numeric_limits<double>::infinity())};
    for (const auto& each : components)
      for (Index j = 0; j < d; ++j) {
        const double reach = kReach * each.root.col(j).norm();
        out.lower(j) = std::min(out.lower(j), each.mean(j) - reach);
        out.upper(j) = std::max(out.upper(j), each.mean(j) + reach);
      }
    return out;
  }
};

Matrix covariance_from(const Value& value, Index d, const std::string& where) {
  Matrix out;
  if (value.is_number()) out = value.as_double() * Matrix::Identity(d, d);
  else if (value.is_array() && value.as_array().shape.size() == 1) {
    const Vector diagonal = value.as_vector(where);
    if (diagonal.size() == d) out = diagonal.asDiagonal();
  } else {
    out = value.as_matrix(where);
  }
  if (out.rows() != d || out.cols() != d)
    throw Error(fmt::format("{}: the covariance does not fit a mean of {} numbers", where, d));
  if (!out.allFinite() || !out.isApprox(out.transpose(), 1e-9))
    throw Error(fmt::format("{}: the covariance is not symmetric", where));
  return out;
}

Component component_from(const Value& value, const std::string& where) {
  Component out;
  const Value& mean = value.at("mean");
  out.mean = mean.is_number() ? Vector::Constant(1, mean.as_double()) : mean.as_vector(where + ": mean");
  if (out.mean.size() == 0 || !out.mean.allFinite()) throw Error(fmt::format("{}: the mean must hold numbers", where));
  const Index d = out.mean.size();
  const auto root = cholesky(covariance_from(value.at("covariance"), d, where));
  if (!root) throw Error(fmt::format("{}: the covariance is not positive definite", where));
  out.root = *root;
  out.log_factor = -0.5 * (static_cast<double>(d) * std::log(2 * std::numbers::pi) + log_determinant(*root));
  return out;
}

double positive(const Value& object, std::string_view key, double usual, const std::string& where) {
  const Value* found = object.find(key);
  const double value = found ? found->as_double(where) : usual;
  if (!(std::isfinite(value) && value > 0))
    throw Error(fmt::format("{}: {} is {}, must be above 0", where, key, value));
  return value;
}

}  // namespace

std::shared_ptr<const Truth> mixture_truth(const Value& document, const std::string& name) {
  auto out = std::make_shared<MixtureTruth>();
  out->name = name;
  const Value& classes = document.at("classes");
  if (!classes.is_list() || classes.as_list().size() < 2)
    throw Error("\"classes\" must list two classes or more, each with a mean and a covariance, or components");
  double priors = 0;
  for (const Value& each : classes.as_list()) {
    const auto label = static_cast<int>(out->classes.size());
    const Value* called = each.find("name");
    out->classes.push_back(called ? called->as_string("name") : std::string(1, static_cast<char>('A' + label)));
    const std::string where = fmt::format("class '{}'", out->classes.back());
    const double prior = positive(each, "prior", 1, where);
    priors += prior;
    std::vector<Value> parts;
    if (const Value* several = each.find("components")) {
      for (const Value& part : several->as_list(where)) parts.push_back(part);
      if (parts.empty()) throw Error(fmt::format("{} has no components", where));
    } else {
      parts.push_back(each);
    }
    double weights = 0;
    const std::size_t first = out->components.size();
    for (const Value& part : parts) {
      Component one = component_from(part, where);
      one.label = label;
      one.weight = parts.size() > 1 ? positive(part, "weight", 1, where) : 1;
      weights += one.weight;
      if (one.mean.size() != (out->components.empty() ? one.mean.size() : out->components[0].mean.size()))
        throw Error(fmt::format("{}: a mean has {} numbers, and others have {}", where, one.mean.size(),
                                out->components[0].mean.size()));
      out->components.push_back(std::move(one));
    }
    for (std::size_t c = first; c < out->components.size(); ++c) out->components[c].weight *= prior / weights;
  }
  if (!std::is_sorted(out->classes.begin(), out->classes.end()) ||
      std::adjacent_find(out->classes.begin(), out->classes.end()) != out->classes.end())
    throw Error("the names of the classes must differ and stand in the order of their bytes");
  for (auto& each : out->components) {
    each.weight /= priors;
    each.log_factor += std::log(each.weight);
  }
  const auto d = static_cast<std::size_t>(out->components[0].mean.size());
  if (const Value* features = document.find("features")) out->features = features->as_strings("features");
  else
    for (std::size_t j = 0; j < d; ++j) out->features.push_back("x" + std::to_string(j + 1));
  if (out->features.size() != d)
    throw Error(fmt::format("there are {} features for means of {} numbers", out->features.size(), d));
  const Value* response = document.find("response");
  out->response = response ? response->as_string("response") : "class";
  return out;
}

}  // namespace lemma
