// lemma/neural/mlp/certify.cpp: losses and derivatives found anew, row by row in plain loops.
#include <cmath>
#include <fmt/core.h>
#include <lemma/model/comparison.hpp>
#include <lemma/neural/mlp/parts.hpp>

namespace lemma {
namespace {

using namespace mlp;
using neural::Activation;
using neural::Loss;
using neural::Network;

double activated(Activation s, double z) {
  switch (s) {
    case Activation::sigmoid: return 0.5 * (1 + std::tanh(0.5 * z));
    case Activation::tanh: return std::tanh(z);
    case Activation::relu: return std::max(z, 0.0);
    case Activation::softplus: return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    default: return z;
  }
}
double derivative(Activation s, double z) {
  const double e = std::exp(-std::abs(z));
  switch (s) {
    case Activation::sigmoid: return e / ((1 + e) * (1 + e));
    case Activation::tanh: return 1 - std::tanh(z) * std::tanh(z);
    case Activation::relu: return z > 0 ? 1 : 0;
    case Activation::softplus: return z >= 0 ? 1 / (1 + e) : e / (1 + e);
    default: return 1;
  }
}
std::vector<double> shares(const std::vector<double>& z) {
  double top = z[0], sum = 0;
  for (const double each : z) top = std::max(top, each);
  std::vector<double> out;
  for (const double each : z) sum += out.emplace_back(std::exp(each - top));
  for (double& each : out) each /= sum;
  return out;
}

/// The loss of one row and what it adds to the gradient, unit by unit along the graph and back.
class PlainRow {
 public:
  PlainRow(const Network& net, const Vector& weights) : net_(net), weights_(weights) {}

  double run(std::vector<double> x, const std::vector<double>& target, double weight, Vector* gradient) {
    a_.assign(1, std::move(x));
    z_.clear();
    for (Index l = 0; l < net_.layers(); ++l) forward(l);
    std::vector<double> delta(target.size());
    const double loss = judged(z_.back(), target, delta);
    if (!gradient) return weight * loss;
    for (double& each : delta) each *= weight;
    for (Index l = net_.layers() - 1; l >= 0; --l)
      delta = back(l, delta, [&](Index place, double d) { (*gradient)(place) += d; });
    return weight * loss;
  }
  /// After run(): what the row adds to the curvature of each weight, w Σ_k c_k (∂ of output k, of classes of −log p_k)².
  void bend(double weight, Vector& curvature) const {
    const std::vector<double>& z = z_.back();
    const bool of_classes = net_.loss == Loss::cross_entropy;
    const std::vector<double> p = of_classes ? shares(z) : std::vector<double>(z.size(), 0);
    for (std::size_t k = 0; k < z.size(); ++k) {
      std::vector<double> delta = p;
      delta[k] -= 1;
      const double size = weight * (of_classes ? p[k] : net_.loss == Loss::poisson ? std::exp(z[k]) : 1.0);
      for (Index l = net_.layers() - 1; l >= 0; --l)
        delta = back(l, delta, [&](Index place, double d) { curvature(place) += size * d * d; });
    }
  }

 private:
  Index place(Index l, Index unit, Index input) const { return net_.begin(l) + unit * net_.sizes[at(l)] + input; }
  Index bias(Index l, Index unit) const { return net_.begin(l) + net_.matrix_size(l) + unit; }

  void forward(Index l) {
    std::vector<double> z(at(net_.sizes[at(l + 1)])), a;
    for (std::size_t k = 0; k < z.size(); ++k) {
      const auto unit = static_cast<Index>(k);
      z[k] = weights_(bias(l, unit));
      for (std::size_t j = 0; j < a_.back().size(); ++j)
        z[k] += weights_(place(l, unit, static_cast<Index>(j))) * a_.back()[j];
    }
    if (net_.activation == Activation::softmax) a = shares(z);
    else
      for (const double each : z) a.push_back(activated(net_.activation, each));
    z_.push_back(std::move(z));
    if (l + 1 < net_.layers()) a_.push_back(std::move(a));
  }

