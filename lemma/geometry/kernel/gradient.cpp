// lemma/geometry/kernel/gradient.cpp: derivatives pair by pair from coordinates and the kernel's own value, through sums and
// products by the rules of the textbook.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/kernel/gradient.hpp>
#include <map>
#include <numbers>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kSide = 256;
using Rows = Matrix;
using Visit = std::function<void(const std::string& name, double& value)>;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

void visit_numbers(const std::string& name, std::vector<double>& values, const Visit& visit) {
  for (std::size_t j = 0; j < values.size(); ++j) visit(fmt::format("{}[{}]", name, j + 1), values[j]);
}

/// The hyperparameters of one named kernel, in the order of its parameters.
void visit_named(Kernel::Named& named, const Visit& visit) {
  const auto one = [&](const char* name, std::optional<double>& value) {
    if (value) visit(name, *value);
  };
  std::visit(
      Overloaded{[&](Rbf& rbf) {
                   one("gamma", rbf.gamma);
                   one("sigma", rbf.sigma);
                   visit_numbers("lengths", rbf.lengths, visit);
                 },
                 [&](Matern& matern) {
                   one("length", matern.length);
                   visit_numbers("lengths", matern.lengths, visit);
                 },
                 [&](Poly& poly) {
                   one("gamma", poly.gamma);
                   if (poly.offset > 0) visit("offset", poly.offset);
                 },
                 [&](Laplace& laplace) { one("gamma", laplace.gamma); }, [&](Tanh& tanh) { one("gamma", tanh.gamma); },
                 [&](Periodic& periodic) {
                   visit("period", periodic.period);
                   visit("length", periodic.length);
                 },
                 [&](ConstantKernel& constant) {
                   if (constant.value > 0) visit("", constant.value);
                 },
                 [](auto&) {}},
      named);
}

/// A copy whose hyperparameters have gone through `visit`.
Kernel visited(const Kernel& kernel, const Visit& visit) {
  std::map<std::string, int> seen;
  return kernel.changed([&](const Kernel::Named& given) -> Kernel {
    Kernel::Named named = given;
    std::string name(std::visit([](const auto& atom) { return std::remove_cvref_t<decltype(atom)>::name; }, named));
    if (const int number = ++seen[name]; number > 1) name += fmt::format("_{}", number);
    visit_named(named,
                [&](const std::string& own, double& value) { visit(own.empty() ? name : name + "." + own, value); });
    return std::visit([](const auto& atom) { return Kernel(atom); }, named);
  });
}

// ---- Derivatives of one named kernel at one pair, from its value k there: add(t, ∂k/∂log θ_t) ----

using Row = Eigen::Ref<const Eigen::RowVectorXd>;

void derive(const LinearKernel&, const Row&, const Row&, double, auto&&) {}
void derive(const Spectrum&, const Row&, const Row&, double, auto&&) {}
void derive(const Precomputed&, const Row&, const Row&, double, auto&&) {}
void derive(const ConstantKernel& constant, const Row&, const Row&, double k, auto&& add) {
  if (constant.value > 0) add(0, k);
}
void derive(const Rbf& rbf, const Row& x, const Row& z, double k, auto&& add) {
  if (rbf.metric.size() > 0) return;
  if (rbf.lengths.empty()) {
    const double change = rbf.rate().value() * (x - z).squaredNorm() * k;
    add(0, rbf.sigma ? 2 * change : -change);
  }
  for (std::size_t j = 0; j < rbf.lengths.size(); ++j) {
    const double u = (x(static_cast<Index>(j)) - z(static_cast<Index>(j))) / rbf.lengths[j];
    add(static_cast<Index>(j), u * u * k);
  }
}
/// −k′(a) / a: then ∂k/∂log ℓ = a² · this, and for one of several lengths its share of a².
double matern_slope(Smoothness nu, double a, double k) {
  if (nu == Smoothness::half) return a > 0 ? k / a : 0;
  if (nu == Smoothness::three_halves) return k / (1 + a);
  return k / (1 + a + a * a / 3) * (1 + a) / 3;
}
void derive(const Matern& matern, const Row& x, const Row& z, double k, auto&& add) {
  const double twice_nu = 1 + 2 * static_cast<double>(matern.nu);
  if (matern.lengths.empty()) {
    const double a2 = twice_nu * (x - z).squaredNorm() / (*matern.length * *matern.length);
    add(0, a2 * matern_slope(matern.nu, std::sqrt(a2), k));
    return;
  }
  double a2 = 0;
  const auto share = [&](std::size_t j) {
    const double u = (x(static_cast<Index>(j)) - z(static_cast<Index>(j))) / matern.lengths[j];
    return twice_nu * u * u;
  };
  for (std::size_t j = 0; j < matern.lengths.size(); ++j) a2 += share(j);
  const double slope = matern_slope(matern.nu, std::sqrt(a2), k);
  for (std::size_t j = 0; j < matern.lengths.size(); ++j) add(static_cast<Index>(j), share(j) * slope);
}
void derive(const Poly& poly, const Row& x, const Row& z, double k, auto&& add) {
  const double inner = *poly.gamma * x.dot(z), base = inner + poly.offset;
  const double slope = poly.degree * (base != 0 ? k / base : poly.degree == 1 ? 1.0 : 0.0);
  add(0, slope * inner);
  if (poly.offset > 0) add(1, slope * poly.offset);
}
void derive(const Laplace& laplace, const Row& x, const Row& z, double k, auto&& add) {
  add(0, -*laplace.gamma * (x - z).lpNorm<1>() * k);
}
void derive(const Tanh& tanh, const Row& x, const Row& z, double k, auto&& add) {
  add(0, (1 - k * k) * *tanh.gamma * x.dot(z));
}
void derive(const Periodic& periodic, const Row& x, const Row& z, double k, auto&& add) {
  double of_period = 0, of_length = 0;
  const double factor = 2 / (periodic.length * periodic.length);
  for (Index j = 0; j < x.size(); ++j) {
    const double turn = std::numbers::pi * (x(j) - z(j)) / periodic.period, s = std::sin(turn);
    of_period += std::sin(2 * turn) * turn;
    of_length += 2 * s * s;
  }
  add(0, factor * of_period * k);
  add(1, factor * of_length * k);
}

