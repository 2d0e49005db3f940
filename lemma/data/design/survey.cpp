// lemma/data/design/survey.cpp: the passes over the training rows.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/learn.hpp>

namespace lemma {
namespace {

constexpr Index kGatherBytes = Index{256} << 20;  // columns gathered at a time for medians and modes

void add_counts(Survey::Counts& into, const Survey::Counts& from, Index most = kMaxLevels) {
  for (const auto& [level, count] : from) {
    if (static_cast<Index>(into.size()) > most) return;  // too many in any case
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

/// In how many texts something is, each text counting once.
class TextCounts {
 public:
  void add(std::string_view token, Index text) {
    const auto number = static_cast<std::size_t>(tokens_.number_of(token));
    if (number == seen_.size()) seen_.emplace_back();
    Seen& seen = seen_[number];
    if (seen.last == text) return;
    seen.last = text;
    ++seen.texts;
  }
  Index size() const { return tokens_.size(); }
  Survey::Counts counts() const {
    Survey::Counts out;
    out.reserve(seen_.size());
    for (std::size_t i = 0; i < seen_.size(); ++i) out.emplace(tokens_.token(static_cast<Index>(i)), seen_[i].texts);
    return out;
  }

 private:
  struct Seen {
    Index texts = 0, last = -1;
  };
  TokenTable tokens_;
  std::vector<Seen> seen_;
};

/// How many texts have each token. Where tokens share columns: each column, by its number.
Survey::Counts count_texts(const BoundTable& bound, const Variable& variable, std::span<const Index> kept) {
  const Index shared = variable.wording.columns;
  if (shared > 0 && variable.wording.weight != TokenWeight::tfidf) return {};
  const Column& column = bound.column(variable.column());
  const Tokeniser tokeniser(variable.wording);
  TextTokens cut;
  std::string copy;
  TextCounts texts;
  for (const Index row : kept) {
    if (column.is_missing(row) || texts.size() > kMaxTokens) continue;
    tokeniser(text_of(column, row, copy), cut);
    for (const std::string_view token : cut.tokens)
      if (shared > 0) texts.add(std::to_string(hashed_column(token, shared)), row);
      else texts.add(token, row);
  }
  return texts.counts();
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

/// One more than few are too many: there is no need to know the rest.
void add_few(const double* values, std::span<const Index> kept, std::set<double>& few) {
  for (const Index row : kept) {
    if (static_cast<Index>(few.size()) > kFewValues) return;
    few.insert(values[row]);
  }
}

/// The rows that are kept.
std::vector<Index> survey_block(Survey& found, const BoundTable& bound, Index first, Index count,
                                const Execution& execution) {
  const DesignParts& parts = bound.parts();
  auto complete = completeness(bound, parts.missing, first, count, execution);
  const BoundRows rows(bound, first, count, Gaps::refuse);
  found.rows = count;
  found.kept = static_cast<Index>(complete.kept.size());
  found.incomplete = complete.incomplete;
  for (const auto& [name, missing] : complete.missing) found.missing[name] += missing;
  for (std::size_t v = 0; v < parts.variables.size(); ++v)
    if (parts.variables[v].categorical() && !has_scale(parts.variables[v].value))  // FALSE and TRUE, once it is learned
      found.levels[v] = count_levels(local_codes(parts.variables[v], rows), complete.kept, first);
  for (std::size_t v = 0; v < parts.variables.size(); ++v)
    if (parts.variables[v].pieces()) found.levels[v] = count_pieces(bound, parts.variables[v], complete.kept);
    else if (parts.variables[v].words()) found.levels[v] = count_texts(bound, parts.variables[v], complete.kept);
  std::vector<LocalCodes> response;
  for (std::size_t p = 0; p < parts.response.parts.size(); ++p) {
    response.push_back(local_codes(parts.response.parts[p], rows));
    found.classes[p] = count_levels(response.back(), complete.kept, first);
  }
  if (response.size() > 1 && parts.response.kind == Response::Kind::classes)
    find_combinations(response, complete.kept, first, found);
  for (std::size_t w = 0; w < found.words.size(); ++w)
    found.words[w] = count_levels(local_codes(bound.column(parts.word_columns[w]), first, count), complete.kept, first);
  if (parts.missing == Missing::mean)
    for (std::size_t c = 0; c < parts.numeric_columns.size(); ++c)
      found.means[c].add(present(bound, parts.numeric_columns[c], complete.kept));
  return std::move(complete.kept);
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

/// The first of those that occur most often.
std::size_t most_frequent(const std::vector<std::string>& levels, const Survey::Counts& counts) {
  std::size_t best = 0;
  Index most = 0;
  for (std::size_t k = 0; k < levels.size(); ++k)
    if (const auto count = counts.find(levels[k]); count != counts.end() && count->second > most) {
      most = count->second;
      best = k;
    }
  return best;
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
  for (std::size_t v = 0; v < levels.size(); ++v) add_counts(levels[v], other.levels[v], most[v]);
  for (std::size_t p = 0; p < classes.size(); ++p) add_counts(classes[p], other.classes[p]);
  for (const double value : other.response_values)
    if (static_cast<Index>(response_values.size()) <= kFewValues) response_values.insert(value);
  for (std::size_t w = 0; w < words.size(); ++w) add_counts(words[w], other.words[w]);
  combinations.insert(other.combinations.begin(), other.combinations.end());
  for (std::size_t c = 0; c < means.size(); ++c) means[c].merge(other.means[c]);
}

Survey survey(const DesignParts& parts, const TableSource& source, bool values_of_response,
              const Execution& execution) {
  Survey empty;
  empty.levels.resize(parts.variables.size());
  for (const auto& variable : parts.variables) empty.most.push_back(variable.words() ? kMaxTokens : kMaxLevels);
  empty.classes.resize(parts.response.parts.size());
  if (parts.missing == Missing::mean) empty.means.resize(parts.numeric_columns.size());
  if (imputes(parts.missing)) empty.words.resize(parts.word_columns.size());
  return pass(parts, source, execution, empty, [&](Survey& found, const BoundTable& bound, Index first, Index count) {
    const auto kept = survey_block(found, bound, first, count, execution);
    if (values_of_response) add_few(bound.numbers(parts.response.numbers[0].text, 0), kept, found.response_values);
  });
}

void learn_fills(DesignParts& parts, const Survey& found, const TableSource& source, const Execution& execution) {
  if (!imputes(parts.missing)) return;
  for (std::size_t v = 0; v < parts.variables.size(); ++v) {
    Variable& variable = parts.variables[v];
    if (variable.categorical()) variable.fill = static_cast<int>(most_frequent(variable.levels, found.levels[v]));
  }
  if (parts.missing != Missing::mean) return gather_fills(parts, source, execution);
  for (std::size_t c = 0; c < parts.numeric_columns.size(); ++c)
    set_fill(parts, parts.numeric_columns[c], found.means[c].mean, found.means[c].count > 0);
}

void learn_fill_of_words(DesignParts& parts, const Table& schema, const Survey& found) {
  for (std::size_t w = 0; w < found.words.size(); ++w) {
    const std::string& name = parts.word_columns[w];
    const auto levels = ordered_levels(schema.column(name), found.words[w]);
    require(!levels.empty(), fmt::format("column '{}' has no values: what is most frequent is not known", name));
    parts.word_fills[name] = levels[most_frequent(levels, found.words[w])];
  }
}

}  // namespace lemma
