// lemma/cluster/kmedoids/things.hpp: what medoids are chosen from, and what the certificate says of them. Inner header: use
// lemma/cluster/kmedoids.hpp.
#pragma once
#include <lemma/cluster/kmedoids.hpp>
#include <lemma/cluster/shared/measured_points.hpp>

namespace lemma {

/// The rows, or the square, and how they are compared.
struct KMedoidThings {
  Dissimilarities all;
  Matrix points;                     // of rows
  std::optional<BoundMetric> bound;  // of rows
  std::vector<std::string> names;    // of a square
};

KMedoidThings things_of(const KMedoids& spec, const Rows& rows, const Execution& execution);
/// All dissimilarities of the rows, kept where there is room for them.
Dissimilarities compare_points(const Matrix& points, const BoundMetric& metric, double gigabytes,
                               const Execution& execution);

Certificate certificate_of(const KMedoidsModel& model, const KMedoidThings& things, const Execution& execution);
/// Of a fit that was cancelled: nothing is claimed to hold.
Certificate unverified_medoids();

}  // namespace lemma
