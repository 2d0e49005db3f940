// lemma/validate/plan.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/split.hpp>
#include <lemma/validate/plan.hpp>
#include <map>
#include <numeric>
#include <set>

namespace lemma {
namespace {

constexpr std::uint64_t kSampleStream = 0x626f6f74;  // of bootstrap samples

std::uint64_t seed_of(std::uint64_t seed, int repeat) {
  return repeat == 0 ? seed : RandomStream(seed).split(static_cast<std::uint64_t>(repeat)).bits();
}

int count_of_parts(const std::vector<int>& part) {
  return part.empty() ? 0 : *std::max_element(part.begin(), part.end()) + 1;
}

/// Groups drawn at random until they hold the share: 1 for their rows, else 0.
std::vector<int> grouped_holdout(const std::vector<int>& groups, double share, std::uint64_t seed) {
  const int count = count_of_parts(groups);
  if (count < 2) throw Error("a holdout of groups needs at least two of them, and there is one");
  std::vector<Index> sizes(static_cast<std::size_t>(count));
  for (const int g : groups) ++sizes[static_cast<std::size_t>(g)];
  RandomStream stream(seed);
  std::vector<bool> tested(static_cast<std::size_t>(count));
  const double wanted = share * static_cast<double>(groups.size());
  Index held = 0;
  int taken = 0;
  for (const Index g : permutation(stream, count)) {
    const Index size = sizes[static_cast<std::size_t>(g)];
    if (taken > 0 && (taken == count - 1 || static_cast<double>(held) + 0.5 * static_cast<double>(size) > wanted))
      break;
    tested[static_cast<std::size_t>(g)] = true;
    held += size;
    ++taken;
  }
  std::vector<int> out;
  for (const int g : groups) out.push_back(tested[static_cast<std::size_t>(g)] ? 1 : 0);
  return out;
}

std::vector<int> holdout(const PlanRows& rows, double share, std::uint64_t seed) {
  if (!rows.groups.empty()) return grouped_holdout(rows.groups, share, seed);
  std::vector<int> out(static_cast<std::size_t>(rows.count));
  for (const Index i : split(rows.count, {share, {}}, rows.strata, seed).test) out[static_cast<std::size_t>(i)] = 1;
  return out;
}

std::string times(int n, std::string_view verb) { return n == 1 ? "" : fmt::format(", {} {} times", verb, n); }

}  // namespace

void Plan::check() const {
  if (!group.empty() && stratify && *stratify)
    throw Error("plan: groups stay together and strata are divided: choose --group or --stratify");
  if ((kind == PlanKind::given) != !fold.empty())
    throw Error("plan: folds that are given are --plan given with --fold COLUMN");
  if (kind == PlanKind::time && time.empty()) throw Error("plan: blocks of time need --time COLUMN");
  if (kind == PlanKind::time && !group.empty()) throw Error("plan: blocks of time do not keep groups together");
}

std::string Plan::text() const {
  std::string out;
  switch (kind) {
    case PlanKind::folds: out = fmt::format("{}-fold cross-validation{}", folds, times(repeats, "repeated")); break;
    case PlanKind::holdout:
      out = fmt::format("{} % of the rows held out{}", format_significant(100 * test, 3), times(repeats, "drawn"));
      break;
    case PlanKind::loo: return group.empty() ? "leave one out" : fmt::format("leave one {} out", group);
    case PlanKind::time:
      return fmt::format("{} blocks in the order of {}, each predicted from those before it", folds, time);
    case PlanKind::given: return fmt::format("folds given by {}", fold);
    case PlanKind::bootstrap: out = fmt::format("{} bootstrap samples", samples); break;
    case PlanKind::balanced: out = fmt::format("{} balanced bootstrap samples", samples); break;
    case PlanKind::e632: out = fmt::format(".632 bootstrap, {} samples", samples); break;
    case PlanKind::e632_plus: out = fmt::format(".632+ bootstrap, {} samples", samples); break;
  }
  if (!group.empty()) out += fmt::format(", rows of one {} together", group);
  else if (stratify && *stratify && !draws_with_replacement()) out += ", stratified by the response";
  return out;
}

std::vector<int> groups_of(const Column& column) {
  std::map<std::string, int> code;
  std::vector<int> out;
  for (Index i = 0; i < column.rows(); ++i) {
    if (column.is_missing(i))
      throw Error(
          fmt::format("column '{}' is missing in row {}: a row without a group belongs nowhere", column.name, i + 1));
    out.push_back(code.try_emplace(column.text(i), static_cast<int>(code.size())).first->second);
  }
  return out;
}

std::vector<double> times_of(const Column& column) {
  if (column.type() != ColumnType::numeric)
    throw Error(fmt::format("column '{}' is {}, and time is numbers or dates; --type {}=date reads dates", column.name,
                            name_of(column.type()), column.name));
  const auto& values = column.numbers().values;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isnan(values[i])) throw Error(fmt::format("the time '{}' is missing in row {}", column.name, i + 1));
  return values;
}

