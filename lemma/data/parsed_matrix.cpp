// lemma/data/parsed_matrix.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/open.hpp>
#include <lemma/data/image/beside.hpp>
#include <lemma/data/parsed_matrix.hpp>
#include <unordered_map>
#include <unordered_set>

namespace lemma {
namespace {

/// The places of names among those of a file; nothing where one is not there, or there twice.
std::optional<std::vector<std::size_t>> places_of(const std::vector<std::string>& wanted,
                                                  const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t j = 0; j < names.size(); ++j) place.emplace(names[j], j);
  std::unordered_set<std::size_t> taken;
  std::vector<std::size_t> out;
  for (const auto& name : wanted) {
    const auto found = place.find(name);
    if (found == place.end() || !taken.insert(found->second).second) return {};
    out.push_back(found->second);
  }
  return out;
}

std::unique_ptr<TableStream> parse(csv::Reader& reader, const std::vector<std::size_t>& features,
                                   const std::vector<std::size_t>& others) {
  auto parsed = reader.learn_matrix(features, others);
  if (!parsed) return nullptr;
  std::vector<Column> columns;
  for (const std::size_t j : features) columns.push_back(parsed->schema.column(static_cast<Index>(j)));
  for (const std::size_t j : others) columns.push_back(parsed->schema.column(static_cast<Index>(j)));
  Table schema(std::move(columns), parsed->schema.source());
  for (const auto& note : parsed->schema.notes()) schema.note(note);
  return std::make_unique<ParsedMatrix>(std::move(parsed->x), std::move(schema), std::move(parsed->others));
}

}  // namespace

ParsedMatrix::ParsedMatrix(Matrix x, Table schema, Table others)
    : x_(std::move(x)), view_(x_), schema_(std::move(schema)), others_(std::move(others)) {}

Table ParsedMatrix::read(Index first, Index count) const { return read_columns(first, count, schema_.names()); }

Table ParsedMatrix::read_columns(Index first, Index count, const std::vector<std::string>& names) const {
  if (first < 0 || count < 0 || first > rows() - count)
    throw Error(
        fmt::format("there are no rows {} to {}: {} has {} rows", first + 1, first + count, schema_.source(), rows()));
  const std::unordered_set<std::string_view> asked(names.begin(), names.end());
  const Table beside = others_.slice(others_.columns() > 0 ? first : 0, others_.columns() > 0 ? count : 0);
  std::vector<Column> columns;
  for (Index j = 0; j < schema_.columns(); ++j) {
    if (!asked.contains(schema_.column(j).name)) continue;
    columns.push_back(j < x_.cols() ? schema_.column(j) : beside.column(j - x_.cols()));
    if (j >= x_.cols()) continue;
    const auto part = x_.col(j).segment(first, count);
    std::get<Numbers>(columns.back().data).values.assign(part.begin(), part.end());
  }
  if (columns.empty()) return read(first, count);  // a table without columns has no rows
  return Table(std::move(columns), schema_.source());
}

std::unique_ptr<TableStream> open_parsed(const std::string& data, const ReadOptions& options,
                                         const ChooseColumns& wanted) {
  const auto reader = open_reader(data, options);
  if (!reader) return nullptr;
  const auto& layout = reader->layout();
  const std::vector<std::string> names(layout.names.begin(),
                                       layout.names.begin() + static_cast<std::ptrdiff_t>(layout.columns()));
  if (const auto chosen = wanted(names)) {
    const auto features = places_of(chosen->features, names), others = places_of(chosen->others, names);
    if (features && others && !features->empty())
      if (auto parsed = parse(*reader, *features, *others)) return parsed;
  }
  Table whole = with_images_beside(reader->learn(true), data);
  return std::make_unique<MemoryTableStream>(std::make_shared<const Table>(std::move(whole)));
}

}  // namespace lemma
