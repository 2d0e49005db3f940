// lemma/plot/data.hpp: pictures of a table: what R's plot, hist, boxplot, pairs and qqnorm draw.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/plot/figure.hpp>
#include <span>

namespace lemma::plot {

struct PlotOptions {
  std::string title, x_label, y_label;  // empty: as the columns say
  std::string log;                      // "x", "y" or "xy": logarithmic axes
  std::string colour;  // a column whose values colour the marks; empty: the classes of the formula, if any
  std::string facet;   // a column: a panel for each of its values
  double alpha = 1;    // biplot: rows keep their distances (1), or columns their correlations (0)
  std::optional<double> width, height;
  Theme theme = Theme::automatic;
};

/// What draw() takes, with what each shows.
struct PictureKind {
  std::string_view name, meaning;
};
std::span<const PictureKind> data_kinds();

/// The kind that tells most of these columns: 'y ~ x' of numbers a scatter plot, of levels boxes, one column its histogram, several a
/// matrix of scatter plots or, where they are many, of correlations.
std::string_view kind_for(const Table& table, const std::string& formula = "");

/// A formula chooses the columns: 'y ~ x' draws y against x, '~ a + b' these columns, 'class ~ a + b' colours them by class. Without
/// one the numeric columns are drawn. Error for a kind that does not exist, or columns that it cannot draw.
Figure draw(std::string_view kind, const Table& table, const std::string& formula = "",
            const PlotOptions& options = {});

/// Scatter plots of every pair of columns, histograms on the diagonal; coloured by `classes`, where it is not empty.
Figure pairs(const Table& table, const std::string& formula = "", const PlotOptions& options = {});

/// What the user asked for, over what the picture says of itself.
Figure dressed(Figure figure, const PlotOptions& options);

}  // namespace lemma::plot
