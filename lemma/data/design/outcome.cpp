// lemma/data/design/outcome.cpp: the response, the weights and the offset of a bound table.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/data/design/parts.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The expression in the kept rows; it must be finite in them, except for a response at prediction.
std::vector<double> kept_numbers(const BoundTable& bound, const Expression& value, std::span<const Index> kept,
                                 Gaps gaps, bool must_be_finite) {
  Rowset rows(bound, 0, bound.table().rows(), gaps);
  const auto all = rows.numbers(value, must_be_finite ? kept : std::span<const Index>());
  std::vector<double> out;
  out.reserve(kept.size());
  for (const Index row : kept) out.push_back(all[at(row)]);
  return out;
}

void fill_numeric(const BoundTable& bound, std::span<const Index> kept, DesignData& data) {
  const Expression& value = bound.parts().response.numbers[0];
  const bool must_be_there = bound.use() != Use::prediction;
  data.y = kept_numbers(bound, value, kept, Gaps::refuse, must_be_there);
  if (must_be_there) return;
  for (double& y : data.y)
    if (!std::isfinite(y)) y = kNaN;
}

/// y = s / (s + f), which counts s + f times.
void fill_counts(const BoundTable& bound, std::span<const Index> kept, DesignData& data) {
  const auto& response = bound.parts().response;
  const bool must_be_there = bound.use() != Use::prediction;
  const auto successes = kept_numbers(bound, response.numbers[0], kept, Gaps::refuse, must_be_there);
  const auto failures = kept_numbers(bound, response.numbers[1], kept, Gaps::refuse, must_be_there);
  std::vector<double> trials(kept.size());
  data.y.resize(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double s = successes[i], f = failures[i];
    const bool usable = s >= 0 && f >= 0 && std::isfinite(s + f);
    if (must_be_there)
      require(usable, fmt::format("{}: counts must be at least 0, but row {} has {} and {}", response.target,
                                  bound.row_number(kept[i]), shortest(s), shortest(f)));
    trials[i] = usable ? s + f : 0;
    data.y[i] = usable ? (s + f > 0 ? s / (s + f) : 0) : kNaN;
  }
  if (data.weight.empty()) data.weight = std::move(trials);
  else std::transform(trials.begin(), trials.end(), data.weight.begin(), data.weight.begin(), std::multiplies<>());
}

void note_unseen(const std::vector<std::string>& unseen, Index count, DesignData& data) {
  if (count == 0) return;
  data.notes.push_back(fmt::format("{} row{} with a class that was not seen in training ({}{})", count,
                                   count == 1 ? "" : "s", fmt::join(unseen, ", "), unseen.size() == 5 ? ", …" : ""));
}

void fill_labels(const BoundTable& bound, std::span<const Index> kept, DesignData& data) {
  const Response& response = bound.parts().response;
  const Index rows = bound.table().rows();
  std::vector<std::vector<std::int32_t>> codes(response.parts.size(), std::vector<std::int32_t>(at(rows)));
  const BoundRows all(bound, 0, rows, Gaps::refuse);
  for (std::size_t p = 0; p < codes.size(); ++p) bound.codes(response.parts[p], all, codes[p].data());
  std::vector<int> combination(codes.size());
  std::vector<std::string> unseen;
  Index unseen_rows = 0;
  data.label.reserve(kept.size());
  for (const Index row : kept) {
    for (std::size_t p = 0; p < codes.size(); ++p) combination[p] = codes[p][at(row)];
    int label = -1;
    if (codes.size() == 1) label = std::max(combination[0], -1);
    else if (const auto found = response.code.find(combination); found != response.code.end()) label = found->second;
    data.label.push_back(label);
    const bool missing = std::find(combination.begin(), combination.end(), -1) != combination.end();
    if (label >= 0 || missing) continue;
    std::string name;
    for (const auto& part : response.parts) name += (name.empty() ? "" : ":") + bound.level(part, row);
    require(bound.use() != Use::training,
            fmt::format("class '{}' in row {} was not seen when the design was learned", name, bound.row_number(row)));
    ++unseen_rows;
    if (unseen.size() < 5 && std::find(unseen.begin(), unseen.end(), name) == unseen.end()) unseen.push_back(name);
  }
  note_unseen(unseen, unseen_rows, data);
}

