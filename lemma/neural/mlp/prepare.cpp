// lemma/neural/mlp/prepare.cpp: rows as a network learns them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/neural/mlp/parts.hpp>

namespace lemma::mlp {
namespace {

using neural::Loss;

/// All numbers of the rows side by side, features and targets, and their weights.
struct Gathered {
  Matrix both;
  Vector weight;
  std::vector<std::uint64_t> key;
};

Gathered gathered(const Rows& rows, Index outputs, const Execution& execution) {
  const Index p = rows.width(), n = rows.count();
  Gathered out{Matrix(n, p + outputs), Vector(n), std::vector<std::uint64_t>(at(n))};
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const Index row = block.first + i;
      out.both.row(row).head(p) = block.x.row(i);
      for (Index k = 0; k < outputs; ++k)
        out.both(row, p + k) = block.label.empty() ? response(block, i, k) : block.label[at(i)] == k ? 1.0 : 0.0;
      out.weight(row) = block.weight_of(i);
      out.key[at(row)] = key_of_row(block, i);
    }
  });
  return out;
}

bool same(const Matrix& m, Index a, Index b) { return (m.row(a).array() == m.row(b).array()).all(); }

/// Of each row that counts its number, in the order of the keys; equal rows once, the first with the weight of all.
std::vector<Index> in_own_order(Gathered& all) {
  std::vector<Index> order;
  for (Index i = 0; i < all.weight.size(); ++i)
    if (all.weight(i) > 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return all.key[at(a)] != all.key[at(b)] ? all.key[at(a)] < all.key[at(b)] : a < b;
  });
  std::vector<Index> out;
  for (const Index row : order) {
    if (!out.empty() && all.key[at(out.back())] == all.key[at(row)] && same(all.both, out.back(), row))
      all.weight(out.back()) += all.weight(row);
    else out.push_back(row);
  }
  return out;
}

neural::Examples examples_of(const Gathered& all, const std::vector<Index>& which, Index width) {
  const Index n = std::ssize(which), outputs = all.both.cols() - width;
  neural::Examples out{Matrix(n, width), Matrix(n, outputs), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    out.x.row(i) = all.both.row(which[at(i)]).head(width);
    out.targets.row(i) = all.both.row(which[at(i)]).tail(outputs);
    out.weight(i) = all.weight(which[at(i)]);
  }
  return out;
}

struct Scales {
  Vector mean, scale;
  std::vector<Index> constant;
};

/// Means and standard deviations (divisor n); 1 for a column that is constant.
Scales scales_of(const Matrix& x, const Vector& weight, const auto& name_of) {
  Block block(x, 0);
  block.weight = {weight.data(), at(weight.size())};
  ColumnMoments moments(x.cols());
  moments.accumulate(block);
  const double total = weight.sum(), by_n = total > 1 ? std::sqrt((total - 1) / total) : 0;
  Scales out{moments.mean(), moments.deviation() * by_n, {}};
  for (Index j = 0; j < x.cols(); ++j) {
    if (!std::isfinite(out.mean(j)) || !std::isfinite(out.scale(j)))
      throw Error(
          fmt::format("mlp: the values of '{}' reach beyond the range of numbers; use another unit", name_of(j)));
    if (moments.least()(j) == moments.greatest()(j)) {
      out.mean(j) = moments.least()(j);
      out.scale(j) = 1;
      out.constant.push_back(j);
    } else if (!(out.scale(j) > 0)) {
      out.scale(j) = 1;
    }
  }
  return out;
}

void bring(Matrix& x, const Vector& mean, const Vector& scale) {
  x.rowwise() -= mean.transpose();
  x.array().rowwise() /= scale.transpose().array();
}

/// Error naming the first response that the loss cannot take.
void require_counts(const Rows& rows, const Execution& execution) {
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index k = 0; k < outputs_of(rows); ++k)
        if (!(response(block, i, k) >= 0))
          throw Error(fmt::format("mlp: the loss poisson takes numbers of at least 0, and '{}' is {:g} in row {}",
                                  rows.responses.empty() ? rows.target : rows.responses[at(k)].name,
                                  response(block, i, k), block.first + i + 1));
  });
}

}  // namespace

Index outputs_of(const Rows& rows) {
  if (!rows.classes.empty()) return std::ssize(rows.classes);
  return std::max<Index>(1, std::ssize(rows.responses));
}

Loss chosen_loss(const Mlp& spec, const Rows& rows) {
  for (const auto& each : rows.responses)
    if (!each.classes.empty())
      throw Error(
          fmt::format("mlp: of several responses all are numbers, and '{}' holds classes; per_response --base mlp fits "
                      "a network to each",
                      each.name));
  const bool of_classes = !rows.classes.empty();
  if (rows.classes.size() == 1)
    throw Error(fmt::format("mlp: all rows are of the class '{}'; there is nothing to tell apart", rows.classes[0]));
  if (!spec.loss) return of_classes ? Loss::cross_entropy : Loss::squared;
  if (of_classes && *spec.loss != Loss::cross_entropy)
    throw Error(fmt::format("mlp: the loss {} is one of numbers, and '{}' holds classes; cross_entropy is for classes",
                            name_of(*spec.loss), rows.target));
  if (!of_classes && *spec.loss == Loss::cross_entropy)
    throw Error(
        fmt::format("mlp: the loss cross_entropy is one of classes, and '{}' holds numbers (factor({}) makes "
                    "classes of them)",
                    rows.target, rows.target));
  return *spec.loss;
}

