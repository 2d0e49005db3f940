// lemma/tree/boost.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/cut_short.hpp>
#include <lemma/tree/boost.hpp>
#include <lemma/tree/boost/linear.hpp>
#include <lemma/tree/boost/outcome.hpp>
#include <lemma/tree/boost/rounds.hpp>
#include <numeric>

namespace lemma {

void Boost::check() const {
  const bool by_quantile = loss == BoostLoss::absolute || loss == BoostLoss::quantile;
  if (by_quantile && (l1 > 0 || l2 > 0))
    throw Error(
        fmt::format("boost: with the loss {} a leaf's value is a quantile, which l1 and l2 do not shrink; leave them 0",
                    name_of(*loss)));
  if (top && *top + other > 1)
    throw Error(fmt::format("boost: top {} and other {} are more than all rows together", *top, other));
  if (top && share < 1) throw Error("boost: top and share both draw rows; give one of them");
  if (base == BoostBase::linear) {
    if (by_quantile) throw Error("boost: base linear makes steps of least squares; of quantiles take base tree");
    if (l1 > 0 || l2 > 0) throw Error("boost: base linear takes no l1 and l2; shrinkage and rounds do their work");
    if (share < 1 || columns < 1 || top) throw Error("boost: base linear takes all rows and columns in each round");
    if (!increasing.empty() || !decreasing.empty() || !interactions.empty())
      throw Error("boost: increasing, decreasing and interactions are about trees; leave them out with base linear");
  }
}

BoostModel fit(const Valid<Boost>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  BoostModel model;
  model.spec = *spec;
  model.spec.loss = boost::chosen_loss(*spec, rows);
  model.spec.check();
  model.classes = std::ssize(rows.classes);
  model.seed = model.draws() ? static_cast<std::int64_t>(options.seed & 0x1fffffffffffff) : 0;
  model.importance = Vector::Zero(rows.width());
  const auto outcome = boost::read_outcome(model.spec, model.loss(), rows, static_cast<std::uint64_t>(model.seed),
                                           execution.part(0, 0.02));
  model.start = boost::start_of(model.loss(), outcome);
  if (spec->base == BoostBase::tree) boost::add_trees(model, rows, outcome, execution.part(0.02, 0.9));
  else boost::add_lines(model, rows, outcome, execution.part(0.02, 0.9));
  if (model.spec.rounds < spec->rounds) model.certificate = cut_short(model.spec.rounds, spec->rounds, "rounds");
  else model.certificate = certify(model, rows, execution.part(0.9, 1, "checking"));
  return model;
}

boost::Loss BoostModel::loss() const { return boost::loss_of(spec, spec.loss.value_or(BoostLoss::squared), classes); }

void BoostModel::check() const {
  require(spec.loss.has_value(), "boost: the model does not say its loss");
  const bool of_classes = *spec.loss == BoostLoss::logistic || *spec.loss == BoostLoss::exponential;
  require(*spec.loss == BoostLoss::softmax ? classes >= 3 || classes == 2 : classes == (of_classes ? 2 : 0),
          "boost: its classes are not those of its loss");
  require(outputs() == loss().outputs(), "boost: its start is not that of its outputs");
  require(start.allFinite() && values.allFinite() && importance.allFinite() && std::isfinite(initial_loss),
          "boost: a number of it is not finite");
  require((seed != 0) <= draws() && seed >= 0, "boost: there is a seed, and nothing was drawn");
  require(used_rounds >= 1 && used_rounds <= spec.rounds && training_loss.size() == used_rounds &&
              training_loss.allFinite() && validation_loss.allFinite(),
          "boost: its rounds are not those it tells");
  check_stop();
  if (spec.base == BoostBase::linear) return check_lines();
  require(
      step_columns.empty() &&
          step_slopes.size() + step_intercepts.size() + centre.size() + coefficients.rows() + intercepts.size() == 0,
      "boost: there are lines and trees");
  trees.check("boost");
  require(trees.width() == width() && trees.trees() == used_rounds * outputs(),
          "boost: its trees are not those of its rounds");
  require(values.size() == trees.leaves() && cover.size() == values.size() && cover.allFinite() &&
              (cover.array() >= 0).all(),
          "boost: not every leaf has its value");
  std::vector<int> depth(at(trees.size()), 0);
  for (Index i = 0; i < trees.size(); ++i) {
    if (trees.is_leaf(i)) continue;
    require(depth[at(i)] < spec.depth, "boost: a tree is deeper than it may be");
    depth[at(trees.left(i))] = depth[at(trees.right(i))] = depth[at(i)] + 1;
  }
  for (Index t = 0; spec.leaves && t < trees.trees(); ++t) {
    const Index end = t + 1 < trees.trees() ? trees.roots[at(t + 1)] : trees.size();
    require((end - trees.roots[at(t)] + 1) / 2 <= *spec.leaves, "boost: a tree has more leaves than it may have");
  }
}

/// It ended after all rounds, when rows held out said so, or with a round of which nothing was gained.
void BoostModel::check_stop() const {
  const std::vector<double> held(validation_loss.begin(), validation_loss.end());
  require(held.empty() == (spec.validation == 0), "boost: losses of rows held out that there are not");
  if (!held.empty()) {
    require(boost::best_round(held) == used_rounds, "boost: another round had the least loss of the rows held out");
    require(std::ssize(held) <= spec.rounds, "boost: there are more rounds than it may have");
    const bool waited = boost::has_waited(held, spec.patience);
    require(waited || std::ssize(held) == spec.rounds || !spec.draws_each_round(),
            "boost: it ended before it should have");
    return;
  }
  if (used_rounds == spec.rounds) return;
  require(!spec.draws_each_round() && spec.base == BoostBase::tree, "boost: it ended before it should have");
  for (Index t = trees.trees() - outputs(); t < trees.trees(); ++t)
    require(t >= 0 && trees.is_leaf(trees.roots[at(t)]), "boost: it ended before it should have");
}

std::string BoostModel::summary(const Names& names) const {
  std::string out = fmt::format("loss {}, {} round{}, mean loss {:.4g} at first, {:.4g} at last\n", name_of(*spec.loss),
                                used_rounds, used_rounds == 1 ? "" : "s", initial_loss, training_loss(used_rounds - 1));
  if (validation_loss.size() > 0)
    out += fmt::format("mean loss of the rows held out {:.4g}, least of {} rounds\n", validation_loss(used_rounds - 1),
                       validation_loss.size());
  if (spec.base == BoostBase::tree)
    out += fmt::format("{} tree{}, {} leaves\n", trees.trees(), trees.trees() == 1 ? "" : "s", trees.leaves());
  std::vector<Index> order(at(width()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return importance(a) > importance(b); });
  std::vector<std::string> columns;
  std::vector<double> share, slope;
  const double sum = importance.sum();
  for (const Index j : order) {
    columns.push_back(names.features[at(j)]);
    share.push_back(sum > 0 ? importance(j) / sum : 0.0);
    if (coefficients.rows() == 1) slope.push_back(coefficients(0, j));
  }
  TextTable table;
  table.words("column", columns).numbers("share of gain", share);
  if (!slope.empty()) table.numbers("coefficient", slope);
  return out + "\n" + table.str();
}

template const Method& method_of<Boost>();

}  // namespace lemma
