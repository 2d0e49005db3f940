// lemma/tree/boost/outcome.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/tree/boost/outcome.hpp>

namespace lemma::boost {

BoostLoss chosen_loss(const Boost& spec, const Rows& rows) {
  const std::size_t classes = rows.classes.size();
  if (classes == 1)
    throw Error(fmt::format("boost: all rows are of the class '{}'; there is nothing to tell apart", rows.classes[0]));
  if (!spec.loss) return classes == 0 ? BoostLoss::squared : classes == 2 ? BoostLoss::logistic : BoostLoss::softmax;
  const BoostLoss kind = *spec.loss;
  const bool of_two = kind == BoostLoss::logistic || kind == BoostLoss::exponential,
             of_more = kind == BoostLoss::softmax;
  if (classes == 0 && (of_two || of_more))
    throw Error(
        fmt::format("boost: the loss {} is one of classes, and '{}' holds numbers (factor({}) makes classes of them)",
                    name_of(kind), rows.target, rows.target));
  if (classes > 0 && !of_two && !of_more)
    throw Error(fmt::format(
        "boost: the loss {} is one of numbers, and '{}' holds classes; logistic, exponential and softmax are for "
        "classes",
        name_of(kind), rows.target));
  if (classes > 2 && of_two)
    throw Error(fmt::format("boost: the loss {} tells two classes apart, and '{}' has {}; softmax is for several",
                            name_of(kind), rows.target, classes));
  return kind;
}

Loss loss_of(const Boost& spec, BoostLoss kind, Index classes) {
  return {kind, spec.alpha, spec.delta, spec.power, classes};
}

Index column_named(const Rows& rows, const std::string& name, std::string_view parameter) {
  const auto found = std::find(rows.features.begin(), rows.features.end(), name);
  if (found == rows.features.end())
    throw Error(fmt::format("boost: {} names '{}', and there is no such column{}", parameter, name,
                            did_you_mean(name, rows.features)));
  return found - rows.features.begin();
}

Outcome read_outcome(const Boost& spec, const Loss& loss, const Rows& rows, std::uint64_t seed,
                     const Execution& execution) {
  const Lies where = place_for(rows);
  Outcome out{Kept<double>(where), Kept<double>(where), Kept<double>(where), Kept<std::uint64_t>(where)};
  out.y.resize(at(rows.count()));
  if (rows.has_weights || spec.validation > 0) out.weight.resize(out.y.size());
  if (spec.validation > 0) out.held_out.resize(out.y.size());
  const bool draws = spec.validation > 0 || spec.share < 1 || spec.top;
  if (draws) out.key.resize(out.y.size());
  const Index size = block_rows(rows);
  parallel_for(block_count(rows), execution, [&](Index b) {
    BlockBuffer buffer;
    const Index first = b * size, count = std::min(size, rows.count() - first);
    const Block block = draws ? rows.read(first, count, buffer) : rows.outcome(first, count, buffer);
    for (Index i = 0; i < count; ++i) {
      const std::size_t row = at(first + i);
      const double response = block.y.empty() ? block.label[at(i)] : block.y[at(i)], weight = block.weight_of(i);
      if (!std::isfinite(response))
        throw Error(fmt::format("boost: '{}' is not finite in row {}", rows.target, row + 1));
      if (!loss.takes(response))
        throw Error(fmt::format("boost: the loss {} takes numbers {}, and '{}' is {:g} in row {}", name_of(loss.kind),
                                loss.wants(), rows.target, response, row + 1));
      if (!(weight >= 0 && std::isfinite(weight)))
        throw Error(
            fmt::format("boost: the weight of row {} is {}; weights are finite and at least 0", row + 1, weight));
      out.y[row] = response;
      if (draws) out.key[row] = row_key(row_of(block.x, i), block.x.cols(), response);
      const bool held = spec.validation > 0 && chance(out.key[row], seed, kHeldOut) < spec.validation;
      if (!out.weight.empty()) out.weight[row] = held ? 0 : weight;
      if (!out.held_out.empty()) out.held_out[row] = held ? weight : 0;
    }
  });
  for (Index i = 0; i < out.count(); ++i) {
    out.total += out.weight_of(i);
    if (!out.held_out.empty()) out.total_held_out += out.held_out[at(i)];
  }
  if (!(out.total > 0))
    throw Error(out.total_held_out > 0 ? "boost: all rows are held out; take a smaller share for validation"
                                       : "boost: the weights of all rows are 0, so there is nothing to learn from");
  if (spec.validation > 0 && !(out.total_held_out > 0))
    throw Error("boost: no row is held out; take a larger share for validation");
  return out;
}

namespace {

double mean_response(const Outcome& outcome, Index of_class = -1) {
  const double shift = of_class < 0 ? outcome.y.front() : 0;  // near the numbers, so that nothing is lost
  double sum = 0;
  for (Index i = 0; i < outcome.count(); ++i)
    sum += outcome.weight_of(i) * (of_class < 0                                        ? outcome.y[at(i)] - shift
                                   : outcome.y[at(i)] == static_cast<double>(of_class) ? 1.0
                                                                                       : 0.0);
  return shift + sum / outcome.total;
}

}  // namespace

Vector start_of(const Loss& loss, const Outcome& outcome) {
  Vector out(loss.outputs());
  if (loss.by_quantile() || loss.kind == BoostLoss::huber) {
    std::vector<Weighted> all;
    all.reserve(outcome.y.size());
    for (Index i = 0; i < outcome.count(); ++i)
      if (outcome.weight_of(i) > 0) all.push_back({outcome.y[at(i)], outcome.weight_of(i)});
    out(0) = weighted_quantile(all, loss.level());
  } else if (loss.kind == BoostLoss::softmax) {
    for (Index k = 0; k < loss.classes; ++k) out(k) = loss.start_of_mean(mean_response(outcome, k));
  } else {
    const double mean = mean_response(outcome);
    if (!std::isfinite(mean))
      throw Error("boost: the mean of the response is beyond the range of numbers; use another unit");
    if (loss.has_log_link() && !(mean > 0))
      throw Error("boost: the response is 0 in all rows, and its logarithm is what is predicted");
    out(0) = loss.start_of_mean(mean);
  }
  return out;
}

std::vector<signed char> directions(const Boost& spec, const Rows& rows) {
  if (spec.increasing.empty() && spec.decreasing.empty()) return {};
  std::vector<signed char> out(at(rows.width()), 0);
  for (const bool rises : {true, false})
    for (const std::string& name : rises ? spec.increasing : spec.decreasing) {
      const std::string_view parameter = rises ? "increasing" : "decreasing";
      const Index j = column_named(rows, name, parameter);
      if (rows.holds_codes(j))
        throw Error(fmt::format("boost: {} names '{}', whose categories have no order", parameter, name));
      if (out[at(j)] != 0) throw Error(fmt::format("boost: '{}' is named twice in increasing and decreasing", name));
      out[at(j)] = rises ? 1 : -1;
    }
  return out;
}

std::vector<std::vector<char>> interaction_groups(const Boost& spec, const Rows& rows) {
  std::vector<std::vector<char>> out;
  std::vector<char> others(at(rows.width()), 1);
  for (const std::string& text : spec.interactions) {
    auto& group = out.emplace_back(at(rows.width()), 0);
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(':', begin), text.size());
      const Index j = column_named(rows, text.substr(begin, end - begin), "interactions");
      group[at(j)] = 1;
      others[at(j)] = 0;
      begin = end + 1;
    }
  }
  if (!out.empty() && std::find(others.begin(), others.end(), 1) != others.end()) out.push_back(others);
  return out;
}

std::vector<char> drawn_columns(const Boost& spec, Index width, std::uint64_t seed, Index tree) {
  std::vector<char> out(at(width), spec.columns < 1 ? 0 : 1);
  if (spec.columns < 1) {
    RandomStream stream(seed, static_cast<std::uint64_t>(tree));
    const auto count = std::max<Index>(1, static_cast<Index>(std::llround(spec.columns * static_cast<double>(width))));
    for (const Index j : sample_without_replacement(stream, width, count)) out[at(j)] = 1;
  }
  return out;
}

}  // namespace lemma::boost
