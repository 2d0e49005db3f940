// lemma/neural/shared/certify.cpp: losses and derivatives found anew, row by row in plain loops.
#include <cmath>
#include <fmt/core.h>
#include <lemma/model/comparison.hpp>
#include <lemma/neural/shared/trained.hpp>

namespace lemma::neural {
namespace {

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
    for (Index l = 0; l < net_.depth(); ++l) forward(l);
    std::vector<double> delta(target.size());
    const double loss = judged(z_.back(), target, delta);
    if (!gradient) return weight * loss;
    for (double& each : delta) each *= weight;
    for (Index l = net_.depth() - 1; l >= 0; --l)
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
      for (Index l = net_.depth() - 1; l >= 0; --l)
        delta = back(l, delta, [&](Index place, double d) { curvature(place) += size * d * d; });
    }
  }

 private:
  /// visit(k, place of W, number taken) for all that unit k (of out.channels, or of a dense layer's units) takes at pixel (y, x).
  static void for_each_taken(const Layer& layer, Index y, Index x, const auto& visit) {
    if (layer.kind == Layer::Kind::dense) {
      for (Index j = 0; j < layer.in.size(); ++j) visit(j, j);
      return;
    }
    for (Index i = 0; i < layer.height; ++i)
      for (Index j = 0; j < layer.width; ++j) {
        const Index row = y * layer.down + i - layer.above, column = x * layer.right + j - layer.left;
        if (row < 0 || row >= layer.in.height || column < 0 || column >= layer.in.width) continue;
        for (Index c = 0; c < layer.in.channels; ++c)
          visit((i * layer.width + j) * layer.in.channels + c, (row * layer.in.width + column) * layer.in.channels + c);
      }
  }
  /// visit(pixel (y, x) of the output, channel, its place among the numbers that come out).
  static void for_each_number(const Layer& layer, const auto& visit) {
    for (Index y = 0; y < layer.out.height; ++y)
      for (Index x = 0; x < layer.out.width; ++x)
        for (Index k = 0; k < layer.out.channels; ++k)
          visit(y, x, k, (y * layer.out.width + x) * layer.out.channels + k);
  }
  /// Of a pool: the numbers of the channel that it takes at (y, x), and the largest of them.
  static std::vector<Index> pooled(const Layer& layer, Index y, Index x, Index channel, const std::vector<double>& a) {
    std::vector<Index> out;
    for_each_taken(layer, y, x, [&](Index, Index taken) {
      if (taken % layer.in.channels == channel) out.push_back(taken);
    });
    if (layer.kind == Layer::Kind::mean_pool) return out;
    Index most = out[0];
    for (const Index each : out)
      if (a[at(each)] > a[at(most)]) most = each;
    return {most};
  }

  void forward(Index l) {
    const Layer& layer = net_.layers[at(l)];
    const std::vector<double>& from = a_.back();
    std::vector<double> z(at(layer.out.size()), 0), a;
    for_each_number(layer, [&](Index y, Index x, Index k, Index place) {
      double& sum = z[at(place)];
      if (layer.pools()) {
        const std::vector<Index> taken = pooled(layer, y, x, k, from);
        for (const Index each : taken) sum += from[at(each)] / static_cast<double>(taken.size());
        return;
      }
      const double* w = weights_.data() + net_.begin(l);
      sum = w[layer.matrix_size() + k];
      for_each_taken(layer, y, x, [&](Index j, Index taken) { sum += w[k * layer.fan_in() + j] * from[at(taken)]; });
    });
    if (layer.activation == Activation::softmax) a = shares(z);
    else
      for (const double each : z) a.push_back(activated(layer.activation, each));
    z_.push_back(std::move(z));
    if (l + 1 < net_.depth()) a_.push_back(std::move(a));
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
    const Layer& layer = net_.layers[at(l)];
    const std::vector<double>& a = a_[at(l)];
    std::vector<double> before(a.size(), 0);
    const Index begin = net_.begin(l);
    for_each_number(layer, [&](Index y, Index x, Index k, Index place) {
      const double d = delta[at(place)];
      if (layer.pools()) {
        const std::vector<Index> taken = pooled(layer, y, x, k, a);
        for (const Index each : taken) before[at(each)] += d / static_cast<double>(taken.size());
        return;
      }
      add(begin + layer.matrix_size() + k, d);
      for_each_taken(layer, y, x, [&](Index j, Index taken) {
        const Index here = begin + k * layer.fan_in() + j;
        add(here, d * a[at(taken)]);
        before[at(taken)] += d * weights_(here);
      });
    });
    if (l == 0) return before;
    const Activation s = net_.layers[at(l - 1)].activation;
    double mean = 0;
    if (s == Activation::softmax)
      for (std::size_t j = 0; j < a.size(); ++j) mean += a[j] * before[j];
    for (std::size_t j = 0; j < a.size(); ++j)
      before[j] = s == Activation::softmax ? a[j] * (before[j] - mean) : before[j] * derivative(s, z_[at(l - 1)][j]);
    return before;
  }

  const Network& net_;
  const Vector& weights_;
  std::vector<std::vector<double>> a_, z_;
};

/// Losses and gradients at the weights and at the start, and how far columns lie from the means told, all in one pass.
struct Found {
  const Trained* model;
  const Plan* plan;
  const Vector* start;
  bool was_updated;
  double weight = 0, held_out_weight = 0, loss = 0, held_out_loss = 0;
  Vector gradient, gradient_at_start, curvature;
  Vector shift, spread;  // of columns, then of responses

