// lemma/data/design.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/parts.hpp>

namespace lemma {
namespace {

constexpr Index kMaxFeatures = 1'000'000;
constexpr std::size_t kMostBytesOfNames = std::size_t{1} << 28;

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

Missing DesignParts::policy(std::optional<Missing> asked) const {
  const Missing policy = asked.value_or(missing);
  if (imputes(policy) && policy != missing)
    throw Error(
        fmt::format("--missing {0} needs the {0} of the training rows, but this design was trained with --missing {1};"
                    " use {1}, drop or keep",
                    name_of(policy), name_of(missing)));
  return policy;
}

void check_missing(const Completeness& found, Missing policy, Index rows, Use use) {
  if (policy != Missing::error || found.incomplete == 0) return;
  throw Error(describe_missing(found, rows) + (use == Use::training  ? "; use --missing drop, mean, median or mode"
                                               : use == Use::judging ? "; use --missing drop"
                                                                     : "; use --missing drop or keep"));
}

std::string missing_note(const Completeness& found, Missing policy, Index rows, Index kept, Use use) {
  if (found.incomplete == 0) return "";
  const std::string what = describe_missing(found, rows);
  const Index dropped = rows - kept;
  const std::string so_many = fmt::format("{} row{}", dropped, dropped == 1 ? "" : "s");
  if (imputes(policy))
    return fmt::format("{}; filled in with the {}{}", what, name_of(policy),
                       dropped > 0 ? fmt::format(", but {} without a response left out", so_many) : "");
  if (dropped == 0) return "";  // they are the method's business
  return fmt::format("{}; {} left {}", what, so_many,
                     policy == Missing::keep && use == Use::prediction ? "empty" : "out");
}

std::string_view name_of(Coding coding) {
  switch (coding) {
    case Coding::treatment: return "treatment";
    case Coding::sum: return "sum";
    case Coding::one_hot: return "one_hot";
    case Coding::codes: return "codes";
  }
  return "";
}

std::string_view name_of(Missing missing) {
  switch (missing) {
    case Missing::error: return "error";
    case Missing::drop: return "drop";
    case Missing::mean: return "mean";
    case Missing::median: return "median";
    case Missing::mode: return "mode";
    case Missing::keep: return "keep";
    case Missing::native: return "native";
  }
  return "";
}

Gaps gaps_of(Missing policy) {
  if (policy == Missing::native) return Gaps::leave;
  return imputes(policy) ? Gaps::fill : Gaps::refuse;
}

bool has_scale(const Expression& value) {
  return (value.kind == Expression::Kind::call && value.text == "scale") ||
         std::any_of(value.arguments.begin(), value.arguments.end(), has_scale);
}

bool is_soft(const Expression& value) { return has_condition(value) && !has_scale(value); }

bool imputes(Missing policy) { return policy == Missing::mean || policy == Missing::median || policy == Missing::mode; }

Index width_of(const Variable& variable, Contrast contrast) {
  if (contrast == Contrast::codes) return 1;
  if (variable.categorical()) return static_cast<Index>(variable.levels.size()) - (contrast == Contrast::full ? 0 : 1);
  if (variable.words() && variable.wording.columns > 0) return variable.wording.columns;
  if (variable.counted()) return static_cast<Index>(variable.levels.size());
  if (variable.pixels()) return columns_of(variable.picturing);
  if (variable.kind == Variable::Kind::spline) return variable.spline.width();
  return variable.kind == Variable::Kind::polynomial ? variable.degree : 1;
}

std::string name_of(const Variable& variable, Contrast contrast, Index column) {
  if (variable.kind == Variable::Kind::polynomial || variable.kind == Variable::Kind::spline)
    return variable.label + std::to_string(column + 1);
  if (variable.words() && variable.wording.columns > 0) return fmt::format("{}[#{}]", variable.column(), column + 1);
  if (variable.counted())
    return fmt::format("{}[{}]", variable.column(), variable.levels[static_cast<std::size_t>(column)]);
  if (variable.pixels()) return fmt::format("{}[{}]", variable.column(), place_of(variable.picturing, column));
  if (!variable.categorical() || contrast == Contrast::codes) return variable.label;
  if (contrast == Contrast::sum) return variable.label + std::to_string(column + 1);
  return variable.label + variable.levels[static_cast<std::size_t>(column + (contrast == Contrast::treatment ? 1 : 0))];
}

void finish(Response& response) {
  response.classes.clear();
  response.columns.clear();
  response.code.clear();
  std::size_t bytes = 0;
  for (const auto& combination : response.combinations) {
    std::string name;
    for (std::size_t p = 0; p < combination.size(); ++p)
      name += (p == 0 ? "" : ":") + response.parts[p].levels[static_cast<std::size_t>(combination[p])];
    bytes += name.size();
    require(bytes <= kMostBytesOfNames, "the names of the classes are too long");
    response.code.emplace(combination, static_cast<int>(response.classes.size()));
    response.classes.push_back(std::move(name));
  }
  response.required.clear();
  response.several.clear();
  auto next_number = response.numbers.begin();
  auto next_part = response.parts.begin();
  for (const bool of_classes : response.of_classes)
    if (of_classes) {
      response.several.push_back({next_part->label, next_part->levels});
      ++next_part;
    } else {
      const Expression& e = *next_number++;
      response.several.push_back({e.kind == Expression::Kind::name ? e.text : to_text(e), {}});
    }
  const auto add = [&](const Expression& value) {
    for (const auto& name : columns_of(value)) {
      add_once(response.columns, name);
      if (!is_soft(value)) add_once(response.required, name);
    }
  };
  for (const auto& number : response.numbers) add(number);
  for (const auto& part : response.parts) add(part.value);
}

void DesignParts::finish(std::optional<Index> width) {
  lemma::finish(response);
  Index next = 0;
  for (auto& term : terms) {
    term.first = next;
    term.width = 1;
    for (const auto& factor : term.factors) {
      term.width *= width_of(variables[static_cast<std::size_t>(factor.variable)], factor.contrast);
      require(term.width <= kMaxFeatures, fmt::format("the formula makes more than {} columns", kMaxFeatures));
    }
    next += term.width;
    require(next <= kMaxFeatures, fmt::format("the formula makes more than {} columns", kMaxFeatures));
  }
  if (width && next != *width)
    throw Error(fmt::format("the design makes {} columns and the model takes {}", next, *width));
  for (auto& variable : variables)
    if (variable.words()) variable.counter = std::make_shared<const WordCounter>(variable);
  name_features();
  list_columns();
}

void DesignParts::name_features() {
  features.clear();
  std::size_t bytes = 0;
  for (const auto& term : terms)
    for (Index column = 0; column < term.width; ++column) {
      std::string name;
      Index rest = column;
      for (std::size_t f = 0; f < term.factors.size(); ++f) {
        const auto& variable = variables[static_cast<std::size_t>(term.factors[f].variable)];
        const Index width = width_of(variable, term.factors[f].contrast);
        name += (f == 0 ? "" : ":") + name_of(variable, term.factors[f].contrast, rest % width);
        rest /= width;
      }
      bytes += name.size();
      require(bytes <= kMostBytesOfNames, "the names of the columns that the formula makes are too long");
      features.push_back(std::move(name));
    }
}

void DesignParts::list_columns() {
  numeric_columns.clear();
  columns.clear();
  required.clear();
  const std::unordered_set<std::string> words(word_columns.begin(), word_columns.end());
  std::unordered_set<std::string> numeric, all, needed;
  const auto add = [&](const Expression& value, bool numbers) {
    const bool soft = is_soft(value);
    for (const auto& name : columns_of(value)) {
      if (all.insert(name).second) columns.push_back(name);
      if (!soft && needed.insert(name).second) required.push_back(name);
      if (numbers && !words.contains(name) && numeric.insert(name).second) numeric_columns.push_back(name);
    }
  };
  for (const auto& variable : variables) add(variable.value, variable.numeric() || !variable.takes_levels_of_column());
  for (const auto& offset : offsets) add(offset, true);
}

bool DesignParts::needs_numbers(const std::string& response_column) const {
  if (std::find(word_columns.begin(), word_columns.end(), response_column) != word_columns.end()) return false;
  return std::none_of(response.parts.begin(), response.parts.end(), [&](const Variable& part) {
    return part.takes_levels_of_column() && part.column() == response_column;
  });
}

bool DesignParts::counts_words() const {
  return std::any_of(variables.begin(), variables.end(), [](const Variable& each) { return each.words(); });
}

bool DesignParts::reads_images() const {
  return std::any_of(variables.begin(), variables.end(), [](const Variable& each) { return each.pixels(); });
}

std::vector<std::string> DesignParts::looked_at() const {
  std::vector<std::string> names = columns;
  names.insert(names.end(), response.columns.begin(), response.columns.end());
  for (const auto& name : {weights, precision, cluster})
    if (!name.empty()) names.push_back(name);
  names.insert(names.end(), complete.begin(), complete.end());
  return names;
}

DesignData make_data(const DesignParts& parts, const Table& table, Use use, Missing policy, Index base,
                     const Execution& execution) {
  const BoundTable bound(parts, table, use, base);
  auto found = completeness(bound, policy, 0, table.rows(), execution);
  check_missing(found, policy, table.rows(), use);
  DesignData data;
  if (auto note = missing_note(found, policy, table.rows(), static_cast<Index>(found.kept.size()), use); !note.empty())
    data.notes.push_back(std::move(note));
  data.kept = std::move(found.kept);
  fill_x(bound, data.kept, gaps_of(policy), execution, data.x);
  fill_outcome(bound, data.kept, gaps_of(policy), data);
  return data;
}

Design::Design() : parts_(std::make_shared<const DesignParts>()) {}
Design::Design(const Formula& formula, const Table& table, const DesignOptions& options)
    : parts_(std::make_shared<const DesignParts>(learn_design(formula, TableSource(table), options))) {}
Design::Design(const Formula& formula, const TableStream& stream, const DesignOptions& options)
    : parts_(std::make_shared<const DesignParts>(learn_design(formula, TableSource(stream), options))) {}

const std::vector<std::string>& Design::features() const { return parts_->features; }
std::vector<std::vector<std::string>> Design::levels() const {
  std::vector<std::vector<std::string>> out;
  if (parts_->coding != Coding::codes) return out;
  out.resize(parts_->features.size());
  for (const auto& term : parts_->terms)
    if (term.factors[0].contrast == Contrast::codes)
      out[static_cast<std::size_t>(term.first)] =
          parts_->variables[static_cast<std::size_t>(term.factors[0].variable)].levels;
  return out;
}
const std::vector<std::string>& Design::classes() const { return parts_->response.classes; }
std::vector<ResponseColumn> Design::responses() const { return parts_->response.several; }
const std::string& Design::target() const { return parts_->response.target; }
std::vector<DesignTermColumns> Design::terms() const {
  std::vector<DesignTermColumns> out;
  for (const auto& term : parts_->terms) {
    DesignTermColumns one{{}, {}, term.first, term.width};
    for (const auto& factor : term.factors) {
      one.variables.push_back(parts_->variables[static_cast<std::size_t>(factor.variable)].label);
      one.name += (one.name.empty() ? "" : ":") + one.variables.back();
    }
    out.push_back(std::move(one));
  }
  return out;
}
bool Design::has_response() const { return parts_->response.kind != Response::Kind::none; }
bool Design::counts() const { return parts_->response.kind == Response::Kind::counts; }
bool Design::has_offset() const { return !parts_->offsets.empty(); }
bool Design::intercept() const { return parts_->intercept; }
const std::string& Design::formula_text() const { return parts_->text; }
std::vector<std::string> Design::columns() const { return parts_->columns; }
std::vector<std::string> Design::response_columns() const { return parts_->response.columns; }
std::vector<std::string> Design::looked_at() const { return parts_->looked_at(); }
Coding Design::coding() const { return parts_->coding; }
const std::string& Design::weights() const { return parts_->weights; }
const std::string& Design::precision() const { return parts_->precision; }
const std::string& Design::cluster() const { return parts_->cluster; }
Missing Design::missing() const { return parts_->missing; }
Unseen Design::unseen() const { return parts_->unseen; }
const std::vector<std::string>& Design::notes() const { return parts_->notes; }

DesignData Design::train(const Table& table, const Execution& execution) const {
  auto data = make_data(*parts_, table, Use::training, parts_->missing, 0, execution);
  data.notes.insert(data.notes.begin(), parts_->notes.begin(), parts_->notes.end());
  return data;
}

DesignData Design::apply(const Table& table, std::optional<Missing> policy, const Execution& execution,
                         Index base) const {
  return make_data(*parts_, table, Use::prediction, parts_->policy(policy), base, execution);
}

Csr Design::sparse(const Table& table, std::optional<Missing> asked) const {
  const Missing policy = parts_->policy(asked);
  const BoundTable bound(*parts_, table, Use::prediction);
  const auto found = completeness(bound, policy, 0, table.rows());
  check_missing(found, policy, table.rows(), Use::prediction);
  return sparse_x(bound, found.kept, gaps_of(policy));
}

Value Design::save() const { return save_design(*parts_); }
Design Design::load(const Value& value, std::optional<Index> width) {
  return Design(std::make_shared<const DesignParts>(load_design(value, width)));
}

}  // namespace lemma
