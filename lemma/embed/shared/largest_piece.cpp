// lemma/embed/shared/largest_piece.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/embed/shared/largest_piece.hpp>
#include <numeric>

namespace lemma {
namespace {

/// Some of the things, in their order.
Compared part_of(const Compared& all, const std::vector<Index>& which) {
  if (const PackedPoints* rows = all.dissimilarities.points()) {
    Matrix points = all.points(which, Eigen::all);
    auto part = Dissimilarities::on_demand(points, rows->metric());
    return {std::move(part), all.metric, std::move(points)};
  }
  std::vector<double> packed, weight;
  for (std::size_t a = 0; a < which.size(); ++a)
    for (std::size_t b = a + 1; b < which.size(); ++b) {
      packed.push_back(all.dissimilarities(which[a], which[b]));
      if (!all.weight.empty()) weight.push_back(all.weight[at(all.dissimilarities.pair(which[a], which[b]))]);
    }
  std::vector<std::string> names;
  for (const Index i : which) names.push_back(all.names[at(i)]);
  auto part = Dissimilarities::of_triangle(std::move(packed), names);
  return {std::move(part), all.metric, {}, std::move(weight), std::move(names)};
}

/// The things of each piece of the largest size.
std::vector<std::vector<Index>> largest_pieces(const Components& parts) {
  std::vector<std::vector<Index>> out;
  for (Index p = 0; p < parts.count(); ++p) {
    if (parts.size[at(p)] != parts.size[at(parts.largest())]) continue;
    std::vector<Index>& piece = out.emplace_back();
    for (Index i = 0; i < static_cast<Index>(parts.label.size()); ++i)
      if (parts.label[at(i)] == p) piece.push_back(i);
  }
  return out;
}

RowNumbers others_of(const std::vector<Index>& which, Index all) {
  RowNumbers out;
  for (Index i = 0; i < all; ++i)
    if (!std::binary_search(which.begin(), which.end(), i)) out.of.push_back(i);
  return out;
}

Components pieces_of(std::string_view method, const Compared& all, Input input, Index columns, const NearRows& how,
                     const Execution& execution) {
  if (input == Input::pairs || (input == Input::square && columns != all.count()))
    throw Error(fmt::format(
        "{}: '--pieces largest' takes rows or a square, where what is left out has a row; of these give a square",
        method));
  return components(neighborhood(method, all, how, execution).graph);
}

/// The rows of a fit again, in its order.
Matrix rows_of_piece(std::string_view method, const Embedded& model, const Rows& rows, const Matrix& points,
                     Comparison& same) {
  MemoryRows given(points);
  given.features = rows.features;
  return rows_again(method, model, given, same, {});
}

}  // namespace

std::vector<Index> placed_numbers(const RowNumbers& left_out, Index placed) {
  return others_of(left_out.of, placed + static_cast<Index>(left_out.of.size())).of;
}

void check_left_out(std::string_view method, const RowNumbers& left_out, Index placed, Pieces pieces) {
  const Index all = placed + static_cast<Index>(left_out.of.size());
  require(left_out.of.empty() || pieces == Pieces::largest, fmt::format("{}: things are left out unasked", method));
  for (std::size_t k = 0; k < left_out.of.size(); ++k)
    require(left_out.of[k] >= 0 && left_out.of[k] < all && (k == 0 || left_out.of[k] > left_out.of[k - 1]),
            fmt::format("{}: what is left out are not things, one after the other", method));
}

Placed placed_of(std::string_view method, Compared all, Input input, Index columns, const NearRows& how,
                 const Execution& execution) {
  if (how.pieces != Pieces::largest) return {std::move(all)};
  const Components parts = pieces_of(method, all, input, columns, how, execution);
  if (parts.count() == 1) return {std::move(all)};
  const std::vector<Index> which = largest_pieces(parts).front();
  if (which.size() < 3)
    throw Error(fmt::format(
        "{}: the graph is in {} pieces, and the largest has {} of {}, must have at least 3; take {}", method,
        parts.count(), which.size(), count_of(all.count(), "row"), how.radius ? "a larger radius" : "more neighbors"));
  Placed out{part_of(all, which), parts.count(), others_of(which, all.count())};
  const Matrix& points = out.things.points;
  if (points.rows() > 0 && (points.rowwise() - points.row(0)).isZero(0))
    throw Error(fmt::format("{}: the {} of the largest piece are equal, and there is nothing to tell them apart by",
                            method, count_of(points.rows(), "row")));
  return out;
}

Placed placed_again(std::string_view method, const Embedded& model, const RowNumbers& left_out, Input input,
                    const Rows& rows, const Metric& metric, const NearRows& how, Comparison& same,
                    const Execution& execution) {
  if (how.pieces != Pieces::largest) return {things_again(method, model, input, rows, metric, same, execution)};
  const Index fitted = model.count() + static_cast<Index>(left_out.of.size());
  const Compared all = things_of(method, input, rows, metric, execution.part(0, 0.2));
  if (all.count() != fitted)
    throw Error(fmt::format("{}: the model was fitted on {} and is given {}", method, count_of(fitted, "row"),
                            count_of(all.count(), "row")));
  const Components parts = pieces_of(method, all, input, rows.width(), how, execution.part(0.2, 1));
  const auto pieces = largest_pieces(parts);
  if (static_cast<Index>(pieces.front().size()) != model.count())
    throw Error(fmt::format("{}: the largest piece of the graph has {} of these rows, and the model is about {}",
                            method, pieces.front().size(), model.count()));
  std::vector<Index> which = pieces.front();
  for (const auto& piece : pieces) {  // in another order another of one size may be the first
    Comparison other;
    if (input == Input::rows) rows_of_piece(method, model, rows, all.points(piece, Eigen::all), other);
    else if (part_of(all, piece).names != model.things) continue;
    if (!other.finding()) {
      which = piece;
      break;
    }
  }
  Placed out{part_of(all, which), parts.count(), others_of(which, all.count())};
  bool in_order = true;
  if (input == Input::rows) {
    Matrix points = rows_of_piece(method, model, rows, out.things.points, same);
    in_order = points == out.things.points;
    auto again = Dissimilarities::on_demand(points, all.dissimilarities.points()->metric());
    out.things = {std::move(again), all.metric, std::move(points)};
  } else {
    for (Index i = 0; i < model.count(); ++i)
      same.entry("things", i, model.things[at(i)] == out.things.names[at(i)] ? 0 : 1, 0, 1);
  }
  for (std::size_t k = 0; in_order && k < left_out.of.size(); ++k)
    same.entry("left_out", static_cast<Index>(k), static_cast<double>(left_out.of[k]),
               static_cast<double>(out.left_out.of[k]), 1);
  return out;
}

std::optional<std::string> warning_of(const Placed& placed, const NearRows& how) {
  if (placed.left_out.of.empty()) return {};
  const auto left = static_cast<Index>(placed.left_out.of.size());
  return fmt::format("the graph of {} is in {} pieces; the largest has places, {} of {}, and {} left out (left_out)",
                     how.radius ? fmt::format("rows within {:g}", *how.radius) : count_of(how.neighbors, "neighbour"),
                     placed.parts, placed.things.count(), count_of(placed.things.count() + left, "row"),
                     left == 1 ? std::string("1 is") : fmt::format("{} are", left));
}

}  // namespace lemma
