// lemma/neural/shared/settings.hpp: how a network is trained: what specs of networks have in common, described once.
#pragma once
#include <lemma/core/params.hpp>
#include <lemma/neural/shared/training.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lemma::neural {

/// The fields that each spec of a network has, by these names.
struct Settings {
  double decay = 1;
  std::optional<Solver> solver;
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
  std::optional<Init> init;
  bool standardize = true;
  bool gradcheck = false;
  std::vector<double> rates;
  std::optional<std::string> checkpoint;
  std::optional<Precision> precision;
};

template <class S>
Settings settings_of(const S& s) {
  return {s.decay, s.solver,      s.tolerance, s.max_iterations, s.epochs,     s.batch,    s.step,
          s.fade,  s.momentum,    s.dropout,   s.noise,          s.validation, s.patience, s.restarts,
          s.init,  s.standardize, s.gradcheck, s.rates,          s.checkpoint, s.precision};
}
/// What was chosen, and how many starts there were, is told by the spec.
template <class S>
void tell(S& spec, const Settings& settings) {
  spec.solver = settings.solver;
  spec.step = settings.step;
  spec.init = settings.init;
  spec.restarts = settings.restarts;
  spec.precision = settings.precision;
}

template <class S>
constexpr auto settings_params(std::string_view standardize) {
  return Listing{
      param("decay", &S::decay, "weight of half the squared weights, beside the sum of the losses", at_least(0),
            Step::logarithmic),
      param("solver", &S::solver,
            "lbfgs, cg and lm look at all rows at once until the gradient vanishes, the others at batches; auto: lbfgs "
            "where the network and the rows are small, else adam"),
      param("tolerance", &S::tolerance,
            "lbfgs, cg, lm: norm of the gradient at which the work ends, relative to that at the start",
            Range{.low = 0, .high = 1, .low_open = true, .high_open = true}, Step::logarithmic),
      param("max_iterations", &S::max_iterations, "lbfgs, cg, lm: iterations at most", at_least(1)),
      param("epochs", &S::epochs, "by batches: passes over the rows", at_least(1)),
      param("batch", &S::batch, "by batches: rows of a batch; 1: row by row", at_least(1)),
      param("step", &S::step,
            "by batches: length of a step along the mean gradient; auto: 0.05 for sgd and nesterov, 0.003 for adam and "
            "rmsprop",
            above(0), Step::logarithmic),
      param("fade", &S::fade, "by batches: after e epochs a step is step / (1 + fade e)", at_least(0)),
      param("momentum", &S::momentum, "sgd, nesterov, adam: share of the last direction that is kept",
            Range{.low = 0, .high = 1, .high_open = true}),
      param("dropout", &S::dropout, "by batches: share of the hidden units of dense layers that each row leaves out",
            Range{.low = 0, .high = 1, .high_open = true}),
      param("noise", &S::noise,
            "by batches: normal noise of standard deviation noise / (1 + t)^0.275 on each derivative of step t",
            at_least(0)),
      param("validation", &S::validation, "share of the rows held out to stop by; 0: none",
            Range{.low = 0, .high = 1, .high_open = true}),
      param("patience", &S::patience,
            "epochs or iterations without a lower loss of the rows held out after which it stops", at_least(1)),
      param("restarts", &S::restarts, "times it begins with other weights; the best end is kept", at_least(1)),
      param("init", &S::init,
            "variance of the weights at the start: 1/in (fan_in), 2/(in + out) (glorot) or 2/in (he); auto: he for "
            "relu "
            "and softplus, else glorot"),
      param("standardize", &S::standardize, standardize),
      param("gradcheck", &S::gradcheck, "compare all derivatives at the start with differences, on at most 32 rows"),
      param("rates", &S::rates,
            "by batches: factors on the step, of each layer with weights one, from the inputs on; none: all 1",
            at_least(0)),
      param("checkpoint", &S::checkpoint,
            "by batches: a file that keeps, after each epoch, what a fit that was ended needs to go on with the same "
            "bits"),
      param("precision", &S::precision,
            "in what numbers batches are learned and rows predicted: single has 4 bytes, double 8; auto: single by "
            "batches where the work is large, else double")};
}

}  // namespace lemma::neural