  double judged(const std::vector<double>& z, const std::vector<double>& t, std::vector<double>& delta) const {
    const std::vector<double> p = net_.loss == Loss::cross_entropy ? shares(z) : std::vector<double>{};
    double sum = 0;
    for (std::size_t k = 0; k < z.size(); ++k) switch (net_.loss) {
        case Loss::squared: sum += 0.5 * (z[k] - t[k]) * (z[k] - t[k]), delta[k] = z[k] - t[k]; break;
        case Loss::absolute: sum += std::abs(z[k] - t[k]), delta[k] = z[k] > t[k] ? 1 : z[k] < t[k] ? -1 : 0; break;
        case Loss::cross_entropy:
          if (t[k] > 0) {  // log of a share that may be too small to be told from 0
            double top = z[0], all = 0;
            for (const double each : z) top = std::max(top, each);
            for (const double each : z) all += std::exp(each - top);
            sum += t[k] * (top + std::log(all) - z[k]);
          }
          delta[k] = p[k] - t[k];
          break;
        case Loss::poisson: sum += std::exp(z[k]) - t[k] * z[k], delta[k] = std::exp(z[k]) - t[k]; break;
      }
    return sum;
  }

  /// From ∂/∂z of layer l to ∂/∂z of the one before.
  std::vector<double> back(Index l, const std::vector<double>& delta, const auto& add) const {
    const std::vector<double>& a = a_[at(l)];
    std::vector<double> before(a.size(), 0);
    for (std::size_t k = 0; k < delta.size(); ++k) {
      const auto unit = static_cast<Index>(k);
      add(bias(l, unit), delta[k]);
      for (std::size_t j = 0; j < a.size(); ++j) {
        const Index here = place(l, unit, static_cast<Index>(j));
        add(here, delta[k] * a[j]);
        before[j] += delta[k] * weights_(here);
      }
    }
    if (l == 0) return before;
    double mean = 0;
    if (net_.activation == Activation::softmax)
      for (std::size_t j = 0; j < a.size(); ++j) mean += a[j] * before[j];
    for (std::size_t j = 0; j < a.size(); ++j)
      before[j] = net_.activation == Activation::softmax ? a[j] * (before[j] - mean)
                                                         : before[j] * derivative(net_.activation, z_[at(l - 1)][j]);
    return before;
  }

  const Network& net_;
  const Vector& weights_;
  std::vector<std::vector<double>> a_, z_;
};

/// Losses and gradients at the weights and at the start, and how far columns lie from the means told, all in one pass.
struct Found {
  const MlpModel* model;
  const Network* net;
  const Vector* start;
  double weight = 0, held_out_weight = 0, loss = 0, held_out_loss = 0;
  Vector gradient, gradient_at_start, curvature;
  Vector shift, spread;  // of columns, then of responses

  Found(const MlpModel& of, const Network& network, const Vector& begin) : model(&of), net(&network), start(&begin) {
    gradient = gradient_at_start = Vector::Zero(network.weight_count());
    curvature = Vector::Zero(of.curvature.size());
    shift = spread = Vector::Zero(of.width() + of.response_mean.size());
  }
  void accumulate(const Block& block) {
    PlainRow now(*net, model->weights), then(*net, *start);
    const Index p = model->width(), m = model->outputs();
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      std::vector<double> x(at(p)), target(at(m));
      for (Index j = 0; j < p; ++j) x[at(j)] = (block.x(i, j) - model->mean(j)) / model->scale(j);
      for (Index k = 0; k < m; ++k)
        target[at(k)] = model->classes > 0
                            ? (block.label[at(i)] == k ? 1.0 : 0.0)
                            : (response(block, i, k) - model->response_mean(k)) / model->response_scale(k);
      if (model->past.size() == 0 && is_held_out(key_of_row(block, i), model->spec.validation, model->seed)) {
        held_out_weight += w;
        held_out_loss += now.run(x, target, w, nullptr);
        continue;
      }
      weight += w;
      for (Index j = 0; j < shift.size(); ++j) {
        const double off = j < p ? x[at(j)] : target[at(j - p)];
        shift(j) += w * off;
        spread(j) += w * off * off;
      }
      loss += now.run(x, target, w, &gradient);
      if (curvature.size() > 0) now.bend(w, curvature);
      then.run(std::move(x), target, w, &gradient_at_start);
    }
  }
  void merge(const Found& other) {
    weight += other.weight;
    held_out_weight += other.held_out_weight;
    loss += other.loss;
    held_out_loss += other.held_out_loss;
    gradient += other.gradient;
    gradient_at_start += other.gradient_at_start;
    curvature += other.curvature;
    shift += other.shift;
    spread += other.spread;
  }
};

/// Scaled columns have mean 0 and standard deviation 1, or are 0.
void compare_scales(Comparison& same, const MlpModel& model, const Found& found) {
  const Index p = model.width();
  const auto look = [&](std::string_view of_mean, std::string_view of_scale, Index j, Index at, double mean,
                        double scale) {
    const double off = found.shift(at) / found.weight, square = found.spread(at) / found.weight;
    const double unit = 1 + 1e-3 * std::abs(mean) / scale;
    same.entry(of_mean, j, off, 0, unit);
    if (square == 0) same.entry(of_scale, j, scale, 1, 1);
    else same.entry(of_scale, j, std::sqrt(square), 1, unit);
  };
  for (Index j = 0; j < p; ++j) look("mean", "scale", j, j, model.mean(j), model.scale(j));
  for (Index k = 0; model.spec.loss != Loss::poisson && k < model.response_mean.size(); ++k)
    look("response_mean", "response_scale", k, p + k, model.response_mean(k), model.response_scale(k));
}

}  // namespace

