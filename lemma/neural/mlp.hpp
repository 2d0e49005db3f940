// lemma/neural/mlp.hpp
#pragma once
#include <lemma/neural/shared/trained.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// A network of dense layers (multilayer perceptron), of classes or of numbers, one response or several:
///
///     a_0 = x̃,   a_l = s(W_l a_{l−1} + b_l),   z = W_L a_{L−1} + b_L,     x̃ the columns, of mean 0 and standard deviation 1
///
///     minimise J = Σ w loss(z, y) + ½ λ Σ W²        (the b are not penalised)
///
///     cross_entropy  classes: −log p_y, p = softmax(z)             squared   ½ (z − ỹ)², ỹ of mean 0 and deviation 1
///     poisson        counts: e^z − y z, and e^z is predicted       absolute  |z − ỹ|
///
/// J is not convex: what is found is a stationary point, not the least of all. Derivatives go backwards along the same graph
/// (shared/network.hpp). Small networks on few rows are trained on all rows at once (L-BFGS) until the gradient vanishes, others by
/// batches (Adam). Rows are put in an order of their own first, equal ones as one of their weights together, so that neither their
/// order nor copies in the place of a weight change anything.
///
/// Cost         n rows and P weights: O(n P) for an epoch or an iteration; memory 2 n p for the rows, 4 P (batches) or 26 P (L-BFGS)
///              for the weights and what belongs to them, and P for each piece of a batch that a thread is at.
/// Certificate  all rows at once, stationary: the norm of J's gradient, relative to its norm at the start, both from plain loops over
///              the rows one by one; what is told of scales, start and losses is found anew. By batches, or stopped early by rows
///              held out: nothing is claimed.
struct Mlp {
  std::vector<double> layers{16};
  neural::Activation activation = neural::Activation::tanh;
  std::optional<neural::Loss> loss;
  double decay = 1;
  std::optional<neural::Solver> solver;
  double tolerance = 1e-5;
  int max_iterations = 20000;
  int epochs = 200;
  int batch = 32;
  std::optional<double> step;
  double fade = 0;
  double momentum = 0.9;
  double dropout = 0;
  double noise = 0;
  double validation = 0;
  int patience = 10;
  int restarts = 1;
  std::optional<neural::Init> init;
  bool standardize = true;
  bool gradcheck = false;
  std::vector<double> rates;
  std::optional<std::string> checkpoint;
  std::optional<neural::Precision> precision;

  static constexpr std::string_view name = "mlp";
  static constexpr MethodAbout about{
      .family = "neural",
      .task = Task::classification,
      .summary = "a neural network of dense layers, for classes or numbers, one response or several",
      .objective = "minimise sum of w loss(z, y) + decay/2 |W|^2, z = W_L s(... s(W_1 x + b_1) ...) + b_L",
      .example = "lemma fit mlp iris 'species ~ .' --layers 8",
      .takes_weights = true,
      .takes_several = true,
      .takes_start = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    return joined(
        Listing{param("layers", &Mlp::layers, "units of each hidden layer, from the inputs on; none: a linear model",
                      between(1, 1e6)),
                param("activation", &Mlp::activation, "of the hidden units"),
                param("loss", &Mlp::loss, "what is made small; auto: cross_entropy of classes, squared of numbers")},
        neural::settings_params<Mlp>(
            "columns, and responses of squared and absolute, of mean 0 and standard deviation 1 inside"));
  }
  void check() const;
};
static_assert(Described<Mlp>);

struct MlpModel : neural::Trained {
  using Base = neural::Trained;
  Mlp spec;                     // with what was chosen
  Vector curvature;             // what an update needs; none where there are too many weights
  Vector past, past_curvature;  // of an update: the weights before it

  static constexpr auto fields() {
    using M = MlpModel;
    return joined(trained_fields(),
                  Listing{state("curvature", &M::curvature,
                                "of the objective in each weight, for updates; none of large networks"),
                          state("past", &M::past, "updated models: the weights before"),
                          state("past_curvature", &M::past_curvature, "updated models: the curvature there")});
  }
  static constexpr UpdateKind kUpdates = UpdateKind::near;
  static constexpr auto parts() { return Listing{part(kValuesPart, &MlpModel::values)}; }

  neural::Plan plan() const;
  neural::Memory memory() const { return {&past, &past_curvature, &curvature}; }
  bool was_updated() const { return past.size() > 0; }
  void check() const;

  Matrix values(const MatrixView& x) const { return neural::values(*this, plan(), x); }
  Vector predict(const MatrixView& x) const { return neural::predict(*this, plan(), x); }
  Labels classify(const MatrixView& x) const { return neural::classify(*this, plan(), x); }
  Matrix probabilities(const MatrixView& x) const { return neural::probabilities(*this, plan(), x); }
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const {
    return neural::prediction(*this, plan(), x, options);
  }
  std::string summary(const Names& names) const;
};

MlpModel fit(const Valid<Mlp>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MlpModel& model, const Rows& rows, const Execution& execution);

/// The model after these rows too, without those it was fitted on: their part of the objective is replaced by a parabola at the old
/// weights θ̂, with h the diagonal of the Hessian there as Gauss and Newton have it,
///
///     minimise Σ_new w loss + ½ Σ_j h_j (θ_j − θ̂_j)²           (elastic weight consolidation: Kirkpatrick and others 2017)
///
/// by L-BFGS (or cg), with the scales of the fit. Of at most 20,000 weights, and not of the absolute loss; Error otherwise.
/// Certificate  stationary: the norm of this objective's gradient, relative to that at θ̂.
MlpModel updated(const MlpModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Mlp>();

}  // namespace lemma
