// lemma/plot/data/kinds.hpp: one function a picture of a table. Inner header of the room.
#pragma once
#include <lemma/plot/parts.hpp>
#include <span>

namespace lemma::plot {

/// What is drawn: the table, and the columns that the formula names.
struct Drawn {
  const Table& table;
  Variables named;
  const PlotOptions& options;
  bool by_formula = false;
  const Table& whole;             // of facets: all their rows; else the table
  std::span<const Index> rows{};  // of a facet: which of them
  bool logarithmic(char axis) const { return options.log.find(axis) != std::string::npos; }
  /// As the table's first row is 1.
  Index number_of(Index row) const { return 1 + (rows.empty() ? row : rows[static_cast<std::size_t>(row)]); }

  /// Those of the formula's terms that are numbers ('class ~ .' may hold others), or without one all columns of numbers; Error where
  /// there are none.
  std::vector<Column> numbers() const;
  /// The formula's response where it is one of classes.
  const Column* classes() const;
  /// By --color, else by the classes of the response: of a facet those of all rows.
  Groups groups() const;
};

Figure scatter(const Drawn& drawn);
Figure line(const Drawn& drawn);
Figure bar(const Drawn& drawn);
Figure box(const Drawn& drawn);
Figure violin(const Drawn& drawn);
Figure histogram(const Drawn& drawn);
Figure density(const Drawn& drawn);
Figure qq(const Drawn& drawn);
Figure scatter_matrix(const Drawn& drawn);
Figure parallel(const Drawn& drawn);
Figure correlation(const Drawn& drawn);
Figure missing(const Drawn& drawn);
Figure heatmap(const Drawn& drawn);
Figure voronoi(const Drawn& drawn);

/// The values of the rows of a group, in order.
std::vector<double> sorted_in_group(const std::vector<double>& values, const Groups& groups, int group);
/// "row 3: setosa"
std::vector<std::string> row_tooltips(const Drawn& drawn, const Groups& groups);
/// Bars of a histogram between these edges, a set of them for each group.
void add_histogram(Panel& panel, const std::vector<double>& values, const Groups& groups,
                   const std::vector<double>& edges);

}  // namespace lemma::plot
