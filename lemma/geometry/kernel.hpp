// lemma/geometry/kernel.hpp: kernels as values: written down, combined, stored, and not yet tied to any rows.
//
// A kernel k(x, z) is an inner product ⟨φ(x), φ(z)⟩ of features that nobody has to write down. The ones below can be
// added, multiplied and scaled, on the command line as in C++:
//
//     --kernel 'rbf(0.1) + 0.5*poly(2)'          Rbf{.gamma = 0.1} + 0.5 * Poly{.degree = 2}
//
// "Choose for me" (an empty γ or length) becomes a number when the kernel meets the rows: see `resolved`.
#pragma once
#include <functional>
#include <lemma/core/parallel.hpp>
#include <lemma/core/param_info.hpp>
#include <memory>
#include <span>

namespace lemma {

class Points;

/// x·z
struct LinearKernel {
  static constexpr std::string_view name = "linear";
  static constexpr auto params() { return Listing{}; }
};

/// (γ x·z + offset)^degree; offset 0 is the homogeneous one.
struct Poly {
  int degree = 3;
  std::optional<double> gamma;
  double offset = 1;

  static constexpr std::string_view name = "poly";
  static constexpr auto params() {
    return Listing{
        param("degree", &Poly::degree, "the power", between(1, 100)),
        param("gamma", &Poly::gamma, "factor of the inner product; chosen: 1 / (sum of the columns' variances)",
              above(0), Step::logarithmic),
        param("offset", &Poly::offset, "added before the power is taken; 0: homogeneous", at_least(0))};
  }
};

/// The Gaussian kernel exp(−γ ‖x − z‖²), γ = 1/(2σ²); with a length for each feature exp(−½ Σ ((xⱼ − zⱼ)/ℓⱼ)²); with a
/// metric exp(−½ (x − z)ᵀ M (x − z)). One of the four is given, or γ is chosen.
struct Rbf {
  std::optional<double> gamma, sigma;
  std::vector<double> lengths;
  Matrix metric;

  static constexpr std::string_view name = "rbf";
  static constexpr auto params() {
    return Listing{param("gamma", &Rbf::gamma, "1 / (2 sigma^2); chosen: 1 / (sum of the columns' variances)", above(0),
                         Step::logarithmic),
                   param("sigma", &Rbf::sigma, "the width, in the place of gamma", above(0), Step::logarithmic),
                   param("lengths", &Rbf::lengths, "a width for each feature, in the place of gamma", above(0)),
                   param("metric", &Rbf::metric,
                         "positive definite matrix M of the distance (x - z)'M(x - z), in the place of gamma")};
  }
  void check() const;
  /// γ, whichever way it was given; empty when it is to be chosen or there is none.
  std::optional<double> rate() const;
};

/// exp(−γ Σ |xⱼ − zⱼ|)
struct Laplace {
  std::optional<double> gamma;

  static constexpr std::string_view name = "laplace";
  static constexpr auto params() {
    return Listing{param("gamma", &Laplace::gamma, "rate; chosen: 1 / (sum of the columns' standard deviations)",
                         above(0), Step::logarithmic)};
  }
};

enum class Smoothness { half, three_halves, five_halves };
constexpr auto names_of(Smoothness) { return std::array<std::string_view, 3>{"1/2", "3/2", "5/2"}; }

/// With a = √(2ν) ‖x − z‖ / length:  e^−a,  (1 + a) e^−a,  (1 + a + a²/3) e^−a  for ν = 1/2, 3/2, 5/2.
struct Matern {
  Smoothness nu = Smoothness::three_halves;
  std::optional<double> length;
  std::vector<double> lengths;

  static constexpr std::string_view name = "matern";
  static constexpr auto params() {
    return Listing{param("nu", &Matern::nu, "smoothness of the functions"),
                   param("length", &Matern::length, "length scale; chosen: sqrt(sum of the columns' variances / 2)",
                         above(0), Step::logarithmic),
                   param("lengths", &Matern::lengths, "a length for each feature, in the place of length", above(0))};
  }
  void check() const;
};

/// tanh(γ x·z + offset): not positive semidefinite for most γ, and said so when it is not.
struct Tanh {
  std::optional<double> gamma;
  double offset = 0;

  static constexpr std::string_view name = "tanh";
  static constexpr auto params() {
    return Listing{
        param("gamma", &Tanh::gamma, "factor of the inner product; chosen: 1 / (sum of the columns' variances)",
              above(0), Step::logarithmic),
        param("offset", &Tanh::offset, "added to the inner product")};
  }
};

/// exp(−2 Σ sin²(π (xⱼ − zⱼ) / period) / length²)
struct Periodic {
  double period = 1;
  double length = 1;

