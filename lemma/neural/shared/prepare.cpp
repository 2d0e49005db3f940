// lemma/neural/shared/prepare.cpp: rows as a network learns them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/neural/shared/trained.hpp>

namespace lemma::neural {
namespace {

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

Examples examples_of(const Gathered& all, const std::vector<Index>& which, Index width) {
  const Index n = std::ssize(which), outputs = all.both.cols() - width;
  Examples out{Matrix(n, width), Matrix(n, outputs), Vector(n)};
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

/// Means and standard deviations (divisor n), the same for columns that are scaled together; 1 for those that are constant.
Scales scales_of(std::string_view method, const Matrix& x, const Vector& weight, Index together, const auto& name_of) {
  Block block(x, 0);
  block.weight = {weight.data(), at(weight.size())};
  ColumnMoments moments(x.cols());
  moments.accumulate(block);
  const double total = weight.sum(), by_n = total > 1 ? (total - 1) / total : 0;
  const Vector mean = moments.mean(), spread = by_n * moments.deviation().cwiseAbs2();
  Scales out{mean, Vector(x.cols()), {}};
  for (Index j = 0; j < x.cols(); ++j)
    if (!std::isfinite(mean(j)) || !std::isfinite(spread(j)))
      throw Error(fmt::format("{}: the values of '{}' reach beyond the range of numbers; use another unit", method,
                              name_of(j)));
  for (Index j = 0; j < together; ++j) {
    double sum = 0, square = 0, least = moments.least()(j), greatest = moments.greatest()(j), count = 0;
    for (Index k = j; k < x.cols(); k += together) sum += mean(k), ++count;
    const double centre = together == x.cols() ? mean(j) : sum / count;
    for (Index k = j; k < x.cols(); k += together) {
      const double off = mean(k) - centre;
      square += (spread(k) + off * off) / count;
      least = std::min(least, moments.least()(k));
      greatest = std::max(greatest, moments.greatest()(k));
    }
    const bool constant = least == greatest;
    if (constant) out.constant.push_back(j);
    const double scale = std::sqrt(square);
    for (Index k = j; k < x.cols(); k += together) {
      out.mean(k) = constant ? least : centre;
      out.scale(k) = constant || !(scale > 0) ? 1 : scale;
    }
  }
  return out;
}

void bring(Matrix& x, const Vector& mean, const Vector& scale) {
  x.rowwise() -= mean.transpose();
  x.array().rowwise() /= scale.transpose().array();
}

/// Error naming the first response that the loss cannot take.
void require_counts(std::string_view method, const Rows& rows, const Execution& execution) {
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index k = 0; k < outputs_of(rows); ++k)
        if (!(response(block, i, k) >= 0))
          throw Error(fmt::format("{}: the loss poisson takes numbers of at least 0, and '{}' is {:g} in row {}",
                                  method, rows.responses.empty() ? rows.target : rows.responses[at(k)].name,
                                  response(block, i, k), block.first + i + 1));
  });
}

}  // namespace

Index outputs_of(const Rows& rows) {
  if (!rows.classes.empty()) return std::ssize(rows.classes);
  return std::max<Index>(1, std::ssize(rows.responses));
}

