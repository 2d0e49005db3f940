// lemma/data/design/survey.cpp: the passes over the training rows.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/learn.hpp>

namespace lemma {
namespace {

constexpr Index kGatherBytes = Index{256} << 20;  // columns gathered at a time for medians and modes

Index blocks_of(const TableSource& source) { return (source.rows() + kLearnBlock - 1) / kLearnBlock; }

/// One pass: a state S for each block, merged in a tree fixed by the block's index. work(state, bound, first, count)
template <class S, class Work>
S pass(const DesignParts& parts, const TableSource& source, const Execution& execution, const S& empty, Work&& work) {
  if (source.rows() == 0) return empty;
  const auto leaf = [&](Index i) -> State {
    auto state = std::make_shared<S>(empty);
    const Index first = i * kLearnBlock, count = std::min(kLearnBlock, source.rows() - first);
    source.visit(parts, first, count, [&](const Table& table, Index from, Index rows, Index base) {
      const BoundTable bound(parts, table, Use::training, base);
      work(*state, bound, from, rows);
    });
    return state;
  };
  const auto merge = [](State& into, State from) { static_cast<S*>(into.get())->merge(*static_cast<S*>(from.get())); };
  return std::move(*static_cast<S*>(fold_tree(blocks_of(source), execution, leaf, merge).get()));
}

void add_counts(Survey::Counts& into, const Survey::Counts& from) {
  for (const auto& [level, count] : from) {
    if (static_cast<Index>(into.size()) > kMaxLevels) return;  // too many in any case
    into[level] += count;
  }
}

Survey::Counts count_levels(const LocalCodes& local, std::span<const Index> kept, Index first) {
  std::vector<Index> count(local.levels.size());
  for (const Index row : kept)
    if (const auto code = local.codes[at(row - first)]; code >= 0) ++count[static_cast<std::size_t>(code)];
  Survey::Counts counts;
  for (std::size_t k = 0; k < count.size(); ++k)
    if (count[k] > 0) counts.emplace(local.levels[k], count[k]);
  return counts;
}

Survey::Counts count_pieces(const BoundTable& bound, const Variable& variable, std::span<const Index> kept) {
  Survey::Counts counts;
  const Column& column = bound.column(variable.column());
  for (const Index row : kept)
    if (!column.is_missing(row) && static_cast<Index>(counts.size()) <= kMaxLevels)
      for_each_piece(column.text(row), variable.degree, [&](std::string_view piece) { ++counts[std::string(piece)]; });
  return counts;
}

void find_combinations(const std::vector<LocalCodes>& parts, std::span<const Index> kept, Index first, Survey& found) {
  std::set<std::vector<std::int32_t>> seen;
  std::vector<std::int32_t> codes(parts.size());
  for (const Index row : kept) {
    for (std::size_t p = 0; p < parts.size(); ++p) codes[p] = parts[p].codes[at(row - first)];
    seen.insert(codes);
  }
  for (const auto& each : seen) {
    std::vector<std::string> names;
    for (std::size_t p = 0; p < parts.size(); ++p) names.push_back(parts[p].levels[static_cast<std::size_t>(each[p])]);
    found.combinations.insert(std::move(names));
  }
}

/// What is there of a column in the kept rows.
std::vector<double> present(const BoundTable& bound, const std::string& name, std::span<const Index> kept) {
  const double* values = bound.numbers(name, 0);
  std::vector<double> out;
  for (const Index row : kept)
    if (!std::isnan(values[row])) out.push_back(values[row]);
  return out;
}

void survey_block(Survey& found, const BoundTable& bound, Index first, Index count) {
  const DesignParts& parts = bound.parts();
  const auto complete = completeness(bound, parts.missing, first, count);
  found.rows = count;
  found.kept = static_cast<Index>(complete.kept.size());
  found.incomplete = complete.incomplete;
  for (const auto& [name, missing] : complete.missing) found.missing[name] += missing;
  for (std::size_t v = 0; v < parts.variables.size(); ++v)
    if (parts.variables[v].categorical())
      found.levels[v] =
          count_levels(local_codes(bound.column(parts.variables[v].column()), first, count), complete.kept, first);
  for (std::size_t v = 0; v < parts.variables.size(); ++v)
    if (parts.variables[v].pieces()) found.levels[v] = count_pieces(bound, parts.variables[v], complete.kept);
  std::vector<LocalCodes> response;
  for (std::size_t p = 0; p < parts.response.parts.size(); ++p) {
    response.push_back(local_codes(bound.column(parts.response.parts[p].column()), first, count));
    found.classes[p] = count_levels(response.back(), complete.kept, first);
  }
  if (response.size() > 1) find_combinations(response, complete.kept, first, found);
  if (parts.missing != Missing::mean) return;
  for (std::size_t c = 0; c < parts.numeric_columns.size(); ++c)
    found.means[c].add(present(bound, parts.numeric_columns[c], complete.kept));
}

// -- fill-ins

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// The value that occurs most often; the smallest of equals.
double mode(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  double best = values[0];
  std::size_t most = 0;
  for (std::size_t i = 0; i < values.size();) {
    const auto next = static_cast<std::size_t>(
        std::upper_bound(values.begin() + static_cast<std::ptrdiff_t>(i), values.end(), values[i]) - values.begin());
    if (next - i > most) {
      most = next - i;
      best = values[i];
    }
    i = next;
  }
  return best;
}

void set_fill(DesignParts& parts, const std::string& name, double fill, bool any) {
  require(any, fmt::format("column '{}' has no values: its {} is not known", name, name_of(parts.missing)));
  require(std::isfinite(fill),
          fmt::format("column '{}' has infinite values: its {} is not known", name, name_of(parts.missing)));
  parts.fills[name] = fill;
}

/// The numbers of several expressions, one column each, gathered over all kept rows.
struct Gathered {
  std::vector<std::vector<double>> columns;
  void merge(const Gathered& other) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      columns[c].insert(columns[c].end(), other.columns[c].begin(), other.columns[c].end());
  }
};

/// Medians and modes need whole columns: a few at a time.
void gather_fills(DesignParts& parts, const TableSource& source, const Execution& execution) {
  const std::size_t together = static_cast<std::size_t>(
      std::max<Index>(1, kGatherBytes / (static_cast<Index>(sizeof(double)) * std::max<Index>(1, source.rows()))));
  const auto names = parts.numeric_columns;
  for (std::size_t from = 0; from < names.size(); from += together) {
    const std::size_t count = std::min(together, names.size() - from);
    Gathered empty{std::vector<std::vector<double>>(count)};
    auto gathered =
        pass(parts, source, execution, empty, [&](Gathered& g, const BoundTable& bound, Index first, Index rows) {
          const auto kept = completeness(bound, parts.missing, first, rows).kept;
          for (std::size_t c = 0; c < count; ++c) g.columns[c] = present(bound, names[from + c], kept);
        });
    for (std::size_t c = 0; c < count; ++c) {
      auto& values = gathered.columns[c];
      const bool any = !values.empty();
      set_fill(parts, names[from + c],
               !any                               ? 0
               : parts.missing == Missing::median ? median(values)
                                                  : mode(values),
               any);
    }
  }
}

// -- scale() and poly()

struct Constants {
  std::vector<RunningMoments> moments;       // by variable, of those that scale
  std::vector<std::vector<double>> columns;  // by variable, of orthogonal polynomials
  void merge(const Constants& other) {
    for (std::size_t v = 0; v < moments.size(); ++v) {
      moments[v].merge(other.moments[v]);
      columns[v].insert(columns[v].end(), other.columns[v].begin(), other.columns[v].end());
    }
  }
};

void set_scale(const Draft::Source& source, const RunningMoments& found, Variable& variable) {
  const double n = found.count;
  variable.center = source.center ? found.mean : 0;
  variable.spread = 1;
  if (!source.scale) return;
  require(n > 1, fmt::format("{} needs at least two rows", variable.label));
  const double squares = found.squares + (source.center ? 0 : n * found.mean * found.mean);
  variable.spread = std::sqrt(squares / (n - 1));
  require(std::isfinite(variable.spread) && variable.spread > 0,
          fmt::format("{} cannot be scaled: its spread is {}", variable.label, shortest(variable.spread)));
}

/// The recurrence of the monic polynomials that are orthogonal on these values.
void set_polynomial(const std::vector<double>& v, Variable& variable) {
  auto distinct = v;
  std::sort(distinct.begin(), distinct.end());
  const auto count = std::unique(distinct.begin(), distinct.end()) - distinct.begin();
  require(count > variable.degree, fmt::format("{} needs more than {} different values, but there are {}",
                                               variable.label, variable.degree, count));
  std::vector<double> before(v.size(), 0.0), now(v.size(), 1.0);
  variable.norm2 = {static_cast<double>(v.size())};
  variable.alpha.clear();
  for (int j = 0; j < variable.degree; ++j) {
    const auto k = static_cast<std::size_t>(j);
    RunningMoments center;  // Σ v p² / Σ p², about the mean of v so that no digits are lost
    double shift = 0, moment = 0;
    if (j == 0) center.add(v);
    else shift = variable.alpha[0];
    for (std::size_t i = 0; i < v.size(); ++i) moment += (v[i] - shift) * now[i] * now[i];
    variable.alpha.push_back(j == 0 ? center.mean : shift + moment / variable.norm2[k]);
    double norm2 = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double next =
          (v[i] - variable.alpha[k]) * now[i] - (j == 0 ? 0 : variable.norm2[k] / variable.norm2[k - 1] * before[i]);
      before[i] = now[i];
      now[i] = next;
      norm2 += next * next;
    }
    require(std::isfinite(norm2) && norm2 > 0,
            fmt::format("{} cannot be computed in degree {}: the values are too {}", variable.label, j + 1,
                        norm2 > 0 ? "large" : "close together"));
    variable.norm2.push_back(norm2);
  }
}

}  // namespace

