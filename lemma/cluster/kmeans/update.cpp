// lemma/cluster/kmeans/update.cpp: a model after new rows, without the old ones.
#include <fmt/core.h>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>

namespace lemma {

KMeansModel updated(const KMeansModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(),
          fmt::format("kmeans: the model has {} columns and the rows have {}", model.width(), rows.width()));
  const std::vector<double> weight(model.sizes.begin(), model.sizes.end());
  MemoryRows before(model.centers);
  before.weights(weight).features = rows.features;
  KMeans from_here = model.spec;
  from_here.start = model.centers;
  from_here.k.reset();
  from_here.restarts.reset();
  from_here.bound = 0;  // it was that of the old rows alone
  KMeansModel out = fit(Valid<KMeans>(from_here), StackedRows({&before, &rows}), options);
  const Labels place = out.assign(model.centers);
  for (Index j = 0; j < model.k(); ++j) out.within(place[static_cast<std::size_t>(j)]) += model.within(j);
  out.total_within += model.total_within;
  out.total_ss += model.total_within;
  out.objective.array() += model.total_within;
  out.between = out.total_ss - out.total_within;
  out.spec = model.spec;
  out.starts.resize(0);
  out.updates = model.updates + 1;
  out.certificate.message +=
      " This is about the new rows and the centres before them: the old rows stay with those they were with.";
  return out;
}

}  // namespace lemma
