// lemma/plot/parts.hpp: what several pictures share: the columns a formula names, groups, and statistics of a column. Inner header
// of the room.
#pragma once
#include <lemma/plot/data.hpp>

namespace lemma::plot {

/// What a formula names, as columns: an expression becomes numbers, u:v one column of joint classes.
struct Variables {
  std::vector<Column> response, terms;
};
Variables variables(const Table& table, const std::string& formula);

/// Groups of rows by a column: codes (−1 is missing) and names. None: one group of all rows.
struct Groups {
  std::string name;
  std::vector<int> code;
  std::vector<std::string> names;
  bool empty() const { return names.empty(); }
  int count() const { return std::max(1, static_cast<int>(names.size())); }
  int of(Index row) const { return code.empty() ? 0 : code[static_cast<std::size_t>(row)]; }
};
Groups groups_of(const Column& column);
/// By --color, else by the column given, if any.
Groups groups_for(const Table& table, const PlotOptions& options, const Column* otherwise = nullptr);
Legend legend_of(const Groups& groups, LegendEntry::Key key);

bool is_numeric(const Column& column);
/// Numbers that name groups, as digits do.
bool few_values(const Column& column);
/// Numbers as shades: points in bands from the least of `all` to the greatest.
void add_shaded(Figure& figure, Panel& panel, const Points& points, const Column& by, const std::vector<double>& all);
/// Numbers as they are, categories by the numbers of their levels; Error for text.
std::vector<double> places_of(const Column& column);
Axis axis_of(const Column& column);
/// The finite values, in order.
std::vector<double> sorted_values(const std::vector<double>& values);
/// R's type 7; the values are sorted.
double quantile(const std::vector<double>& sorted, double p);

/// Edges of the bins: Freedman and Diaconis' width 2 IQR n^(−1/3), at round numbers; Sturges' number where the IQR is 0.
std::vector<double> bins_of(const std::vector<double>& sorted);
/// Gauss' kernel at `grid`, with Silverman's width 0.9 min(sd, IQR/1.34) n^(−1/5) where none is given (R's bw.nrd0).
double bandwidth_of(const std::vector<double>& sorted);
std::vector<double> density_at(const std::vector<double>& sorted, double bandwidth, const std::vector<double>& grid);
/// Cleveland's lowess with two thirds of the rows and three robust rounds, as R's; x is in order.
std::vector<double> lowess(const std::vector<double>& x, const std::vector<double>& y, double share = 2.0 / 3,
                           int rounds = 3);

/// Quantiles beside those of a normal distribution, and the line through the quartiles: R's qqnorm and qqline. `look` says how the
/// points are drawn.
void add_normal_quantiles(Panel& panel, const std::vector<double>& sorted, Points look);

/// The level curve f = level of a grid (rows along y), as segments: marching squares.
Segments contour(const std::vector<double>& x, const std::vector<double>& y, const Matrix& f, double level);

/// Axes as --log asks; Error for one that is no axis of numbers.
void make_logarithmic(Figure& figure, const PlotOptions& options);

/// A panel for each of so many, nearly square.
void in_grid(Figure& figure);

}  // namespace lemma::plot
