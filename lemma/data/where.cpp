// lemma/data/where.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/data/expression/parser.hpp>
#include <lemma/data/expression/types.hpp>
#include <lemma/data/formula/removed.hpp>
#include <lemma/data/where.hpp>

namespace lemma {

std::vector<Index> where(std::string_view condition, const Table& table) {
  Tokens tokens("condition", condition);
  const Expression e = parse_condition(tokens);
  tokens.expect_end();
  check_expression(e, tokens, false);
  const FindColumn find = [&](const Expression& name) -> const Column& {
    if (const Column* found = table.find(name.text)) return *found;
    for (const Column& column : table.all())
      if (column.type() == ColumnType::categorical && std::ranges::count(column.categories().levels, name.text) > 0)
        tokens.fail(name.place,
                    fmt::format("'{0}' is a level of '{1}': write it in quotes, \"{0}\"", name.text, column.name));
    tokens.fail(name.place, no_column(name.text, table));
  };
  require_condition(e, find, [&](std::size_t place, const std::string& message) { tokens.fail(place, message); });
  const std::vector<double> truths = evaluate(e, table);
  std::vector<Index> found;
  for (std::size_t i = 0; i < truths.size(); ++i)
    if (truths[i] == 1) found.push_back(static_cast<Index>(i));
  return found;
}

}  // namespace lemma