Resampling::Resampling(const Plan& plan, PlanRows rows, std::uint64_t seed)
    : plan_(*Valid<Plan>(plan)), rows_(std::move(rows)), seed_(seed) {
  if (rows_.count < 2) throw Error(fmt::format("{} cannot be set apart", lemma::count_of(rows_.count, "row")));
  switch (plan_.kind) {
    case PlanKind::folds: assign_folds(); break;
    case PlanKind::holdout: assign_holdouts(); break;
    case PlanKind::loo:
      if (!rows_.groups.empty()) parts_ = {rows_.groups};
      size_ = rows_.groups.empty() ? rows_.count : count_of_parts(rows_.groups);
      if (size_ < 2) throw Error("one group alone cannot be left out");
      break;
    case PlanKind::time: cut_time(); break;
    case PlanKind::given:
      parts_ = {rows_.folds};
      size_ = count_of_parts(rows_.folds);
      if (size_ < 2) throw Error(fmt::format("'{}' gives one fold alone", plan_.fold));
      break;
    default:
      if (!rows_.groups.empty()) {
        group_rows_.resize(static_cast<std::size_t>(count_of_parts(rows_.groups)));
        for (Index i = 0; i < rows_.count; ++i)
          group_rows_[static_cast<std::size_t>(rows_.groups[static_cast<std::size_t>(i)])].push_back(i);
        if (group_rows_.size() < 2) throw Error("one group alone cannot be drawn from");
      }
      if (plan_.kind == PlanKind::balanced) draw_balanced();
      size_ = plan_.samples;
  }
}

void Resampling::assign_folds() {
  for (int r = 0; r < plan_.repeats; ++r) {
    const auto seed = seed_of(seed_, r);
    parts_.push_back(rows_.groups.empty() ? lemma::folds(rows_.count, plan_.folds, rows_.strata, seed)
                                          : grouped_folds(rows_.groups, plan_.folds, seed));
  }
  size_ = Index{plan_.folds} * plan_.repeats;
}

void Resampling::assign_holdouts() {
  for (int r = 0; r < plan_.repeats; ++r) parts_.push_back(holdout(rows_, plan_.test, seed_of(seed_, r)));
  size_ = plan_.repeats;
}

/// Blocks of about equal size; equal times are never cut apart.
void Resampling::cut_time() {
  std::vector<std::size_t> order(rows_.time.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rows_.time[a] < rows_.time[b]; });
  std::vector<int> block(order.size());
  const auto blocks = static_cast<std::size_t>(plan_.folds) + 1;
  std::set<double> distinct(rows_.time.begin(), rows_.time.end());
  if (distinct.size() < blocks)
    throw Error(fmt::format("{} blocks of time need as many different times, and '{}' has {}; use fewer --folds",
                            blocks, plan_.time, distinct.size()));
  int current = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool new_time = i == 0 || rows_.time[order[i]] != rows_.time[order[i - 1]];
    const auto due = static_cast<int>(i * blocks / order.size());
    if (new_time && due > current) ++current;
    block[order[i]] = current;
  }
  size_ = count_of_parts(block) - 1;
  if (size_ < 1)
    throw Error(fmt::format("most rows have one '{}': there is nothing before them to learn from", plan_.time));
  parts_ = {std::move(block)};
}

