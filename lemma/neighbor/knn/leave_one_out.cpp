// lemma/neighbor/knn/leave_one_out.cpp: the voters of a row, what they say, and the error for many k from one search.
#include <algorithm>
#include <cmath>
#include <lemma/core/hearing.hpp>
#include <lemma/geometry/dissimilarities.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/neighbor/knn/parts.hpp>
#include <numeric>

namespace lemma::knn {

Index points_for(const Vector& weight, double most) {
  const double needed = std::ceil(most / std::min(1.0, weight.minCoeff()));
  return static_cast<Index>(std::min(needed, static_cast<double>(weight.size())));
}

Voters voters(const Vector& weight, std::span<const std::int32_t> rows, std::span<const double> distances, double most,
              Index own) {
  Voters out;
  double taken = 0;
  const auto add = [&](Index row, double distance, double room) {
    const double copies = std::min(room, most - taken);
    if (!(copies > 0)) return;
    out.row.push_back(row);
    out.distance.push_back(distance);
    out.copies.push_back(copies);
    taken += copies;
  };
  bool own_is_due = own >= 0;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const Index row = rows[j];
    if (own_is_due && (distances[j] > 0 || row > own)) {  // its other copies stand at distance 0
      add(own, 0, weight(own) - 1);
      own_is_due = false;
    }
    add(row, distances[j], weight(row));
  }
  if (own_is_due) add(own, 0, weight(own) - 1);
  return out;
}

namespace {

/// Of the plane through the responses of these rows, each with its weight, what it is at x. Through the mean of the rows; directions
/// in which they hardly differ have no slope.
double line_at(const KnnModel& model, std::span<const Index> rows, std::span<const double> response,
               std::span<const double> weight, const double* x) {
  constexpr double kFlat = 1e-10;  // of the greatest eigenvalue of the rows' correlations
  const auto n = static_cast<Index>(response.size()), p = model.width();
  const Eigen::Map<const Vector> w(weight.data(), n), y(response.data(), n);
  const Eigen::Map<const Eigen::RowVectorXd> here(x, p);
  Matrix z(n, p);
  for (Index i = 0; i < n; ++i) z.row(i) = model.points.row(rows[static_cast<std::size_t>(i)]) - here;
  const double total = w.sum(), mean = w.dot(y) / total;
  Eigen::RowVectorXd centre = w.transpose() * z / total;
  z.rowwise() -= centre;
  for (Index a = 0; a < p; ++a) {  // each column in units of its own spread
    const double spread = std::sqrt(w.dot(z.col(a).cwiseAbs2()) / total);
    if (!(spread > 0)) continue;
    z.col(a) /= spread;
    centre(a) /= spread;
  }
  Matrix scatter = Matrix::Zero(p, p);
  Vector with_y = Vector::Zero(p);
  for (Index i = 0; i < n; ++i)
    for (Index a = 0; a < p; ++a) {
      const double by = w(i) * z(i, a);
      with_y(a) += by * (y(i) - mean);
      for (Index b = 0; b < p; ++b) scatter(a, b) += by * z(i, b);
    }
  const Eigenpairs pairs = symmetric_eigen(scatter);
  const double greatest = pairs.values.cwiseAbs().maxCoeff();
  double out = mean;
  for (Index j = 0; j < p; ++j)
    if (pairs.values(j) > kFlat * greatest)
      out -= centre.dot(pairs.vectors.col(j)) * (pairs.vectors.col(j).dot(with_y) / pairs.values(j));
  return out;
}

}  // namespace

Vector say(const KnnModel& model, const Voters& voters, double k, const double* x) {
  std::vector<double> response, counts;
  double taken = 0, h = voters.distance.empty() ? 0 : voters.distance.back();
  for (std::size_t j = 0; j < voters.row.size(); ++j) {
    const double copies = std::min(voters.copies[j], k - taken);
    if (copies > 0) {
      response.push_back(model.response(voters.row[j]));
      counts.push_back(copies);
      taken += copies;
    }
    if (taken >= k && voters.copies[j] > copies) {  // the first that does not vote
      h = voters.distance[j];
      break;
    }
  }
  if (counts.empty()) {
    if (model.of_classes) return prior_of(model.spec.prior, model.counts);
    return Vector::Constant(1, model.weight.dot(model.response) / model.weight.sum());
  }
  weigh(model.spec.vote, std::span(voters.distance).first(counts.size()), h, counts);
  if (model.spec.local == LocalFit::line)
    return Vector::Constant(1, line_at(model, std::span(voters.row).first(counts.size()), response, counts, x));
  Vector out = vote(response, counts, model.class_count());
  if (!model.of_classes || model.spec.prior == PriorChoice(Prior::proportions)) return out;
  out = out.cwiseProduct(prior_of(model.spec.prior, model.counts)).cwiseQuotient(model.counts);
  return out / out.sum();
}

