// lemma/neural/mlp.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/neural/shared/training.hpp>
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

  static constexpr std::string_view name = "mlp";
  static constexpr MethodAbout about{
      .family = "neural",
      .task = Task::classification,
      .summary = "a neural network of dense layers, for classes or numbers, one response or several",
      .objective = "minimise sum of w loss(z, y) + decay/2 |W|^2, z = W_L s(... s(W_1 x + b_1) ...) + b_L",
      .example = "lemma fit mlp iris 'species ~ .' --layers 8",
      .takes_weights = true,
      .takes_several = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("layers", &Mlp::layers, "units of each hidden layer, from the inputs on; none: a linear model",
              between(1, 1e6)),
        param("activation", &Mlp::activation, "of the hidden units"),
        param("loss", &Mlp::loss, "what is made small; auto: cross_entropy of classes, squared of numbers"),
        param("decay", &Mlp::decay, "weight of half the squared weights, beside the sum of the losses", at_least(0),
              Step::logarithmic),
        param("solver", &Mlp::solver,
              "lbfgs and cg look at all rows at once until the gradient vanishes, the others at batches; auto: lbfgs "
              "where "
              "the network and the rows are small, else adam"),
        param("tolerance", &Mlp::tolerance,
              "lbfgs, cg: norm of the gradient at which the work ends, relative to that at the start",
              Range{.low = 0, .high = 1, .low_open = true, .high_open = true}, Step::logarithmic),
        param("max_iterations", &Mlp::max_iterations, "lbfgs, cg: iterations at most", at_least(1)),
        param("epochs", &Mlp::epochs, "by batches: passes over the rows", at_least(1)),
        param("batch", &Mlp::batch, "by batches: rows of a batch; 1: row by row", at_least(1)),
        param(
            "step", &Mlp::step,
            "by batches: length of a step along the mean gradient; auto: 0.05 for sgd and nesterov, 0.003 for adam and "
            "rmsprop",
            above(0), Step::logarithmic),
        param("fade", &Mlp::fade, "by batches: after e epochs a step is step / (1 + fade e)", at_least(0)),
        param("momentum", &Mlp::momentum, "sgd, nesterov, adam: share of the last direction that is kept",
              Range{.low = 0, .high = 1, .high_open = true}),
        param("dropout", &Mlp::dropout, "by batches: share of the hidden units that each row leaves out",
              Range{.low = 0, .high = 1, .high_open = true}),
        param("noise", &Mlp::noise,
              "by batches: normal noise of standard deviation noise / (1 + t)^0.275 on each derivative of step t",
              at_least(0)),
        param("validation", &Mlp::validation, "share of the rows held out to stop by; 0: none",
              Range{.low = 0, .high = 1, .high_open = true}),
        param("patience", &Mlp::patience,
              "epochs or iterations without a lower loss of the rows held out after which it stops", at_least(1)),
        param("restarts", &Mlp::restarts, "times it begins with other weights; the best end is kept", at_least(1)),
        param("init", &Mlp::init,
              "variance of the weights at the start: 1/in (fan_in), 2/(in + out) (glorot) or 2/in (he); auto: he for "
              "relu "
              "and softplus, else glorot"),
        param("standardize", &Mlp::standardize,
              "columns, and responses of squared and absolute, of mean 0 and standard deviation 1 inside"),
        param("gradcheck", &Mlp::gradcheck,
              "compare all derivatives at the start with differences, on at most 32 rows")};
  }
  void check() const;
};
static_assert(Described<Mlp>);

struct MlpModel : Evidence {
  Mlp spec;  // with what was chosen
  double objective = 0, loss = 0;
  Vector training_loss, validation_loss;
  std::int64_t best_epoch = 0;
  Vector restart_losses;
  Vector gradient_sizes;
  Vector gradient_errors;
  Vector weights, mean, scale, response_mean, response_scale;
  Vector curvature;             // what an update needs; none where there are too many weights
  Vector past, past_curvature;  // of an update: the weights before it
  std::int64_t classes = 0;     // 0: numbers
  std::int64_t seed = 1;

  static constexpr auto fields() {
    using M = MlpModel;
    return Listing{
        result("objective", &M::objective, "sum of the losses of the rows learned from, and the penalty"),
        result("loss", &M::loss,
               "mean loss of the rows learned from; of numbers in the units in which they were learned"),
        result("training_loss", &M::training_loss,
               "mean loss after each iteration; by batches of each epoch, each batch as it was met"),
        result("validation_loss", &M::validation_loss, "mean loss of the rows held out after each; none without"),
        result("best_epoch", &M::best_epoch, "epoch or iteration whose weights are kept; 0: those of the start"),
        result("restart_losses", &M::restart_losses,
               "where each start ended: mean loss of the rows held out, or without these the objective"),
        result("gradient_sizes", &M::gradient_sizes,
               "root mean square of the derivatives of the losses by the weights of each layer, at the start"),
        result("gradient_errors", &M::gradient_errors,
               "gradcheck: of each start the largest error of a derivative, relative to the largest; else empty"),
        state("weights", &M::weights, "of each layer W row by row, a row for each unit, then b"),
        state("mean", &M::mean, "of each column"),
        state("scale", &M::scale, "of each column"),
        state("response_mean", &M::response_mean, "of each response of numbers, as it was learned"),
        state("response_scale", &M::response_scale, "of each response of numbers, as it was learned"),
        state("curvature", &M::curvature, "of the objective in each weight, for updates; none of large networks"),
        state("past", &M::past, "updated models: the weights before"),
        state("past_curvature", &M::past_curvature, "updated models: the curvature there"),
        state("classes", &M::classes, "how many classes; 0 of numbers"),
        state("seed", &M::seed, "by which the weights of the start were drawn")};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::near;
  static constexpr auto parts() { return Listing{part(kValuesPart, &MlpModel::values)}; }

  neural::Network network() const;
  Index width() const { return mean.size(); }
  Index class_count() const { return classes; }
  Index outputs() const { return classes > 0 ? classes : response_mean.size(); }
  bool several() const { return classes == 0 && outputs() > 1; }
  std::vector<Index> response_classes() const {
    return several() ? std::vector<Index>(at(outputs()), 0) : std::vector<Index>{};
  }
  Task task() const { return classes > 0 ? Task::classification : Task::regression; }
  bool gives(std::string_view part) const { return several() == (part == kValuesPart.name); }
  void check() const;

  Matrix last_sums(const MatrixView& x) const;  // z
  Matrix values(const MatrixView& x) const;     // a column for each response of numbers
  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
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
