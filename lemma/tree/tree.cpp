// lemma/tree/tree.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/tree/shared/shap.hpp>
#include <lemma/tree/tree/parts.hpp>

namespace lemma {
namespace {

using namespace tree;

void check_response(const Tree& spec, const RankedColumns& data, const Rows& rows) {
  const bool classes = data.classes > 0;
  if (spec.criterion && is_of_classes(*spec.criterion) != classes)
    throw Error(fmt::format("tree: the criterion '{}' is for {}, and '{}' holds {}", name_of(*spec.criterion),
                            classes ? "numbers" : "classes", rows.target, classes ? "classes" : "numbers"));
  if (!classes && (!spec.loss.empty() || !std::holds_alternative<Prior>(spec.prior) ||
                   std::get<Prior>(spec.prior) != Prior::proportions))
    throw Error(fmt::format("tree: prior and loss are for classes, and '{}' holds numbers", rows.target));
  if (classes) check_prior(Tree::name, spec.prior, rows.classes);
  const auto k = static_cast<std::size_t>(data.classes);
  if (!spec.loss.empty() && spec.loss.size() != k * k)
    throw Error(fmt::format("tree: loss has {} numbers; {} classes need {}, row by row", spec.loss.size(), k, k * k));
  for (std::size_t i = 0; !spec.loss.empty() && i < k; ++i)
    if (spec.loss[i * k + i] != 0)
      throw Error(fmt::format("tree: loss: taking class '{}' for itself costs {}; it must cost 0", rows.classes[i],
                              spec.loss[i * k + i]));
  if (!spec.monotone.empty() && static_cast<Index>(spec.monotone.size()) != data.width())
    throw Error(
        fmt::format("tree: monotone has {} numbers, and there are {} columns", spec.monotone.size(), data.width()));
  for (std::size_t j = 0; j < spec.monotone.size(); ++j)
    if (spec.monotone[j] != 0 && data.levels[j] > 0)
      throw Error(fmt::format("tree: monotone: '{}' holds categories, which have no order", rows.features[j]));
  if (!spec.monotone.empty() && classes && k != 2)
    throw Error(fmt::format("tree: monotone columns are for numbers and two classes, and there are {}", k));
  if (spec.criterion == TreeCriterion::poisson)
    for (std::size_t i = 0; i < data.y.size(); ++i)
      if (data.y[i] < 0)
        throw Error(fmt::format("tree: '{}' is {} in row {}; the criterion poisson is for counts", rows.target,
                                data.y[i], data.source[i] + 1));
}

/// Choices that follow from the response.
Tree chosen(const Tree& spec, const RankedColumns& data) {
  Tree out = spec;
  if (!out.criterion) out.criterion = data.classes > 0 ? TreeCriterion::gini : TreeCriterion::variance;
  if (!out.min_leaf) out.min_leaf = std::max(1, (spec.min_split + 1) / 3);  // rounded
  return out;
}

void check_range(const Grown& root, const Tree& spec, const Rows& rows) {
  if (!std::isfinite(root.risk))
    throw Error(fmt::format(
        "tree: the values of '{}' are so large that their squares are not finite; divide them by a constant",
        rows.target));
  if (*spec.criterion == TreeCriterion::variance && root.least < root.most && root.risk < 1e-280)
    throw Error(fmt::format(
        "tree: the values of '{}' lie so close together that their squares vanish; multiply them by a constant",
        rows.target));
}

std::vector<std::string> warnings_of(const RankedColumns& data, const Rows& rows, const Grown& root) {
  std::vector<std::string> out;
  std::vector<std::string> empty;
  for (Index j = 0; j < data.width(); ++j)
    if (data.order[at(j)].front().is_missing()) empty.push_back("'" + rows.features[at(j)] + "'");
  if (!empty.empty())
    out.push_back(fmt::format("{} {} no value in any row and cannot be split", join_words(empty),
                              empty.size() == 1 ? "has" : "have"));
  if (root.risk == 0) out.push_back(fmt::format("'{}' is the same in all rows: the tree is one leaf", rows.target));
  return out;
}

/// The row of the table whose tree is wanted.
std::size_t row_of(const std::vector<CpRow>& table, TreePruning rule) {
  std::size_t least = 0;
  for (std::size_t i = 1; i < table.size(); ++i)
    if (table[i].cross_error < table[least].cross_error - 1e-12) least = i;
  if (rule == TreePruning::least) return least;
  const double most = table[least].cross_error + table[least].deviation;
  for (std::size_t i = 0; i < least; ++i)
    if (table[i].cross_error <= most) return i;
  return least;
}

}  // namespace

void Tree::check() const {
  check_prior(name, prior);
  for (const double each : monotone)
    if (each != std::round(each))
      throw Error(fmt::format("tree: monotone is -1, 0 or 1 for each column, not {}", each));
  const bool by_rows = prior.index() == 0 && std::get<0>(prior) == Prior::proportions;
  if (!monotone.empty() && (!by_rows || !loss.empty()))
    throw Error("tree: monotone columns are not taken together with a prior or a loss");
  if ((prune == TreePruning::validation) != (validation > 0))
    throw Error(prune == TreePruning::validation
                    ? "tree: prune by validation needs rows kept aside: validation above 0, such as 0.3"
                    : "tree: validation keeps rows aside to prune by: say --prune validation too");
  if ((prune == TreePruning::least || prune == TreePruning::one_se) && folds < 2)
    throw Error(fmt::format("tree: prune by cross-validated errors needs folds: at least 2, not {}", folds));
  if (folds == 1) throw Error("tree: folds must be 0 (none) or at least 2, not 1");
  if (leaves && missing == TreeMissing::fractions)
    throw Error("tree: leaves is not taken together with missing values by fractions");
}

namespace {

/// All but the certificate: what the columns in order take of memory is given back before that is made.
TreeModel uncertified(const Valid<Tree>& asked, const Rows& rows, const FitOptions& options,
                      const Execution& execution) {
  RankedColumns data = ranked_columns(Tree::name, rows, execution.part(0, 0.1, "sorting columns"), KeepValues::no);
  check_response(*asked, data, rows);
  const Tree spec = chosen(*asked, data);
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> x(data.x, rows.count(), data.width(),
                                                            Eigen::OuterStride<>(data.stride));
  const auto in = kept_in(data, spec.validation, options.seed);

  Grown root;
  std::vector<RankedRow> all;
  for (const RankedRow& each : data.order[0])
    if (in.empty() || in[each.row] != 0) all.push_back(each);
  SplitGround ground{&data, data.weight, {}};
  const Plan plain = plan_of(spec, std::vector<double>(at(data.classes), 1.0), 1);
  add_up(root, all, ground, plain);
  Plan plan = plan_of(spec, root.totals.counts, root.totals.mean);
  root = {};
  add_up(root, all, ground, plan);
  std::vector<RankedRow>().swap(all);
  check_range(root, spec, rows);
  plan.alpha = spec.cp < 0 ? -1 : spec.cp * root.risk;
  const auto warnings = warnings_of(data, rows, root);

  const Execution growing = execution.part(0.1, 0.5, "growing");
  const bool once = in.empty() && spec.folds == 0;
  const RowGroups groups = spec.folds > 0 ? row_groups(data, options.seed) : RowGroups();
  std::optional<PackedOrder> order;
  if (!once) order.emplace(data, growing.part(0, 0.1));
  GrownTree grown = once ? grow_in_place(data, plan, growing) : grow(data, *order, in, plan, growing.part(0.1, 1));
  if (spec.prune == TreePruning::validation) grown = pruned_by(grown, data, in, x, plan);
  find_complexities(grown);
  if (spec.cp >= 0) { grown = pruned(grown, plan.alpha); }
  std::vector<CpRow> table = cp_table(grown, spec.cp);
  if (spec.folds > 0)
    cross_validate(table, data, *order, in, x, grown, plan, spec.folds, groups,
                   execution.part(0.5, 0.9, "cross-validation"));
  if (spec.prune == TreePruning::least || spec.prune == TreePruning::one_se) {
    table.resize(row_of(table, spec.prune) + 1);
    grown = pruned(grown, table.back().cp * root.risk);
  }

  TreeModel model = model_of(spec, grown, plan, data.levels);
  model.cp_table = matrix_of(table);
  model.features = rows.features;
  for (const auto& levels : rows.levels) model.levels.insert(model.levels.end(), levels.begin(), levels.end());
  model.classes = rows.classes;
  if (spec.validation > 0) model.seed = std::to_string(options.seed);
  model.warnings = warnings;
  return model;
}

}  // namespace

TreeModel fit(const Valid<Tree>& asked, const Rows& rows, const FitOptions& options) {
  require(rows.width() > 0, "tree: there are no columns to split; the formula names none");
  const Execution execution = options.execution();
  TreeModel model = uncertified(asked, rows, options, execution);
  model.certificate = certify(model, rows, execution.part(0.9, 1, "certificate"));
  return model;
}

// ---- What it says of rows ----

namespace {

/// What the leaves say that each row reaches.
Matrix said(const TreeModel& model, const MatrixView& x) {
  require_width(model, x.cols());
  const Way way{model};
  Matrix out(x.rows(), model.estimates.cols());
  const bool fractions = model.spec.missing == TreeMissing::fractions;
  for (Index i = 0; i < x.rows(); ++i) {
    const double* row = x.row(i).data();
    if (!fractions) {
      out.row(i) = model.estimates.row(way.leaf(row));
      continue;
    }
    out.row(i).setZero();
    way.each_leaf(row, [&](Index leaf, double share) { out.row(i) += share * model.estimates.row(leaf); });
  }
  return out;
}

}  // namespace

Vector TreeModel::predict(const MatrixView& x) const {
  require(!of_classes(), "tree: this model tells classes, not numbers: classify() gives them");
  return said(*this, x).col(0);
}

Matrix TreeModel::probabilities(const MatrixView& x) const {
  require(of_classes(), "tree: this model predicts numbers, not classes: predict() gives them");
  return said(*this, x);
}

Labels TreeModel::classify(const MatrixView& x) const {
  require(of_classes(), "tree: this model predicts numbers, not classes: predict() gives them");
  require_width(*this, x.cols());
  Labels out;
  const Way way{*this};
  if (spec.missing != TreeMissing::fractions) {
    for (Index i = 0; i < x.rows(); ++i) out.push_back(label[at(way.leaf(x.row(i).data()))]);
    return out;
  }
  const std::vector<double> root(counts.row(0).begin(), counts.row(0).end());
  const Plan plan = plan_of(spec, root, 1);
  const Matrix p = said(*this, x);
  for (Index i = 0; i < p.rows(); ++i) out.push_back(class_of(plan, p.row(i)));
  return out;
}

Vector TreeModel::leaf(const MatrixView& x) const {
  require_width(*this, x.cols());
  Vector out(x.rows());
  const Way way{*this};
  for (Index i = 0; i < x.rows(); ++i) out(i) = number(way.leaf(x.row(i).data()));
  return out;
}

Strings TreeModel::path(const MatrixView& x) const {
  require_width(*this, x.cols());
  Strings out;
  const Way way{*this};
  for (Index i = 0; i < x.rows(); ++i) {
    std::string text;
    Index node = 0;
    while (!nodes.is_leaf(node)) {
      const Index next = way.next(node, x.row(i).data());
      const bool missing = way.is_missing(node, x(i, nodes[node].column));
      text += fmt::format("{}{}{}", text.empty() ? "" : " & ", question(*this, node, next == nodes.left(node)),
                          missing ? " (missing)" : "");
      node = next;
    }
    out.push_back(fmt::format("{}{}-> {}", text, text.empty() ? "" : " ", number(node)));
  }
  return out;
}

namespace {

/// A column for each output, a row for each leaf by its number; the last column is the weight of its rows.
Matrix leaves_of(const TreeModel& model) {
  Matrix out(model.nodes.leaves(), model.estimates.cols() + 1);
  for (Index i = 0; i < model.nodes.size(); ++i)
    if (model.nodes.is_leaf(i)) out.row(model.nodes[i].column) << model.estimates.row(i), model.weight(i);
  return out;
}

}  // namespace

Matrix TreeModel::shap(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Way way{*this};
  const Matrix leaves = leaves_of(*this);
  Matrix out = Matrix::Zero(x.rows(), estimates.cols() * width());
  for (Index k = 0; k < estimates.cols(); ++k) {
    const Vector values = leaves.col(k), cover = leaves.rightCols(1);
    const TreeShap explained(nodes, values, cover);
    for (Index i = 0; i < x.rows(); ++i)
      explained.add(
          0, [&](Index node) { return way.left_share(node, x.row(i).data()); }, &out(i, k * width()));
  }
  return out;
}

Matrix TreeModel::shap_base(const MatrixView& x) const {
  const Matrix leaves = leaves_of(*this);
  const Vector cover = leaves.rightCols(1);
  return (cover.transpose() * leaves.leftCols(estimates.cols()) / cover.sum()).replicate(x.rows(), 1);
}

TreeModel TreeModel::prune(const Valid<TreePrune>& to) const {
  std::vector<bool> keep(at(nodes.size()), true);
  const double most = to->cp.value_or(spec.cp);
  if (most < spec.cp)
    throw Error(fmt::format(
        "prune: the tree was grown with cp {}, and nothing is known of splits below it; fit it with --cp {}", spec.cp,
        most));
  for (Index i = 0; to->cp && i < nodes.size(); ++i) keep[at(i)] = complexity(i) > most * (1 + 1e-12);
  TreeModel out = cut(*this, keep);
  if (to->form) out.spec.form = *to->form;
  if (out.certificate.holds()) {  // the splits that are left were among those looked at
    out.certificate.iterations = out.nodes.leaves() - 1;
    out.certificate.message =
        claim(out.nodes.leaves() - 1, out.certificate.value, out.certificate.tolerance, cps_apart(*this));
  }
  if (!to->cp) return out;
  out.spec.cp = most;
  Index rows = 0;
  while (rows < cp_table.rows() && cp_table(rows, 0) > most * (1 + 1e-12)) ++rows;
  out.cp_table = cp_table.topRows(std::min(rows + 1, cp_table.rows()));
  out.cp_table(out.cp_table.rows() - 1, 0) = most;
  return out;
}

std::string TreeModel::summary(const Names&) const { return written(*this); }

template const Method& method_of<Tree>();

}  // namespace lemma