Loss chosen_loss(std::string_view method, std::optional<Loss> loss, const Rows& rows) {
  for (const auto& each : rows.responses)
    if (!each.classes.empty())
      throw Error(
          fmt::format("{}: of several responses all are numbers, and '{}' holds classes; per_response --base {} fits "
                      "a network to each",
                      method, each.name, method));
  const bool of_classes = !rows.classes.empty();
  if (rows.classes.size() == 1)
    throw Error(
        fmt::format("{}: all rows are of the class '{}'; there is nothing to tell apart", method, rows.classes[0]));
  if (!loss) return of_classes ? Loss::cross_entropy : Loss::squared;
  if (of_classes && *loss != Loss::cross_entropy)
    throw Error(fmt::format("{}: the loss {} is one of numbers, and '{}' holds classes; cross_entropy is for classes",
                            method, name_of(*loss), rows.target));
  if (!of_classes && *loss == Loss::cross_entropy)
    throw Error(
        fmt::format("{}: the loss cross_entropy is one of classes, and '{}' holds numbers (factor({}) makes "
                    "classes of them)",
                    method, rows.target, rows.target));
  return *loss;
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

Vector start_of(const Plan& plan, std::int64_t seed, Index restart) {
  return plan.net.initial(plan.settings.init.value_or(Init::glorot), stream_of(seed, restart).split(0));
}

Index best_of(const Vector& restart_losses) {
  Index best = 0;
  for (Index r = 1; r < restart_losses.size(); ++r)
    if (restart_losses(r) < restart_losses(best)) best = r;
  return best;
}

Examples prepare_more(const Trained& model, const Plan& plan, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.4));
  if (plan.net.loss == Loss::poisson) require_counts(plan.method, rows, execution.part(0.4, 0.5));
  Gathered all = gathered(rows, model.outputs(), execution.part(0.5, 1));
  const std::vector<Index> which = in_own_order(all);
  require(!which.empty(),
          fmt::format("{}: the weights of all rows are 0, so there is nothing to learn from", plan.method));
  Examples out = examples_of(all, which, model.width());
  bring(out.x, model.mean, model.scale);
  if (model.classes == 0) bring(out.targets, model.response_mean, model.response_scale);
  return out;
}

Prepared prepare(const Plan& plan, const Rows& rows, std::int64_t seed, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.2));
  const double share = plan.settings.validation;
  const Loss loss = plan.net.loss;
  if (loss == Loss::poisson) require_counts(plan.method, rows, execution.part(0.2, 0.3));
  const Index p = rows.width(), outputs = outputs_of(rows);
  Prepared out;
  {
    Gathered all = gathered(rows, outputs, execution.part(0.3, 0.7));
    std::vector<Index> train, held_out;
    for (const Index row : in_own_order(all))
      (is_held_out(all.key[at(row)], share, seed) ? held_out : train).push_back(row);
    const auto need = [&](bool holds, std::string_view otherwise) {
      require(holds, fmt::format("{}: {}", plan.method, otherwise));
    };
    need(!train.empty() || !held_out.empty(), "the weights of all rows are 0, so there is nothing to learn from");
    need(!train.empty(), "all rows are held out; take a smaller share for validation");
    need(share == 0 || !held_out.empty(), "no row is held out; take a larger share for validation");
    out.train = examples_of(all, train, p);
    out.held_out = examples_of(all, held_out, p);
  }
  out.mean = Vector::Zero(p);
  out.scale = Vector::Ones(p);
  const bool of_numbers = rows.classes.empty();
  out.response_mean = Vector::Zero(of_numbers ? outputs : 0);
  out.response_scale = Vector::Ones(of_numbers ? outputs : 0);
  const Index together = plan.channels > 0 ? plan.channels : p;
  const Scales columns =
      scales_of(plan.method, out.train.x, out.train.weight, together, [&](Index j) { return rows.features[at(j)]; });
  for (const Index j : columns.constant)
    out.constant.push_back(plan.channels == 0   ? fmt::format("'{}'", rows.features[at(j)])
                           : plan.channels == 1 ? "the only channel"
                                                : fmt::format("channel {}", j + 1));
  if (plan.settings.standardize) {
    out.mean = columns.mean;
    out.scale = columns.scale;
    if (of_numbers && loss != Loss::poisson) {
      const Scales responses = scales_of(plan.method, out.train.targets, out.train.weight, outputs, [&](Index k) {
        return rows.responses.empty() ? rows.target : rows.responses[at(k)].name;
      });
      out.response_mean = responses.mean;
      out.response_scale = responses.scale;
    }
  }
  for (Examples* part : {&out.train, &out.held_out}) {
    bring(part->x, out.mean, out.scale);
    if (of_numbers) bring(part->targets, out.response_mean, out.response_scale);
  }
  return out;
}

std::string why_nothing(const Settings& settings) {
  if (!takes_all_rows(*settings.solver))
    return fmt::format("It was trained by {} in batches and ended by choice, not where the gradient vanishes",
                       name_of(*settings.solver));
  if (settings.validation > 0) return "It was stopped early by choice, where the loss of the rows held out was least";
  return {};
}

}  // namespace lemma::neural