void RunningMoments::add(const std::vector<double>& values) {
  if (values.empty()) return;
  RunningMoments block;
  block.count = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += v;
  block.mean = sum / block.count;
  double rest = 0;
  for (const double v : values) rest += v - block.mean;
  block.mean += rest / block.count;  // the rounding of the first mean, taken back
  for (const double v : values) block.squares += (v - block.mean) * (v - block.mean);
  merge(block);
}

void RunningMoments::merge(const RunningMoments& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  const double total = count + other.count, apart = other.mean - mean;
  squares += other.squares + apart * apart * (count / total) * other.count;
  mean += apart * (other.count / total);
  count = total;
}

void Survey::merge(const Survey& other) {
  rows += other.rows;
  kept += other.kept;
  incomplete += other.incomplete;
  for (const auto& [name, count] : other.missing) missing[name] += count;
  for (std::size_t v = 0; v < levels.size(); ++v) add_counts(levels[v], other.levels[v]);
  for (std::size_t p = 0; p < classes.size(); ++p) add_counts(classes[p], other.classes[p]);
  combinations.insert(other.combinations.begin(), other.combinations.end());
  for (std::size_t c = 0; c < means.size(); ++c) means[c].merge(other.means[c]);
}

Survey survey(const DesignParts& parts, const TableSource& source, const Execution& execution) {
  Survey empty;
  empty.levels.resize(parts.variables.size());
  empty.classes.resize(parts.response.parts.size());
  if (parts.missing == Missing::mean) empty.means.resize(parts.numeric_columns.size());
  return pass(parts, source, execution, empty, survey_block);
}