Certificate certify(const MlpModel& model, const Rows& rows, const Execution& execution) {
  const Network net = model.network();
  const bool was_updated = model.past.size() > 0;
  const Index best = best_of(model.restart_losses);
  const Vector start = was_updated ? model.past : start_of(net, model.spec, model.seed, best);
  Found found = scan(rows, Found(model, net, start), execution);
  const Vector sizes = net.size_by_layer(found.gradient_at_start);
  double added = 0;
  if (was_updated) {
    for (Index i = 0; i < model.weights.size(); ++i) {
      const double off = model.weights(i) - model.past(i), pull = model.past_curvature(i);
      added += 0.5 * pull * off * off;
      found.gradient(i) += pull * off;
      found.curvature(i) += pull;
    }
  } else {
    for (Index l = 0; l < net.layers(); ++l)
      for (Index i = net.begin(l); i < net.begin(l) + net.matrix_size(l); ++i) {
        added += 0.5 * model.spec.decay * model.weights(i) * model.weights(i);
        found.gradient(i) += model.spec.decay * model.weights(i);
        found.gradient_at_start(i) += model.spec.decay * start(i);
        if (found.curvature.size() > 0) found.curvature(i) += model.spec.decay;
      }
  }
  const double loss = found.loss / found.weight, objective = found.loss + added;
  const double norm = found.gradient.stableNorm(), at_start = found.gradient_at_start.stableNorm();

  Certificate out;
  out.kind = "norm of the gradient, relative to that at the start";
  out.value = norm == 0 ? 0 : norm / at_start;
  out.tolerance = model.spec.tolerance;
  out.iterations = model.training_loss.size();
  const std::string nothing = why_nothing(model);
  const std::string_view what = was_updated ? "objective of the new rows, with what is kept of those before,"
                                            : "objective",
                         when = was_updated ? "before the update" : "at the start";
  if (nothing.empty()) {
    out.strength = Strength::stationary;
    out.stopped = out.holds() ? "converged" : "iteration limit";
    out.message =
        out.holds()
            ? fmt::format(
                  "The gradient of the {} is less than {:.0e} of what it was {}: a stationary point, one of many; "
                  "whether it is the best of them is not known.",
                  what, out.tolerance, when)
            : fmt::format(
                  "The gradient of the {} is {:.1e} of what it was {}, and {:.0e} is allowed: try more "
                  "max_iterations, more decay or a larger tolerance.",
                  what, out.value, when, out.tolerance);
  } else {
    out.stopped = "by choice";
    out.message = nothing + ": nothing is claimed of the weights. The losses told are those of the rows.";
  }
  Comparison same;
  if (model.spec.standardize && !was_updated) compare_scales(same, model, found);
  const auto told = [&](std::string_view field, double stored, double expected) {
    same.number(field, stored, expected, std::abs(expected) + 1e-12);
  };
  told("loss", model.loss, loss);
  told("objective", model.objective, objective);
  for (Index l = 0; l < sizes.size(); ++l)
    same.entry("gradient_sizes", l, model.gradient_sizes(l), sizes(l), sizes(l) + 1e-6 * sizes.maxCoeff());
  for (Index i = 0; i < found.curvature.size(); ++i)
    same.entry("curvature", i, model.curvature(i), found.curvature(i),
               found.curvature(i) + 1e-6 * found.curvature.maxCoeff());
  if (!was_updated && model.spec.validation > 0) {
    const double held_out = found.held_out_loss / found.held_out_weight;
    if (model.best_epoch > 0) told("validation_loss", model.validation_loss(model.best_epoch - 1), held_out);
    told("restart_losses", model.restart_losses(best), held_out);
  } else {
    if (!was_updated) told("restart_losses", model.restart_losses(best), objective);
    if ((was_updated || neural::takes_all_rows(*model.spec.solver)) && model.best_epoch > 0)
      told("training_loss", model.training_loss(model.best_epoch - 1), loss);
  }
  if (same.finding()) {
    out.strength = Strength::stationary;  // so that it does not hold
    same.report(out);
  }
  return out;
}

}  // namespace lemma