void Resampling::draw_balanced() {
  const auto units =
      static_cast<Index>(group_rows_.empty() ? static_cast<std::size_t>(rows_.count) : group_rows_.size());
  balanced_.reserve(static_cast<std::size_t>(units * plan_.samples));
  for (int b = 0; b < plan_.samples; ++b)
    for (Index i = 0; i < units; ++i) balanced_.push_back(i);
  RandomStream stream(seed_, kSampleStream);
  stream.shuffle(std::span(balanced_));
}

Resample Resampling::by_part(const std::vector<int>& part, int tested) const {
  Resample out;
  for (Index i = 0; i < rows_.count; ++i)
    (part[static_cast<std::size_t>(i)] == tested ? out.test : out.train).push_back(i);
  return out;
}

Resample Resampling::drawn(const std::vector<Index>& units) const {
  std::vector<int> times(group_rows_.empty() ? static_cast<std::size_t>(rows_.count) : group_rows_.size());
  for (const Index unit : units) ++times[static_cast<std::size_t>(unit)];
  Resample out;
  for (Index i = 0; i < rows_.count; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const int copies = times[group_rows_.empty() ? row : static_cast<std::size_t>(rows_.groups[row])];
    out.train.insert(out.train.end(), static_cast<std::size_t>(copies), i);
    if (copies == 0) out.test.push_back(i);
  }
  return out;
}

Resample Resampling::at(Index i) const {
  require(i >= 0 && i < size_, "there is no such resample");
  Resample out;
  const auto sample = static_cast<int>(i);
  switch (plan_.kind) {
    case PlanKind::folds:
      out = by_part(parts_[static_cast<std::size_t>(i / plan_.folds)], sample % plan_.folds);
      out.repeat = sample / plan_.folds;
      out.fold = sample % plan_.folds;
      return out;
    case PlanKind::holdout:
      out = by_part(parts_[static_cast<std::size_t>(i)], 1);
      out.repeat = sample;
      return out;
    case PlanKind::given: out = by_part(parts_[0], sample); break;
    case PlanKind::loo:
      if (!parts_.empty()) {
        out = by_part(parts_[0], sample);
      } else {
        for (Index row = 0; row < rows_.count; ++row) (row == i ? out.test : out.train).push_back(row);
      }
      break;
    case PlanKind::time:
      for (Index row = 0; row < rows_.count; ++row) {
        const int block = parts_[0][static_cast<std::size_t>(row)];
        if (block <= sample) out.train.push_back(row);
        else if (block == sample + 1) out.test.push_back(row);
      }
      break;
    default: {
      const auto units = group_rows_.empty() ? static_cast<std::size_t>(rows_.count) : group_rows_.size();
      std::vector<Index> chosen(units);
      if (plan_.kind == PlanKind::balanced) {
        std::copy_n(balanced_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * units), units,
                    chosen.begin());
      } else {
        RandomStream stream = RandomStream(seed_, kSampleStream).split(static_cast<std::uint64_t>(i));
        for (Index& each : chosen) each = stream.below(static_cast<Index>(units));
      }
      out = drawn(chosen);
    }
  }
  out.fold = sample;
  return out;
}

ThreeParts three_parts(const PlanRows& rows, double validation, double test, std::uint64_t seed) {
  if (!(validation > 0 && test > 0 && validation + test < 1))
    throw Error(fmt::format("validation and test rows are shares {} and {}: each above 0, both together below 1",
                            validation, test));
  const auto tested = holdout(rows, test, seed);
  std::vector<Index> rest;
  PlanRows left;
  ThreeParts out;
  for (Index i = 0; i < rows.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (tested[at] == 1) {
      out.test.push_back(i);
      continue;
    }
    rest.push_back(i);
    if (!rows.strata.empty()) left.strata.push_back(rows.strata[at]);
    if (!rows.groups.empty()) left.groups.push_back(rows.groups[at]);
  }
  left.count = static_cast<Index>(rest.size());
  std::map<int, int> number;  // groups that are left are counted anew
  for (int& g : left.groups) g = number.try_emplace(g, static_cast<int>(number.size())).first->second;
  const auto validated = holdout(left, validation / (1 - test), seed_of(seed, 1));
  for (std::size_t i = 0; i < rest.size(); ++i) (validated[i] == 1 ? out.validation : out.train).push_back(rest[i]);
  return out;
}

}  // namespace lemma
