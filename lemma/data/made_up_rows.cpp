// lemma/data/made_up_rows.cpp
#include <algorithm>
#include <charconv>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/design/parts.hpp>
#include <lemma/data/made_up_rows.hpp>
#include <map>

namespace lemma {
namespace {

/// Where the numbers of a column are drawn from.
struct Place {
  double centre, width;
};
struct Source {
  bool numeric = false;
  std::vector<Place> places;
  std::vector<std::string> levels;
};
using Sources = std::map<std::string, Source>;

void add_level(Source& source, const std::string& level) {
  if (std::find(source.levels.begin(), source.levels.end(), level) == source.levels.end())
    source.levels.push_back(level);
}

void add_numbers(const Expression& e, std::vector<Place>& places) {
  if (e.kind == Expression::Kind::number) places.push_back({e.number, std::max(1.0, std::abs(e.number))});
  for (const auto& argument : e.arguments) add_numbers(argument, places);
}

void learn_variable(const Variable& variable, Sources& sources) {
  if (variable.categorical()) {
    for (const auto& level : variable.levels) add_level(sources[variable.column()], level);
    return;
  }
  std::vector<Place> places;
  if (variable.value.kind == Expression::Kind::name) {
    if (variable.kind == Variable::Kind::scaled) places.push_back({variable.center, variable.spread});
    if (variable.kind == Variable::Kind::polynomial && !variable.raw)
      places.push_back({variable.alpha[0], std::sqrt(variable.norm2[1] / variable.norm2[0])});
  } else {
    add_numbers(variable.value, places);
  }
  for (const auto& name : columns_of(variable.value)) {
    Source& source = sources[name];
    source.numeric = true;
    source.places.insert(source.places.end(), places.begin(), places.end());
  }
}

double number_of(const std::string& level) {
  double out = 0;
  std::from_chars(level.data(), level.data() + level.size(), out);
  return out;
}

double draw_number(const Source& source, RandomStream& random) {
  if (!source.levels.empty())  // it is a factor somewhere: no other values are known
    return number_of(source.levels[static_cast<std::size_t>(random.below(static_cast<Index>(source.levels.size())))]);
  if (source.places.empty()) return 0.5 + 1.5 * random.uniform();
  const auto& place = source.places[static_cast<std::size_t>(random.below(static_cast<Index>(source.places.size())))];
  return place.centre + place.width * (4 * random.uniform() - 2);
}

/// Rows that were drawn, column by column.
struct Drawn {
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<std::string>> levels;

  void add(const Drawn& row) {
    for (const auto& [name, values] : row.numbers) numbers[name].push_back(values[0]);
    for (const auto& [name, values] : row.levels) levels[name].push_back(values[0]);
  }
  Table table() const {
    std::vector<Column> columns;
    for (const auto& [name, values] : numbers) columns.push_back(numeric(name, values));
    for (const auto& [name, values] : levels) columns.push_back(categorical(name, values));
    return Table(std::move(columns));
  }
};

Drawn draw_row(const Sources& sources, RandomStream& random) {
  Drawn out;
  for (const auto& [name, source] : sources)
    if (source.numeric || source.levels.empty()) out.numbers[name] = {draw_number(source, random)};
    else
      out.levels[name] = {
          source.levels[static_cast<std::size_t>(random.below(static_cast<Index>(source.levels.size())))]};
  return out;
}

bool can_be_made(std::span<const Design* const> designs, const Table& row) {
  try {
    for (const Design* design : designs) design->apply(row);
    return true;
  } catch (const Error&) { return false; }
}

}  // namespace

Table made_up_rows(std::span<const Design* const> designs, Index count) {
  Sources sources;
  for (const Design* design : designs) {
    const DesignParts& parts = design->parts();
    for (const auto& variable : parts.variables) {
      if (variable.counted()) return {};
      learn_variable(variable, sources);
    }
    for (const auto& offset : parts.offsets)
      for (const auto& name : columns_of(offset)) sources[name].numeric = true;
  }
  RandomStream random(1);
  Drawn all;
  for (Index tries = 0, made = 0; tries < 20 * count && made < count; ++tries) {
    const Drawn row = draw_row(sources, random);
    if (!can_be_made(designs, row.table())) continue;
    all.add(row);
    ++made;
  }
  return all.table();
}

}  // namespace lemma
