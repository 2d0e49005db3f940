// lemma/validate/truth/shapes.cpp: classes along curves with Gaussian noise, and on a board.
#include <cmath>
#include <functional>
#include <lemma/core/error.hpp>
#include <lemma/core/value.hpp>
#include <lemma/validate/truth/parts.hpp>
#include <numbers>

namespace lemma::truths_of {
namespace {

constexpr double kPi = std::numbers::pi;

struct Place {
  double x, y;
};

/// Each class a curve in the plane, t uniform on [0, 1), and noise with the same spread in both directions. Its density is that of the
/// noise about the points of the curve: the mean over t, by so many points that they lie much closer than the noise is wide.
class CurvesTruth final : public Truth {
 public:
  std::vector<std::function<Place(double)>> curves;
  double noise = 0.1, length = 10;

  double draw(RandomStream& stream, double* x) const override {
    const Index k = stream.below(static_cast<Index>(curves.size()));
    const Place at_it = curves[at(k)](stream.uniform());
    x[0] = at_it.x + noise * stream.normal();
    x[1] = at_it.y + noise * stream.normal();
    return static_cast<double>(k);
  }
  bool joint_density(const double* x, double* density) const override {
    if (!(noise > 0)) return false;
    const int points = static_cast<int>(std::min(100000.0, std::max(200.0, std::ceil(6 * length / noise))));
    for (std::size_t k = 0; k < curves.size(); ++k) {
      double sum = 0;
      for (int i = 0; i < points; ++i) {
        const Place c = curves[k]((i + 0.5) / points);
        const double dx = (x[0] - c.x) / noise, dy = (x[1] - c.y) / noise;
        sum += std::exp(-(dx * dx + dy * dy) / 2);
      }
      density[k] = sum / (points * 2 * kPi * noise * noise * static_cast<double>(curves.size()));
    }
    return true;
  }
};

class CheckerboardTruth final : public Truth {
 public:
  double cells = 4, flip = 0;

  int colour(const double* x) const {
    const auto column = static_cast<long>(std::floor(x[0] * cells)), row = static_cast<long>(std::floor(x[1] * cells));
    return static_cast<int>((column + row) % 2);
  }
  double draw(RandomStream& stream, double* x) const override {
    x[0] = stream.uniform();
    x[1] = stream.uniform();
    const bool turned = stream.uniform() < flip;
    return turned ? 1 - colour(x) : colour(x);
  }
  bool joint_density(const double* x, double* density) const override {
    const bool inside = x[0] >= 0 && x[0] < 1 && x[1] >= 0 && x[1] < 1;
    const int k = inside ? colour(x) : 0;
    density[k] = inside ? 1 - flip : 0;
    density[1 - k] = inside ? flip : 0;
    return true;
  }
  std::optional<Box> box() const override { return Box{Vector::Zero(2), Vector::Ones(2)}; }
};

std::shared_ptr<CurvesTruth> curves_truth(double noise, double length, std::function<Place(double)> first,
                                          std::function<Place(double)> second) {
  auto out = std::make_shared<CurvesTruth>();
  out->curves = {std::move(first), std::move(second)};
  out->noise = noise;
  out->length = length;
  return out;
}

std::shared_ptr<Truth> gaussians(double distance, Index d, double prior) {
  Value first = Value::object(), second = Value::object(), document = Value::object();
  Vector mean = Vector::Zero(d);
  first.set("name", "A").set("prior", 1 - prior).set("mean", mean).set("covariance", 1.0);
  mean(0) = distance;
  second.set("name", "B").set("prior", prior).set("mean", mean).set("covariance", 1.0);
  document.set("classes", Value::List{first, second});
  return std::const_pointer_cast<Truth>(mixture_truth(document));
}

/// Ripley (1996), Pattern Recognition and Neural Networks, section 1.4: variance 0.03 in either direction.
std::shared_ptr<Truth> ripley() {
  const auto part = [](double x, double y) {
    Value out = Value::object();
    out.set("mean", std::vector<double>{x, y}).set("covariance", 0.03);
    return out;
  };
  Value first = Value::object(), second = Value::object(), document = Value::object();
  first.set("name", "A").set("prior", 0.5).set("components", Value::List{part(-0.7, 0.3), part(0.3, 0.3)});
  second.set("name", "B").set("prior", 0.5).set("components", Value::List{part(-0.3, 0.7), part(0.4, 0.7)});
  document.set("classes", Value::List{first, second});
  return std::const_pointer_cast<Truth>(mixture_truth(document));
}

}  // namespace

std::shared_ptr<Truth> shape_truth(Call& call) {
  const std::string& name = call.name();
  std::shared_ptr<Truth> out;
  if (name == "gaussians") {
    const double distance = call.number("distance", 2, 0, 1e6), d = call.number("dimensions", 2, 1, 1000);
    require(d == std::floor(d), "gaussians: dimensions must be a whole number");
    return gaussians(distance, static_cast<Index>(d), call.number("prior", 0.5, 1e-6, 1 - 1e-6));
  }
  if (name == "ripley") return ripley();
  if (name == "moons")
    out = curves_truth(
        call.number("noise", 0.1, 0, 100), kPi,
        [](double t) {
          return Place{std::cos(kPi * t), std::sin(kPi * t)};
        },
        [](double t) {
          return Place{1 - std::cos(kPi * t), 0.5 - std::sin(kPi * t)};
        });
  else if (name == "circles") {
    const double noise = call.number("noise", 0.1, 0, 100), factor = call.number("factor", 0.5, 0, 1);
    const auto circle = [](double radius) {
      return [radius](double t) { return Place{radius * std::cos(2 * kPi * t), radius * std::sin(2 * kPi * t)}; };
    };
    out = curves_truth(noise, 2 * kPi, circle(1), circle(factor));
  } else if (name == "spirals") {
    const double noise = call.number("noise", 0.1, 0, 100), turns = call.number("turns", 1.5, 0.1, 20);
    const auto spiral = [turns](double sign) {
      return [turns, sign](double t) {
        const double radius = turns * t, angle = 2 * kPi * turns * t;  // one turn is one further out
        return Place{sign * radius * std::cos(angle), sign * radius * std::sin(angle)};
      };
    };
    out = curves_truth(noise, kPi * turns * turns * 2 + turns, spiral(1), spiral(-1));
  } else if (name == "checkerboard") {
    auto board = std::make_shared<CheckerboardTruth>();
    board->cells = call.number("cells", 4, 2, 1000);
    require(board->cells == std::floor(board->cells), "checkerboard: cells must be a whole number");
    board->flip = call.number("flip", 0, 0, 0.5);
    out = board;
  }
  if (!out) return out;
  out->features = {"x1", "x2"};
  out->response = "class";
  out->classes = {"A", "B"};
  return out;
}

}  // namespace lemma::truths_of