  Found(const Trained& of, const Plan& by, const Memory& memory, const Vector& begin)
      : model(&of), plan(&by), start(&begin), was_updated(memory.updated()) {
    gradient = gradient_at_start = Vector::Zero(by.net.weight_count());
    curvature = Vector::Zero(memory.curvature ? memory.curvature->size() : 0);
    shift = spread = Vector::Zero(of.width() + of.response_mean.size());
  }
  void accumulate(const Block& block) {
    PlainRow now(plan->net, model->weights), then(plan->net, *start);
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
      if (!was_updated && is_held_out(key_of_row(block, i), plan->settings.validation, model->seed)) {
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

/// Scaled columns, of images the scaled channels, have mean 0 and standard deviation 1, or are 0.
void compare_scales(Comparison& same, const Trained& model, const Plan& plan, const Found& found) {
  const Index p = model.width(), together = plan.channels > 0 ? plan.channels : p;
  const auto look = [&](std::string_view of_mean, std::string_view of_scale, Index j, double off, double square,
                        double mean, double scale) {
    const double unit = 1 + 1e-3 * std::abs(mean) / scale;
    same.entry(of_mean, j, off, 0, unit);
    if (square == 0) same.entry(of_scale, j, scale, 1, 1);
    else same.entry(of_scale, j, std::sqrt(square), 1, unit);
  };
  for (Index j = 0; j < together; ++j) {
    double off = 0, square = 0;
    for (Index k = j; k < p; k += together) {
      off += found.shift(k) / found.weight;
      square += found.spread(k) / found.weight;
      same.entry("mean", k, model.mean(k), model.mean(j), 1 + std::abs(model.mean(j)));
      same.entry("scale", k, model.scale(k), model.scale(j), model.scale(j));
    }
    const auto count = static_cast<double>(p / together);
    look("mean", "scale", j, off / count, square / count, model.mean(j), model.scale(j));
  }
  for (Index k = 0; plan.net.loss != Loss::poisson && k < model.response_mean.size(); ++k)
    look("response_mean", "response_scale", k, found.shift(p + k) / found.weight, found.spread(p + k) / found.weight,
         model.response_mean(k), model.response_scale(k));
}

}  // namespace

Certificate certify(const Trained& model, const Plan& plan, const Memory& memory, const Rows& rows,
                    const Execution& execution) {
  const Network& net = plan.net;
  const Settings& settings = plan.settings;
  const bool was_updated = memory.updated();
  const Index best = best_of(model.restart_losses);
  const Vector start = was_updated ? *memory.past : start_of(plan, model.seed, best);
  Found found = scan(rows, Found(model, plan, memory, start), execution);
  const Vector sizes = net.size_by_layer(found.gradient_at_start);
  double added = 0;
  if (was_updated) {
    for (Index i = 0; i < model.weights.size(); ++i) {
      const double off = model.weights(i) - (*memory.past)(i), pull = (*memory.past_curvature)(i);
      added += 0.5 * pull * off * off;
      found.gradient(i) += pull * off;
      found.curvature(i) += pull;
    }
  } else {
    for (const Index l : net.with_weights())
      for (Index i = net.begin(l); i < net.begin(l) + net.layers[at(l)].matrix_size(); ++i) {
        added += 0.5 * settings.decay * model.weights(i) * model.weights(i);
        found.gradient(i) += settings.decay * model.weights(i);
        found.gradient_at_start(i) += settings.decay * start(i);
        if (found.curvature.size() > 0) found.curvature(i) += settings.decay;
      }
  }
  const double loss = found.loss / found.weight, objective = found.loss + added;
  const double norm = found.gradient.stableNorm(), at_start = found.gradient_at_start.stableNorm();

  Certificate out;
  out.kind = "norm of the gradient, relative to that at the start";
  out.value = norm == 0 ? 0 : norm / at_start;
  out.tolerance = settings.tolerance;
  out.iterations = model.training_loss.size();
  const std::string nothing = was_updated ? "" : why_nothing(settings);
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
  if (settings.standardize && !was_updated) compare_scales(same, model, plan, found);
  const auto told = [&](std::string_view field, double stored, double expected) {
    same.number(field, stored, expected, std::abs(expected) + 1e-12);
  };
  told("loss", model.loss, loss);
  told("objective", model.objective, objective);
  for (Index l = 0; l < sizes.size(); ++l)
    same.entry("gradient_sizes", l, model.gradient_sizes(l), sizes(l), sizes(l) + 1e-6 * sizes.maxCoeff());
  for (Index i = 0; i < found.curvature.size(); ++i)
    same.entry("curvature", i, (*memory.curvature)(i), found.curvature(i),
               found.curvature(i) + 1e-6 * found.curvature.maxCoeff());
  if (!was_updated && settings.validation > 0) {
    const double held_out = found.held_out_loss / found.held_out_weight;
    if (model.best_epoch > 0) told("validation_loss", model.validation_loss(model.best_epoch - 1), held_out);
    told("restart_losses", model.restart_losses(best), held_out);
  } else {
    if (!was_updated) told("restart_losses", model.restart_losses(best), objective);
    if ((was_updated || takes_all_rows(*settings.solver)) && model.best_epoch > 0)
      told("training_loss", model.training_loss(model.best_epoch - 1), loss);
  }
  if (same.finding()) {
    out.strength = Strength::stationary;  // so that it does not hold
    same.report(out);
  }
  return out;
}

}  // namespace lemma::neural