/// A column for each: numbers, or codes of classes.
void fill_several(const BoundTable& bound, std::span<const Index> kept, DesignData& data) {
  const Response& response = bound.parts().response;
  const bool must_be_there = bound.use() != Use::prediction;
  const std::size_t several = response.of_classes.size();
  const BoundRows all(bound, 0, bound.table().rows(), Gaps::refuse);
  std::vector<std::int32_t> codes(at(bound.table().rows()));
  std::size_t number = 0, part = 0;
  data.responses.assign(kept.size() * several, kNaN);
  for (std::size_t k = 0; k < several; ++k) {
    if (response.of_classes[k]) {
      bound.codes(response.parts[part++], all, codes.data());
      for (std::size_t i = 0; i < kept.size(); ++i)
        if (const auto code = codes[at(kept[i])]; code >= 0) data.responses[i * several + k] = code;
    } else {
      const auto values = kept_numbers(bound, response.numbers[number++], kept, Gaps::refuse, must_be_there);
      for (std::size_t i = 0; i < kept.size(); ++i)
        if (std::isfinite(values[i])) data.responses[i * several + k] = values[i];
    }
  }
}

/// Weights must be finite and at least 0. After training a table without them is as good.
std::vector<double> weights(const BoundTable& bound, const std::string& name, std::span<const Index> kept) {
  const bool training = bound.use() == Use::training;
  const Column* column = name.empty() ? nullptr : bound.find(name);
  if (name.empty() || (!training && (!column || column->type() != ColumnType::numeric))) return {};
  const Column& found = bound.column(name);
  require(found.type() == ColumnType::numeric,
          fmt::format("column '{}' cannot weigh the rows: it is {}, not numeric", name, name_of(found.type())));
  std::vector<double> out;
  for (const Index row : kept) {
    const double w = found.numbers().values[at(row)];
    require(std::isfinite(w) && w >= 0,
            fmt::format("a weight must be a finite number of at least 0, but '{}' is {} in row {}", name, shortest(w),
                        bound.row_number(row)));
    out.push_back(w);
  }
  return out;
}

/// A cluster is known by the 64-bit hash of its value: nothing about clusters has to be learned before, or kept.
std::vector<std::uint64_t> clusters(const BoundTable& bound, std::span<const Index> kept) {
  const std::string& name = bound.parts().cluster;
  if (name.empty() || bound.use() != Use::training) return {};
  const Column& column = bound.column(name);
  std::vector<std::uint64_t> out;
  out.reserve(kept.size());
  if (column.type() == ColumnType::categorical) {
    std::vector<std::uint64_t> of_level;
    for (const auto& level : column.categories().levels) of_level.push_back(hash_text(level));
    for (const Index row : kept) out.push_back(of_level[at(column.categories().codes[at(row)])]);
  } else if (column.type() == ColumnType::numeric) {
    for (const Index row : kept) out.push_back(hash_numbers(std::span(&column.numbers().values[at(row)], 1)));
  } else {
    for (const Index row : kept) out.push_back(hash_text(column.texts().values[at(row)]));
  }
  return out;
}

}  // namespace

void fill_outcome(const BoundTable& bound, std::span<const Index> kept, Gaps gaps, DesignData& data) {
  const DesignParts& parts = bound.parts();
  data.weight = weights(bound, parts.weights, kept);
  data.precision = weights(bound, parts.precision, kept);
  data.cluster = clusters(bound, kept);
  for (const auto& offset : parts.offsets) {
    const auto each = kept_numbers(bound, offset, kept, gaps, true);
    if (data.offset.empty()) data.offset.assign(kept.size(), 0.0);
    std::transform(each.begin(), each.end(), data.offset.begin(), data.offset.begin(), std::plus<>());
  }
  data.has_response = bound.has_response();
  if (!data.has_response) return;
  switch (parts.response.kind) {
    case Response::Kind::numeric: return fill_numeric(bound, kept, data);
    case Response::Kind::counts: return fill_counts(bound, kept, data);
    case Response::Kind::classes: return fill_labels(bound, kept, data);
    case Response::Kind::several: return fill_several(bound, kept, data);
    case Response::Kind::none: return;
  }
}

}  // namespace lemma