/// A tile: the dense rows of both sides.
struct Tile {
  Index i, j;
  Matrix x, z;
};

}  // namespace

/// A node of the expression, with the place of its first hyperparameter.
class KernelGradient::Node {
 public:
  Node(const Kernel& kernel, const Points& points, Index& next)
      : kernel_(kernel), bound_(kernel, points), first_(next) {
    const auto below = [&](const std::vector<Kernel>& parts) {
      for (const Kernel& part : parts) parts_.emplace_back(part, points, next);
    };
    if (const auto* sum = std::get_if<Kernel::Sum>(&kernel.node())) below(sum->terms);
    else if (const auto* product = std::get_if<Kernel::Product>(&kernel.node())) below(product->factors);
    else next += static_cast<Index>(hyperparameters(kernel).size());
  }

  void add(const Tile& tile, const Matrix& g, Vector& sums) const {
    if (const auto* named = std::get_if<Kernel::Named>(&kernel_.node())) {
      add_named(*named, tile, g, sums);
    } else if (std::holds_alternative<Kernel::Sum>(kernel_.node())) {
      for (const Node& term : parts_) term.add(tile, g, sums);
    } else {
      add_product(tile, g, sums);
    }
  }

 private:
  Matrix values(const Tile& tile) const {
    std::vector<Index> which(static_cast<std::size_t>(tile.x.rows()));
    std::iota(which.begin(), which.end(), tile.i);
    Matrix out(tile.x.rows(), tile.z.rows());
    bound_.own_block(which, tile.j, out);
    return out;
  }

  void add_named(const Kernel::Named& named, const Tile& tile, const Matrix& g, Vector& sums) const {
    if (hyperparameters(kernel_).empty()) return;
    const Matrix k = values(tile);
    std::visit(
        [&](const auto& atom) {
          for (Index a = 0; a < tile.x.rows(); ++a)
            for (Index b = 0; b < tile.z.rows(); ++b)
              derive(atom, tile.x.row(a), tile.z.row(b), k(a, b),
                     [&](Index t, double change) { sums(first_ + t) += g(a, b) * change; });
        },
        named);
  }

  /// Each factor sees the weights times all other factors.
  void add_product(const Tile& tile, const Matrix& g, Vector& sums) const {
    std::vector<Matrix> all;
    for (const Node& factor : parts_) all.push_back(factor.values(tile));
    for (std::size_t own = 0; own < parts_.size(); ++own) {
      Matrix rest = g;
      for (std::size_t other = 0; other < parts_.size(); ++other)
        if (other != own) rest.array() *= all[other].array();
      parts_[own].add(tile, rest, sums);
    }
  }

  Kernel kernel_;
  BoundKernel bound_;
  Index first_;
  std::vector<Node> parts_;
};

std::vector<Hyperparameter> hyperparameters(const Kernel& kernel) {
  std::vector<Hyperparameter> out;
  visited(kernel, [&](const std::string& name, double& value) { out.push_back({name, value}); });
  return out;
}

Kernel with_hyperparameters(const Kernel& kernel, const Vector& values) {
  Index next = 0;
  Kernel out = visited(kernel, [&](const std::string&, double& value) { value = values(next++); });
  require(next == values.size(), "a kernel was given another number of hyperparameters than it has");
  return out;
}

KernelGradient::KernelGradient(const Kernel& kernel, const Points& points) : points_(points), count_(0) {
  root_ = std::make_unique<const Node>(kernel, points, count_);
}
KernelGradient::~KernelGradient() = default;
KernelGradient::KernelGradient(KernelGradient&&) noexcept = default;

void KernelGradient::add(Index i, Index j, const Matrix& g, Vector& sums) const {
  root_->add({i, j, points_.rows(i, g.rows()), points_.rows(j, g.cols())}, g, sums);
}

Vector KernelGradient::trace(const std::function<Matrix(Index, Index, Index, Index)>& g,
                             const Execution& execution) const {
  const Index n = points_.count(), across = (n + kSide - 1) / kSide, tiles = across * (across + 1) / 2;
  std::vector<Vector> sums(static_cast<std::size_t>(tiles));
  parallel_for(tiles, execution, [&](Index tile) {  // tiles (i, j ≥ i), row after row
    Index i = 0, within = tile;
    for (; within >= across - i; ++i) within -= across - i;
    const Index from = i * kSide, to = (i + within) * kSide;
    Matrix weights = g(from, std::min(kSide, n - from), to, std::min(kSide, n - to));
    if (within > 0) weights *= 2;  // its mirror image too
    Vector& sum = sums[static_cast<std::size_t>(tile)];
    sum = Vector::Zero(count_);
    add(from, to, weights, sum);
  });
  Vector total = Vector::Zero(count_);
  for (const Vector& sum : sums) total += sum;
  return total;
}

}  // namespace lemma
