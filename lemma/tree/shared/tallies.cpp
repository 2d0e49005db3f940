// lemma/tree/shared/tallies.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/tree/shared/tallies.hpp>

namespace lemma {
namespace {

void require_task(std::string_view method, bool is_so, bool classes) {
  if (!is_so)
    throw Error(std::string(method) + (classes ? ": this model predicts numbers, not classes: predict() gives them"
                                               : ": this model tells classes, not numbers: classify() gives them"));
}

}  // namespace

Vector Tallies::numbers_at(std::string_view method, const Vector& leaves) const {
  require_task(method, !of_classes(), false);
  Vector out(leaves.size());
  for (Index i = 0; i < out.size(); ++i) out(i) = estimates(static_cast<Index>(leaves(i)), 0);
  return out;
}

Labels Tallies::labels_at(std::string_view method, const Vector& leaves) const {
  require_task(method, of_classes(), true);
  Labels out;
  out.reserve(at(leaves.size()));
  for (const double leaf : leaves) out.push_back(label[static_cast<std::size_t>(leaf)]);
  return out;
}

Matrix Tallies::shares_at(std::string_view method, const Vector& leaves) const {
  require_task(method, of_classes(), true);
  Matrix out(leaves.size(), counts.cols());
  for (Index i = 0; i < out.rows(); ++i) out.row(i) = estimates.row(static_cast<Index>(leaves(i)));
  return out;
}

Tallies tallies_of(Index nodes, Index classes, const Block& outcome, Index rows,
                   const std::function<void(Index, const std::function<void(Index)>&)>& walk) {
  Tallies out;
  out.weight = out.loss = Vector::Zero(nodes);
  out.counts = Matrix::Zero(nodes, classes);
  out.estimates = Matrix::Zero(nodes, std::max<Index>(1, classes));
  const auto each_visit = [&](const auto& visit) {
    for (Index i = 0; i < rows; ++i)
      if (outcome.weight_of(i) > 0) walk(i, [&](Index node) { visit(node, i, outcome.weight_of(i)); });
  };
  each_visit([&](Index node, Index i, double w) {
    out.weight(node) += w;
    if (classes > 0) out.counts(node, outcome.label[at(i)]) += w;
    else out.estimates(node, 0) += w / out.weight(node) * (outcome.y[at(i)] - out.estimates(node, 0));
  });
  if (classes == 0) {
    each_visit([&](Index node, Index i, double w) {
      const double d = outcome.y[at(i)] - out.estimates(node, 0);
      out.loss(node) += w * d * d;
    });
    return out;
  }
  for (Index node = 0; node < nodes; ++node) {
    Index most = 0;
    out.loss(node) = out.weight(node) - out.counts.row(node).maxCoeff(&most);
    out.label.push_back(static_cast<int>(most));
    if (out.weight(node) > 0) out.estimates.row(node) = out.counts.row(node) / out.weight(node);
  }
  return out;
}

void compare_tallies(Comparison& out, const Tallies& told, const Tallies& counted) {
  const double n = counted.weight(0), lost = counted.loss(0) > 0 ? counted.loss(0) : 1;
  const double size = counted.counts.cols() > 0 ? 1 : std::max(1e-300, counted.estimates.cwiseAbs().maxCoeff());
  for (Index i = 0; i < counted.weight.size(); ++i) {
    out.entry("weight", i, told.weight(i), counted.weight(i), 1e-3 * n);
    if (!(counted.weight(i) > 0)) out.entry("nodes", i, 1, 0, 1);
    for (Index k = 0; k < counted.counts.cols(); ++k)
      out.entry("counts", i, told.counts(i, k), counted.counts(i, k), 1e-3 * n);
    for (Index k = 0; k < counted.estimates.cols(); ++k)
      out.entry("estimates", i, told.estimates(i, k), counted.estimates(i, k), size);
    out.entry("loss", i, told.loss(i), counted.loss(i), lost);
    if (!counted.label.empty()) out.entry("label", i, told.label[at(i)], counted.label[at(i)], 1);
  }
}

void check_tallies(std::string_view method, const Tallies& told, Index nodes) {
  const auto need = [&](bool holds, std::string_view what) {
    if (!holds) throw Error(fmt::format("{}: {}", method, what));
  };
  const Index k = told.counts.cols();
  need(told.weight.size() == nodes && told.counts.rows() == nodes && told.estimates.rows() == nodes &&
           told.loss.size() == nodes,
       "what is told of the nodes does not fit together");
  need(told.weight.allFinite() && (told.weight.array() > 0).all() && told.counts.allFinite() &&
           told.estimates.allFinite() && told.loss.allFinite(),
       "a number of a node is not usable");
  need(told.of_classes() ? told.estimates.cols() == k && static_cast<Index>(told.label.size()) == nodes
                         : told.estimates.cols() == 1 && told.label.empty(),
       "classes and estimates do not fit together");
  for (const int each : told.label) need(each >= 0 && each < k, "a node predicts a class that there is not");
}

std::string outline(const Tallies& told, const std::vector<std::string>& classes, Index most,
                    const std::function<std::pair<Index, Index>(Index)>& children,
                    const std::function<std::string(Index, bool)>& question) {
  struct Line {
    Index node;
    int depth;
    std::string text;
  };
  std::string out = classes.empty() ? "split, weight, squared error, mean; * a leaf\n\n"
                                    : "split, weight, wrong, class (shares of the classes); * a leaf\n\n";
  std::vector<Line> waiting{{0, 0, "root"}};
  for (Index written = 0; !waiting.empty(); ++written) {
    if (written == most) return out + "  ...\n";
    const Line line = std::move(waiting.back());
    waiting.pop_back();
    std::string says;
    if (classes.empty()) {
      says = format_significant(told.estimates(line.node, 0), 5);
    } else {
      for (const double share : told.estimates.row(line.node))
        says += (says.empty() ? "" : " ") + format_fixed(share, 3);
      says = fmt::format("{} ({})", classes[at(told.label[at(line.node)])], says);
    }
    const auto [left, right] = children(line.node);
    out += fmt::format("{}{}  {}  {}  {}{}\n", std::string(at(2 * line.depth), ' '), line.text,
                       format_significant(told.weight(line.node), 5), format_significant(told.loss(line.node), 5), says,
                       left == right ? " *" : "");
    if (left == right) continue;
    waiting.push_back({right, line.depth + 1, question(line.node, false)});
    waiting.push_back({left, line.depth + 1, question(line.node, true)});
  }
  return out;
}

}  // namespace lemma
