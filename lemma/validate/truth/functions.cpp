// lemma/validate/truth/functions.cpp: a function of the columns and noise; generalised linear models.
#include <cmath>
#include <functional>
#include <lemma/core/error.hpp>
#include <lemma/math/special.hpp>
#include <lemma/validate/truth/parts.hpp>
#include <numbers>

namespace lemma::truths_of {
namespace {

constexpr double kPi = std::numbers::pi;

/// y = g(x) + noise · N(0, 1), the columns drawn by themselves.
class FunctionTruth final : public Truth {
 public:
  std::function<void(RandomStream&, double*)> columns;
  std::function<double(const double*)> g;
  double noise = 1;

  double draw(RandomStream& stream, double* x) const override {
    columns(stream, x);
    return g(x) + noise * stream.normal();
  }
  bool moments(const double* x, double& mean, double& variance) const override {
    mean = g(x);
    variance = noise * noise;
    return true;
  }
};

/// Columns N(0, 1), η = b₀ + x·b.
class PlaneTruth : public Truth {
 public:
  double intercept = 0;
  std::vector<double> coefficients;

 protected:
  double eta(const double* x) const {
    double out = intercept;
    for (std::size_t j = 0; j < coefficients.size(); ++j) out += coefficients[j] * x[j];
    return out;
  }
  void columns(RandomStream& stream, double* x) const {
    for (std::size_t j = 0; j < coefficients.size(); ++j) x[j] = stream.normal();
  }
};

class LinearTruth final : public PlaneTruth {
 public:
  double noise = 1;
  double draw(RandomStream& stream, double* x) const override {
    columns(stream, x);
    return eta(x) + noise * stream.normal();
  }
  bool moments(const double* x, double& mean, double& variance) const override {
    mean = eta(x);
    variance = noise * noise;
    return true;
  }
};

class LogisticTruth final : public PlaneTruth {
 public:
  double draw(RandomStream& stream, double* x) const override {
    columns(stream, x);
    return stream.uniform() < logistic(eta(x)) ? 1 : 0;
  }
  bool probabilities(const double* x, double* p) const override {
    p[1] = logistic(eta(x));
    p[0] = logistic(-eta(x));
    return true;
  }
};

class PoissonTruth final : public PlaneTruth {
 public:
  /// By the products of uniform numbers, a mean of 500 at a time: the sum of Poisson counts is one.
  double draw(RandomStream& stream, double* x) const override {
    columns(stream, x);
    double left = std::min(std::exp(eta(x)), 1e6), count = 0;
    while (left > 0) {
      const double step = std::min(left, 500.0), stop = std::exp(-step);
      left -= step;
      for (double product = stream.uniform(); product > stop; product *= stream.uniform()) ++count;
    }
    return count;
  }
  bool moments(const double* x, double& mean, double& variance) const override {
    mean = variance = std::min(std::exp(eta(x)), 1e6);
    return true;
  }
};

/// A sheet rolled up (Marsland; scikit-learn's make_swiss_roll): the response is the angle, and with noise nobody knows its mean.
class SwissRollTruth final : public Truth {
 public:
  double noise = 0;
  double draw(RandomStream& stream, double* x) const override {
    const double t = 1.5 * kPi * (1 + 2 * stream.uniform()), height = 21 * stream.uniform();
    x[0] = t * std::cos(t) + noise * stream.normal();
    x[1] = height + noise * stream.normal();
    x[2] = t * std::sin(t) + noise * stream.normal();
    return t;
  }
  bool moments(const double* x, double& mean, double& variance) const override {
    mean = std::hypot(x[0], x[2]);  // without noise the radius is the angle
    variance = 0;
    return noise == 0;
  }
};

void name_columns(Truth& truth, std::size_t count) {
  truth.features.clear();
  for (std::size_t j = 0; j < count; ++j) truth.features.push_back(count == 1 ? "x" : "x" + std::to_string(j + 1));
}

std::shared_ptr<FunctionTruth> function(std::size_t width, double noise,
                                        std::function<void(RandomStream&, double*)> columns,
                                        std::function<double(const double*)> g) {
  auto out = std::make_shared<FunctionTruth>();
  out->columns = std::move(columns);
  out->g = std::move(g);
  out->noise = noise;
  name_columns(*out, width);
  return out;
}

/// The columns of Friedman's second and third function.
void circuit(RandomStream& stream, double* x) {
  x[0] = 100 * stream.uniform();
  x[1] = 40 * kPi + 520 * kPi * stream.uniform();
  x[2] = stream.uniform();
  x[3] = 1 + 10 * stream.uniform();
}

void uniform(RandomStream& stream, double* x) { x[0] = stream.uniform(); }

template <class Plane>
std::shared_ptr<Plane> plane(Call& call, std::vector<double> coefficients, double intercept) {
  auto out = std::make_shared<Plane>();
  out->coefficients = call.numbers("coefficients", std::move(coefficients));
  require(!out->coefficients.empty(), "there must be a coefficient");
  out->intercept = call.number("intercept", intercept, -1e6, 1e6);
  name_columns(*out, out->coefficients.size());
  return out;
}

}  // namespace

std::shared_ptr<Truth> function_truth(Call& call) {
  const std::string& name = call.name();
  std::shared_ptr<Truth> out;
  if (name == "friedman1") {
    const double noise = call.number("noise", 1, 0, 1e6), d = call.number("dimensions", 10, 5, 1000);
    require(d == std::floor(d), "friedman1: dimensions must be a whole number");
    const auto width = static_cast<std::size_t>(d);
    out = function(
        width, noise,
        [width](RandomStream& stream, double* x) {
          for (std::size_t j = 0; j < width; ++j) x[j] = stream.uniform();
        },
        [](const double* x) {
          return 10 * std::sin(kPi * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4];
        });
  } else if (name == "friedman2") {
    out = function(4, call.number("noise", 125, 0, 1e6), circuit,
                   [](const double* x) { return std::hypot(x[0], x[1] * x[2] - 1 / (x[1] * x[3])); });
  } else if (name == "friedman3") {
    out = function(4, call.number("noise", 0.1, 0, 1e6), circuit,
                   [](const double* x) { return std::atan2(x[1] * x[2] - 1 / (x[1] * x[3]), x[0]); });
  } else if (name == "sine") {
    out = function(1, call.number("noise", 0.3, 0, 1e6), uniform,
                   [](const double* x) { return std::sin(2 * kPi * x[0]); });
  } else if (name == "step") {
    out =
        function(1, call.number("noise", 0.3, 0, 1e6), uniform, [](const double* x) { return x[0] > 0.5 ? 1.0 : 0.0; });
  } else if (name == "polynomial") {
    const auto b = call.numbers("coefficients", {0, 1, -1});
    out = function(
        1, call.number("noise", 0.1, 0, 1e6), [](RandomStream& stream, double* x) { x[0] = 2 * stream.uniform() - 1; },
        [b](const double* x) {
          double sum = 0;
          for (std::size_t j = b.size(); j-- > 0;) sum = sum * x[0] + b[j];
          return sum;
        });
  } else if (name == "linear") {
    auto made = plane<LinearTruth>(call, {1, -2, 0.5}, 0);
    made->noise = call.number("noise", 1, 0, 1e6);
    out = made;
  } else if (name == "poisson") {
    out = plane<PoissonTruth>(call, {0.5, -0.3}, 1);
  } else if (name == "logistic") {
    out = plane<LogisticTruth>(call, {1, -2, 0.5}, 0);
    out->response = "class";
    out->classes = {"A", "B"};
  } else if (name == "swiss_roll") {
    auto roll = std::make_shared<SwissRollTruth>();
    roll->noise = call.number("noise", 0, 0, 1e6);
    name_columns(*roll, 3);
    roll->response = "angle";
    return roll;
  }
  if (out && out->response.empty()) out->response = "y";
  return out;
}

}  // namespace lemma::truths_of