  static constexpr std::string_view name = "periodic";
  static constexpr auto params() {
    return Listing{param("period", &Periodic::period, "after which all repeats", above(0), Step::logarithmic),
                   param("length", &Periodic::length, "length scale within a period", above(0), Step::logarithmic)};
  }
};

/// Σ over all texts u of k letters: how often u is in x, times how often it is in z. Text columns of the data become
/// these counts (the columns `sequence[acg]` of the design), so that to the rows it is their inner product.
struct Spectrum {
  int k = 3;

  static constexpr std::string_view name = "spectrum";
  static constexpr auto params() {
    return Listing{param("k", &Spectrum::k, "letters of the pieces that are counted", between(1, 12))};
  }
};

/// The rows are those of a Gram matrix: column j of a row holds its kernel value with training row j.
struct Precomputed {
  static constexpr std::string_view name = "precomputed";
  static constexpr auto params() { return Listing{}; }
};

/// The same number for every pair.
struct ConstantKernel {
  double value = 1;

  static constexpr std::string_view name = "constant";
  static constexpr auto params() {
    return Listing{param("value", &ConstantKernel::value, "the number", at_least(0), Step::logarithmic)};
  }
};

/// A kernel of the caller's own. A model file keeps its name alone: give the function again after loading.
struct CustomKernel {
  std::string name;
  std::function<double(std::span<const double> x, std::span<const double> z)> value;
};

class Kernel {
 public:
  struct Sum {
    std::vector<Kernel> terms;
  };
  struct Product {
    std::vector<Kernel> factors;
  };
  /// What has parameters and a name of its own.
  using Named =
      std::variant<LinearKernel, Poly, Rbf, Laplace, Matern, Tanh, Periodic, Spectrum, Precomputed, ConstantKernel>;
  using Node = std::variant<Named, CustomKernel, Sum, Product>;

  Kernel();
  Kernel(
      const Kernel&);  // these stand in kernel.cpp: every file that passes a kernel on would make its own copy of them
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(const Kernel&);
  Kernel& operator=(Kernel&&) noexcept;
  ~Kernel();
  template <class Atom>
  requires(requires { Atom::name; }) && std::constructible_from<Named, Atom> Kernel(Atom atom)
      : node_(Named(std::move(atom))) {}
  Kernel(CustomKernel own);
  Kernel(Sum sum);
  Kernel(Product product);

  /// From what a user writes: `rbf`, `rbf(0.1)`, `rbf(sigma=2) + 0.5*poly(2)`, `linear + 1`, `matern(5/2, 3) * periodic(12, 1)`.
  /// Arguments follow the order of the parameters or are named; an Error points at the place.
  static Kernel parse(std::string_view text);
  /// As parse reads it; numbers to the last digit.
  std::string text() const;

  const Node& node() const { return node_; }
  /// The kernel itself when it is one of the named ones, else nullptr.
  template <class Atom>
  const Atom* get() const {
    const Named* named = std::get_if<Named>(&node_);
    return named ? std::get_if<Atom>(named) : nullptr;
  }

  /// Some part of it is of this kind.
  template <class Atom>
  bool contains() const {
    return any_of([](const Kernel& part) { return part.get<Atom>() != nullptr; });
  }
  /// True of it or of one of its parts.
  bool any_of(const std::function<bool(const Kernel&)>& holds) const;
  /// The same with each named part replaced by what `change` makes of it.
  Kernel changed(const std::function<Kernel(const Named&)>& change) const;

  /// With numbers in the place of what was left to choose, from the spread of the points (weights are frequencies).
  Kernel resolved(const Points& points, std::span<const double> weights = {}) const;
  /// k of the spectrum kernel in it: text columns are to be counted in pieces of so many letters; 0: none.
  int letters() const;
  /// Positive semidefinite whatever the rows are: all but those with tanh, precomputed or custom parts.
  bool is_positive() const;
  /// Ranges of all parameters, and rules between them; Error naming the one that is wrong.
  void check(const std::string& where) const;

 private:
  Node node_;
};

Kernel operator+(Kernel a, Kernel b);
Kernel operator*(Kernel a, Kernel b);
Kernel operator*(double factor, Kernel kernel);

/// {"kind": "rbf", "gamma": 0.1} for one kernel by name, the text of a combination.
template <>
struct Codec<Kernel> {
  static Value write(const Kernel& kernel);
  static void read(Kernel& field, const Value& value, const std::string& where);
  static void check(const Kernel& kernel, const Range&, const std::string& where) { kernel.check(where); }
};
template <>
struct detail::Describe<Kernel> {
  static void kind(ParamInfo& info);
  static void parts(const std::string& name, std::vector<ParamInfo>& out);
};

}  // namespace lemma
