// lemma/plot/data.hpp: pictures of a table: what R's plot, hist, boxplot, pairs and qqnorm draw.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/plot/figure.hpp>

namespace lemma::plot {

struct PlotOptions {
  std::string title, x_label, y_label;  // empty: as the columns say
  std::string log;                      // "x", "y" or "xy": logarithmic axes
  std::string colour;                   // a column whose values colour the marks; empty: the classes of the formula, if any
  std::optional<double> width, height;
  Theme theme = Theme::automatic;
};

/// "scatter", "line", "bar", …: what draw() takes.
const std::vector<std::string>& data_kinds();

/// A formula chooses the columns: 'y ~ x' draws y against x, '~ a + b' these columns, 'class ~ a + b' colours them by class. Without
/// one the numeric columns are drawn. Error for a kind that does not exist, or columns that it cannot draw.
Figure draw(std::string_view kind, const Table& table, const std::string& formula = "", const PlotOptions& options = {});

/// Scatter plots of every pair of columns, histograms on the diagonal; coloured by `classes`, where it is not empty.
Figure pairs(const Table& table, const std::string& formula = "", const PlotOptions& options = {});

/// What the user asked for, over what the picture says of itself.
Figure dressed(Figure figure, const PlotOptions& options);

}  // namespace lemma::plot