namespace {

/// All other rows of row i that can be compared with it, the `most` nearest of them in their order.
struct Sorted {
  std::vector<std::int32_t> row;
  std::vector<double> distance;

  Sorted(const Dissimilarities& all, Index i, Index most) {
    std::vector<double> d(at(all.count()));
    all.row(i, d);
    std::vector<std::int32_t> order;
    for (std::size_t j = 0; j < d.size(); ++j)
      if (static_cast<Index>(j) != i && !std::isnan(d[j])) order.push_back(static_cast<std::int32_t>(j));
    const auto end = order.begin() + std::min<std::ptrdiff_t>(most, std::ssize(order));
    std::partial_sort(order.begin(), end, order.end(), [&](std::int32_t a, std::int32_t b) {
      const double first = d[static_cast<std::size_t>(a)], second = d[static_cast<std::size_t>(b)];
      return first != second ? first < second : a < b;
    });
    row.assign(order.begin(), end);
    for (const auto j : row) distance.push_back(d[static_cast<std::size_t>(j)]);
  }
};

}  // namespace

Vector left_out_errors(const KnnModel& model, const Vector& tried, bool sort_all, const Execution& execution) {
  const Index n = model.points.rows(), judged = tried.size();
  if (n < 2) return {};
  const double most = tried.maxCoeff() + 1;
  const Index points = points_for(model.weight, most);
  Matrix error(n, judged + 1);
  KnnModel plain;  // the nearest row as it is, whatever else was asked for
  plain.of_classes = model.of_classes;
  plain.counts = model.counts;
  plain.response = model.response;
  plain.weight = model.weight;
  const auto judge = [&](Index i, std::span<const std::int32_t> rows, std::span<const double> distances) {
    const Voters found = voters(model.weight, rows, distances, most, i);
    for (Index t = 0; t <= judged; ++t) {
      const double* x = &model.points(i, 0);
      const Vector said = t < judged ? say(model, found, tried(t), x) : say(plain, found, 1, x);
      Index best = 0;
      if (model.of_classes) said.maxCoeff(&best);
      const double off = said(0) - model.response(i);
      error(i, t) = model.of_classes ? (static_cast<double>(best) != model.response(i) ? 1.0 : 0.0) : off * off;
    }
  };
  if (sort_all) {
    const auto all = Dissimilarities::on_demand(model.points, BoundMetric(model.spec.metric, model.width()));
    parallel_for(n, execution, [&](Index i) {
      const Sorted nearest(all, i, points);
      judge(i, nearest.row, nearest.distance);
    });
  } else {
    const NeighborLists lists = model.kept->get(model).nearest_own(points, execution.part(0, 0.9, "neighbours"));
    parallel_for(n, execution.part(0.9, 1), [&](Index i) { judge(i, lists.rows_of(i), lists.distances_of(i)); });
  }
  Vector out = Vector::Zero(judged + 1);
  for (Index i = 0; i < n; ++i) out += model.weight(i) * error.row(i).transpose();
  return out / model.weight.sum();
}

Vector cover_hart(double error, Index classes) {
  const double most = static_cast<double>(classes - 1) / static_cast<double>(classes);
  return Vector{{most * (1 - std::sqrt(std::max(1 - error / most, 0.0))), error}};
}

}  // namespace lemma::knn

namespace lemma {

std::optional<Matrix> leave_one_out(const Knn& asked, const KnnModel& model, const Rows& rows,
                                    const Execution& execution) {
  const Index n = model.points.rows();
  const bool same_without_a_row =
      to_value(asked) == to_value(model.spec) && model.k() < n &&
      (!model.of_classes || (asked.prior == PriorChoice(Prior::proportions) && model.counts.minCoeff() >= 2));
  if (!same_without_a_row || rows.has_weights || rows.count() != n) return {};
  const auto k = static_cast<double>(model.k());
  const Index points = knn::points_for(model.weight, k + 1);
  const NeighborLists lists = model.kept->get(model).nearest_own(points, execution.part(0, 0.9, "neighbours"));
  Matrix out(n, model.of_classes ? model.class_count() : 1);
  parallel_for(n, execution.part(0.9, 1), [&](Index i) {
    const auto found = knn::voters(model.weight, lists.rows_of(i), lists.distances_of(i), k + 1, i);
    out.row(i) = knn::say(model, found, k, &model.points(i, 0)).transpose();
  });
  return out;
}

}  // namespace lemma

namespace lemma::knn {

const Neighbors& Kept::get(const KnnModel& model) {
  std::call_once(made_, [&] {
    neighbors_.emplace(model.points, BoundMetric(model.spec.metric, model.width()), SearchOptions{}, heard());
  });
  return *neighbors_;
}

std::shared_ptr<Kept> nothing_kept() { return std::make_shared<Kept>(); }

}  // namespace lemma::knn