void learn_fills(DesignParts& parts, const Survey& found, const TableSource& source, const Execution& execution) {
  if (!imputes(parts.missing)) return;
  for (std::size_t v = 0; v < parts.variables.size(); ++v) {
    Variable& variable = parts.variables[v];
    if (!variable.categorical()) continue;
    Index most = 0;
    for (std::size_t k = 0; k < variable.levels.size(); ++k)
      if (const Index count = found.levels[v].at(variable.levels[k]); count > most) {
        most = count;
        variable.fill = static_cast<int>(k);
      }
  }
  if (parts.missing != Missing::mean) return gather_fills(parts, source, execution);
  for (std::size_t c = 0; c < parts.numeric_columns.size(); ++c)
    set_fill(parts, parts.numeric_columns[c], found.means[c].mean, found.means[c].count > 0);
}

void learn_constants(Draft& draft, const TableSource& source, const Execution& execution) {
  DesignParts& parts = draft.parts;
  const auto scales = [](const Variable& v) { return v.kind == Variable::Kind::scaled; };
  const auto gathers = [](const Variable& v) { return v.kind == Variable::Kind::polynomial && !v.raw; };
  if (std::none_of(parts.variables.begin(), parts.variables.end(),
                   [&](const auto& v) { return scales(v) || gathers(v); }))
    return;
  Constants empty;
  empty.moments.resize(parts.variables.size());
  empty.columns.resize(parts.variables.size());
  const auto found =
      pass(parts, source, execution, empty, [&](Constants& c, const BoundTable& bound, Index first, Index rows) {
        const auto kept = completeness(bound, parts.missing, first, rows).kept;
        Rowset block(bound, first, rows, gaps_of(parts.missing));
        for (std::size_t v = 0; v < parts.variables.size(); ++v) {
          if (!scales(parts.variables[v]) && !gathers(parts.variables[v])) continue;
          const auto all = block.numbers(parts.variables[v].value, kept);
          std::vector<double> used;
          for (const Index row : kept)
            if (const double value = all[at(row - first)]; !std::isnan(value)) used.push_back(value);
          if (scales(parts.variables[v])) c.moments[v].add(used);
          else c.columns[v] = std::move(used);
        }
      });
  for (std::size_t v = 0; v < parts.variables.size(); ++v) {
    if (scales(parts.variables[v])) set_scale(draft.sources[v], found.moments[v], parts.variables[v]);
    if (gathers(parts.variables[v])) set_polynomial(found.columns[v], parts.variables[v]);
  }
}

}  // namespace lemma
