// lemma/embed/tsne.hpp
#pragma once
#include <lemma/embed/shared/neighborhood.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>
#include <optional>

namespace lemma {

/// How the forces between places are summed. Left to the method: exact up to 1000 rows.
enum class TsneForces {
  exact,      // over all pairs
  barnes_hut  // groups of far places count as one
};
constexpr auto names_of(TsneForces) { return std::array<std::string_view, 2>{"exact", "barnes_hut"}; }

/// Where the search begins: along the principal components, or by chance; small either way.
enum class TsneStart { pca, random };
constexpr auto names_of(TsneStart) { return std::array<std::string_view, 2>{"pca", "random"}; }

/// t-distributed stochastic neighbour embedding (van der Maaten and Hinton 2008): places at which near rows are near. Of rows i ≠ j,
///
///     p_j|i ∝ exp(−d_ij² / (2σ_i²)),  Σ_j p_j|i = 1,  with σ_i so that  −Σ_j p_j|i log p_j|i = log(perplexity)
///     p_ij = (p_j|i + p_i|j) / (2n),       q_ij = w_ij / Σ w,  w_ij = 1 / (1 + ‖y_i − y_j‖²)
///
///     min_Y KL = Σ p log(p / q),      ∂KL/∂y_i = 4 Σ_j (p_ij − q_ij) w_ij (y_i − y_j)
///
/// First the affinities p are exaggerated, so that groups can pass each other; then descent with momentum and a gain for each number
/// (Jacobs 1988). Exact forces end in a quasi-Newton search, until the gradient is short. By Barnes and Hut's rule (van der Maaten 2014) p is
/// of the 3 · perplexity nearest rows alone, and a group of places whose diagonal is below θ of its distance counts as one.
///
/// Rows are taken in the order that their values give them, so that the picture does not depend on the order they come in.
///
/// Cost         exact: O(n² k) time for each round and 8 n² bytes. barnes_hut: O(n log n) for each round, 36 perplexity n bytes; the
///              divergence, once, O(n² k).
/// Certificate  of exact forces stationary: the length of the gradient, by p and q of all pairs, where p is made anew from the rows and the
///              σ of the model, whose perplexities are looked at one by one. Of barnes_hut none: its forces are not those of the divergence.
struct Tsne {
  Input input = Input::rows;
  Metric metric;
  std::optional<double> perplexity;
  int dimensions = 2;
  std::optional<TsneForces> forces;
  double theta = 0.7;
  TsneStart start = TsneStart::pca;
  double exaggeration = 12;
  int exaggerated = 250;
  std::optional<double> learning_rate;
  int max_iterations = 1000;
  double tolerance = 1e-5;
  double gigabytes = 4;

  static constexpr std::string_view name = "tsne";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "t-SNE: places at which rows have the neighbours that they have, groups apart",
      .objective =
          "min sum p log(p / q), q_ij ~ 1 / (1 + |y_i - y_j|^2), p of Gaussian neighbourhoods of one perplexity",
      .example = "lemma fit tsne iris '~ . - species'",
      .keeps_rows = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = Tsne;
    return Listing{
        param("input", &S::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d"),
        param("metric", &S::metric, "how rows are compared"),
        param("perplexity", &S::perplexity,
              "how many neighbours a row has, so to speak; chosen: 30, or less where rows are few", above(1)),
        param("dimensions", &S::dimensions, "of the picture; at most 3 by barnes_hut", at_least(1)),
        param("forces", &S::forces, "over all pairs, or groups of far places as one; chosen: exact up to 1000 rows"),
        param("theta", &S::theta, "barnes_hut: a group with a diagonal below this share of its distance counts as one",
              between(0, 1)),
        param("start", &S::start,
              "along the principal components (of given dissimilarities by classical scaling), or by chance"),
        param("exaggeration", &S::exaggeration, "affinities count so many times at first", at_least(1)),
        param("exaggerated", &S::exaggerated, "rounds in which they do", at_least(0)),
        param("learning_rate", &S::learning_rate, "chosen: rows / (4 exaggeration), at least 50", above(0),
              Step::logarithmic),
        param("max_iterations", &S::max_iterations,
              "rounds, the exaggerated ones among them; of exact forces the search goes on for as many", at_least(1)),
        param("tolerance", &S::tolerance, "length of the gradient at which the search ends", above(0),
              Step::logarithmic),
        param("gigabytes", &S::gigabytes, "gigabytes that exact affinities may take", above(0))};
  }
  void check() const;
  Needs needs(Needs usual) const { return needs_of_near(input, metric, usual); }
};
static_assert(Described<Tsne>);

struct TsneModel : Embedded {
  using Base = Embedded;

  Tsne spec;
  double kl_divergence = 0;
  Vector bandwidths;

  static constexpr auto fields() {
    using M = TsneModel;
    return joined(first_fields(),
                  Listing{result("kl_divergence", &M::kl_divergence, "sum p log(p / q) over all pairs, in nats"),
                          result("bandwidths", &M::bandwidths, "sigma of each row's neighbourhood", {Axis::row})},
                  last_fields());
  }
  void check() const;
  Matrix inverse(const MatrixView& z) const { return way_back(Tsne::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

TsneModel fit(const Valid<Tsne>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const TsneModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Tsne>();

}  // namespace lemma