neural::Network network_of(const Mlp& spec, Index inputs, Index outputs) {
  neural::Network out;
  out.sizes.push_back(inputs);
  for (const double units : spec.layers) out.sizes.push_back(static_cast<Index>(units));
  out.sizes.push_back(outputs);
  out.activation = spec.activation;
  out.loss = spec.loss.value_or(Loss::squared);
  return out;
}

std::uint64_t key_of_row(const Block& block, Index i) {
  const Index p = block.x.cols();
  const std::uint64_t hash = hash_numbers({block.x.row(i).data(), at(p)});
  if (!block.responses.empty()) {
    const std::size_t each = block.responses.size() / at(block.rows());
    return hash_numbers(block.responses.subspan(at(i) * each, each), hash);
  }
  const double said[] = {block.label.empty() ? block.y[at(i)] : static_cast<double>(block.label[at(i)])};
  return hash_numbers(said, hash);
}

bool is_held_out(std::uint64_t key, double share, std::int64_t seed) {
  return share > 0 && RandomStream(static_cast<std::uint64_t>(seed), key).uniform() < share;
}

RandomStream stream_of(std::int64_t seed, Index restart) {
  return RandomStream(static_cast<std::uint64_t>(seed)).split(static_cast<std::uint64_t>(restart));
}

Vector start_of(const neural::Network& net, const Mlp& spec, std::int64_t seed, Index restart) {
  return net.initial(spec.init.value_or(neural::Init::glorot), stream_of(seed, restart).split(0));
}

Index best_of(const Vector& restart_losses) {
  Index best = 0;
  for (Index r = 1; r < restart_losses.size(); ++r)
    if (restart_losses(r) < restart_losses(best)) best = r;
  return best;
}

neural::Examples prepare_more(const MlpModel& model, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.4));
  if (*model.spec.loss == Loss::poisson) require_counts(rows, execution.part(0.4, 0.5));
  Gathered all = gathered(rows, model.outputs(), execution.part(0.5, 1));
  const std::vector<Index> which = in_own_order(all);
  require(!which.empty(), "mlp: the weights of all rows are 0, so there is nothing to learn from");
  neural::Examples out = examples_of(all, which, model.width());
  bring(out.x, model.mean, model.scale);
  if (model.classes == 0) bring(out.targets, model.response_mean, model.response_scale);
  return out;
}

Prepared prepare(const Mlp& spec, const Rows& rows, std::int64_t seed, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.2));
  if (*spec.loss == Loss::poisson) require_counts(rows, execution.part(0.2, 0.3));
  const Index p = rows.width(), outputs = outputs_of(rows);
  Prepared out;
  {
    Gathered all = gathered(rows, outputs, execution.part(0.3, 0.7));
    std::vector<Index> train, held_out;
    for (const Index row : in_own_order(all))
      (is_held_out(all.key[at(row)], spec.validation, seed) ? held_out : train).push_back(row);
    require(!train.empty() || !held_out.empty(),
            "mlp: the weights of all rows are 0, so there is nothing to learn from");
    require(!train.empty(), "mlp: all rows are held out; take a smaller share for validation");
    require(spec.validation == 0 || !held_out.empty(), "mlp: no row is held out; take a larger share for validation");
    out.train = examples_of(all, train, p);
    out.held_out = examples_of(all, held_out, p);
  }
  out.mean = Vector::Zero(p);
  out.scale = Vector::Ones(p);
  const bool of_numbers = rows.classes.empty();
  out.response_mean = Vector::Zero(of_numbers ? outputs : 0);
  out.response_scale = Vector::Ones(of_numbers ? outputs : 0);
  const Scales columns = scales_of(out.train.x, out.train.weight, [&](Index j) { return rows.features[at(j)]; });
  for (const Index j : columns.constant) out.constant.push_back(rows.features[at(j)]);
  if (spec.standardize) {
    out.mean = columns.mean;
    out.scale = columns.scale;
    if (of_numbers && *spec.loss != Loss::poisson) {
      const Scales responses = scales_of(out.train.targets, out.train.weight, [&](Index k) {
        return rows.responses.empty() ? rows.target : rows.responses[at(k)].name;
      });
      out.response_mean = responses.mean;
      out.response_scale = responses.scale;
    }
  }
  for (neural::Examples* part : {&out.train, &out.held_out}) {
    bring(part->x, out.mean, out.scale);
    if (of_numbers) bring(part->targets, out.response_mean, out.response_scale);
  }
  return out;
}

std::string why_nothing(const MlpModel& model) {
  const Mlp& spec = model.spec;
  if (model.past.size() > 0) return {};
  if (!neural::takes_all_rows(*spec.solver))
    return fmt::format("It was trained by {} in batches and ended by choice, not where the gradient vanishes",
                       name_of(*spec.solver));
  if (spec.validation > 0) return "It was stopped early by choice, where the loss of the rows held out was least";
  return {};
}

}  // namespace lemma::mlp
