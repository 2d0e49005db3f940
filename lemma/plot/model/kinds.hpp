// lemma/plot/model/kinds.hpp: one function a picture of a model. Inner header of the room.
#pragma once
#include <lemma/plot/model.hpp>
#include <lemma/plot/parts.hpp>

namespace lemma::plot {

struct Shown {
  const TrainedModel& trained;
  const Table* rows;  // there for kinds that need them
  const PlotOptions& options;
};

// of results
Figure scree(const Shown& shown);
Figure coefficients(const Shown& shown);
Figure path(const Shown& shown);
Figure importance(const Shown& shown);
Figure convergence(const Shown& shown);
Figure map(const Shown& shown);
Figure tree_nodes(const Shown& shown);
Figure cp_curve(const Shown& shown);
Figure dendrogram(const Shown& shown);
Figure shepard(const Shown& shown);
Figure tuning(const Shown& shown);
Figure posterior(const Shown& shown);
Figure traces(const Shown& shown);
Figure loadings(const Shown& shown);
Figure unit_weights(const Shown& shown);
Figure factors(const Shown& shown);
Figure sweep_cut(const Shown& shown);
Figure bandwidths(const Shown& shown);
Figure filters(const Shown& shown);
// of what is said of rows
Figure residuals(const Shown& shown);
Figure fitted_curve(const Shown& shown);
Figure regions(const Shown& shown);
Figure roc(const Shown& shown);
Figure precision_recall(const Shown& shown);
Figure lift(const Shown& shown);
Figure calibration_curve(const Shown& shown);
Figure confusion_table(const Shown& shown);
Figure scores(const Shown& shown);
Figure biplot(const Shown& shown);
Figure clusters(const Shown& shown);
Figure silhouette_bars(const Shown& shown);
Figure density_contours(const Shown& shown);
Figure effects(const Shown& shown);
Figure ellipses(const Shown& shown);
Figure drawn_functions(const Shown& shown);
Figure knee(const Shown& shown);
Figure activations(const Shown& shown);
Figure prototypes(const Shown& shown);
Figure variates(const Shown& shown);
Figure sources(const Shown& shown);

/// Pairs of the columns that the model looks at, the rows coloured by a column of groups; centres of groups have rims.
Figure pairs_of_groups(const Shown& shown, const Matrix& x, const Column& groups, const Matrix* centers = nullptr,
                       const Labels& of = {});

/// Results that tell how columns make up components, a row for each column: declared by the method, and of this model.
bool declares_loadings(const Method& method);
bool has_loadings(const TrainedModel& trained);
/// Rows are in clusters: any rows, or those of the fit.
bool has_clusters(const TrainedModel& trained);
/// Two factors or more for each thing.
bool has_factors(const TrainedModel& trained);
/// A mixture of Gaussians of the columns as they are, two or more.
bool has_ellipses(const TrainedModel& trained);
/// The results that tell how a fit went on: by trees, rounds or iterations.
std::vector<std::string_view> convergence_results(const Method& method);
/// The method itself, or the last step of a pipeline: whose results are shown.
const Method& last_method(const TrainedModel& trained);

/// Places for grids: from `from` to `to` in so many steps.
std::vector<double> spread(double from, double to, int steps);
struct Range {
  double low, high;
};
/// Of a column of numbers, and a little more.
Range range_of(const Column& column);

/// A result as numbers; nothing where the model has none of that name, or it is empty.
std::optional<Vector> vector_of(const TrainedModel& trained, std::string_view name);
std::optional<Matrix> matrix_of(const TrainedModel& trained, std::string_view name);
std::vector<double> list_of(const Vector& values);

}  // namespace lemma::plot
