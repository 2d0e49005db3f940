// lemma/cluster/hdbscan/things.hpp: rows, or a square, and what the certificate says of their hierarchy. Inner header: use
// lemma/cluster/hdbscan.hpp.
#pragma once
#include <lemma/cluster/hdbscan.hpp>
#include <lemma/cluster/shared/measured_points.hpp>

namespace lemma {

struct ReachedThings {
  Dissimilarities all;                // of rows on demand
  Matrix points;                      // of rows
  std::optional<BoundMetric> metric;  // of rows
};
ReachedThings reached_things(const Hdbscan& spec, const Rows& rows, const Execution& execution);
/// The same, in the order that the rows had when the model was fitted.
ReachedThings ordered_things(const HdbscanModel& model, const Rows& rows, const Execution& execution);

Certificate certificate_of(const HdbscanModel& model, const ReachedThings& things, const Execution& execution);
Certificate of_other_rows(const HdbscanModel& model, Index count);

}  // namespace lemma
