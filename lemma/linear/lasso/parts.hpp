// lemma/linear/lasso/parts.hpp: what lasso and elastic_net share. Inner header: use lemma/linear/lasso.hpp.
#pragma once
#include <lemma/linear/lasso.hpp>
#include <lemma/linear/shared/coordinate_path.hpp>

namespace lemma::net {

/// The lasso as an elastic net.
ElasticNet as_net(const Lasso& spec);
inline const ElasticNet& as_net(const ElasticNet& spec) { return spec; }
inline std::optional<double> bound_of(const Lasso& spec) { return spec.bound; }
inline std::optional<double> bound_of(const ElasticNet&) { return {}; }

NetPenalty penalty_of(std::string_view method, const ElasticNet& net, const Rows& rows);

/// One λ and its coefficients on the scale of the penalty, held against the columns.
struct Duality {
  double rss = 0, norm = 0, objective = 0;
  double gap = 0;  // in units of ½ ‖y‖²
};
/// `c` has a row for each λ. Under a bound the gap is that of the bounded problem.
std::vector<Duality> duality(const StandardisedColumns& columns, const NetPenalty& penalty, const Vector& lambda,
                             const Matrix& c, std::optional<double> bound, const Execution& execution);

/// The λ with the least criterion n log(rss / n) + price · (df + intercept), among those with at most n / 2 coefficients.
double choose_lambda(const ElasticNet& net, const Vector& lambda, const Vector& rss, const Vector& df, double n);

/// The point of the path whose norm is `bound`, or the last one where the norm stays below it.
PathPoint bounded_point(CoordinatePath& path, const NetPenalty& penalty, double bound, bool to_zero,
                        const Execution& execution);
double norm_of(const NetPenalty& penalty, const PathPoint& point);

Certificate certificate_of(const Vector& gaps, double tolerance, long long sweeps, std::string_view stopped);

}  // namespace lemma::net
