// lemma/tree/tree/file.cpp: a tree in a file, and what must hold of it before a row enters.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/tree/tree/parts.hpp>

namespace lemma {
namespace {

template <class T>
Value array_of(const std::vector<T>& numbers) {
  return Value::Array{{static_cast<Index>(numbers.size())}, {numbers.begin(), numbers.end()}};
}

bool fits(const std::vector<std::uint32_t>& sets, double begin, int levels) {
  const double words = (levels + 31) / 32;
  return begin >= 0 && begin == std::floor(begin) && begin + words <= static_cast<double>(sets.size());
}

void check_surrogates(const TreeModel& model) {
  const TreeDetails& d = model.details;
  const std::size_t count = d.node.size();
  require(d.column.size() == count && d.threshold.size() == count && d.less_left.size() == count &&
              d.agreement.size() == count && d.adjusted.size() == count,
          "tree: the surrogate splits do not fit together");
  require(d.sets.size() == d.sets_known.size(), "tree: the sets of the surrogate splits do not fit together");
  require(std::is_sorted(d.node.begin(), d.node.end()), "tree: the surrogate splits are not in the order of the nodes");
  for (std::size_t s = 0; s < count; ++s) {
    require(d.node[s] < model.nodes.size() && !model.nodes.is_leaf(d.node[s]),
            "tree: a surrogate split is of no split");
    require(d.column[s] < model.width() && d.column[s] != static_cast<std::int32_t>(model.nodes[d.node[s]].column),
            "tree: a surrogate split asks a column that it cannot");
    const int levels = model.nodes.levels[static_cast<std::size_t>(d.column[s])];
    require(levels > 0 ? fits(d.sets, d.threshold[s], levels) : std::isfinite(d.threshold[s]),
            "tree: a surrogate split has no threshold");
    require(std::isfinite(d.agreement[s]) && std::isfinite(d.adjusted[s]),
            "tree: a surrogate split agrees with nothing");
  }
}

}  // namespace

void TreeModel::check() const {
  const Index n = nodes.size(), k = counts.cols();
  require(spec.criterion && spec.min_leaf, "tree: its criterion or min_leaf is not chosen");
  nodes.check(Tree::name);
  require(nodes.trees() == 1, "tree: there is more than one");
  require(number.size() == n && weight.size() == n && counts.rows() == n && estimates.rows() == n && loss.size() == n &&
              gain.size() == n && complexity.size() == n && static_cast<Index>(details.turned.size()) == n,
          "tree: what is told of the nodes does not fit together");
  require(details.known.size() == nodes.sets.size(), "tree: the sets of the nodes do not fit together");
  require(weight.allFinite() && (weight.array() > 0).all() && counts.allFinite() && estimates.allFinite() &&
              loss.allFinite() && gain.allFinite() && complexity.allFinite() && cp_table.allFinite(),
          "tree: a number of a node is not usable");
  require(number == tree::numbers_of(nodes, details.turned), "tree: the nodes are not numbered as they should be");
  require(of_classes() ? k > 0 && estimates.cols() == k && static_cast<Index>(label.size()) == n
                       : k == 0 && estimates.cols() == 1 && label.empty(),
          "tree: classes and estimates do not fit together");
  for (const int each : label) require(each >= 0 && each < k, "tree: a node predicts a class that there is not");
  require(importance.size() == width() && importance.allFinite(), "tree: the importance is not that of the columns");
  require(cp_table.rows() > 0 && (cp_table.cols() == 3 || cp_table.cols() == 5), "tree: the table of cp is not one");
  require(static_cast<Index>(features.size()) == width() && static_cast<Index>(classes.size()) == k,
          "tree: the names of columns or classes do not fit");
  Index names = 0;
  for (const int each : nodes.levels) names += each;
  require(static_cast<Index>(levels.size()) == names, "tree: the names of the categories do not fit");
  require(spec.monotone.empty() || static_cast<Index>(spec.monotone.size()) == width(),
          "tree: monotone does not fit the columns");
  if (of_classes()) {
    require(spec.loss.empty() || static_cast<Index>(spec.loss.size()) == k * k, "tree: loss does not fit the classes");
    check_prior(Tree::name, spec.prior, classes);
    require(spec.monotone.empty() || k == 2, "tree: monotone columns are for two classes");
  }
  const bool digits = std::all_of(seed.begin(), seed.end(), [](char c) { return c >= '0' && c <= '9'; });
  require(digits && seed.size() < 21 && seed.empty() == !(spec.validation > 0), "tree: the seed is not one");
  for (Index i = 0; i < n; ++i)
    require(!nodes.is_leaf(i) || (gain(i) == 0 && complexity(i) == 0), "tree: a leaf has the gain of a split");
  check_surrogates(*this);
}

Value Codec<TreeDetails>::write(const TreeDetails& d) {
  return Value::Object{{"turned", array_of(d.turned)},       {"known", array_of(d.known)},
                       {"node", array_of(d.node)},           {"column", array_of(d.column)},
                       {"threshold", array_of(d.threshold)}, {"less_left", array_of(d.less_left)},
                       {"agreement", array_of(d.agreement)}, {"adjusted", array_of(d.adjusted)},
                       {"sets", array_of(d.sets)},           {"sets_known", array_of(d.sets_known)}};
}

void Codec<TreeDetails>::read(TreeDetails& field, const Value& value, const std::string& where) {
  const auto whole = [&](std::string_view key, std::int64_t most) {
    return whole_numbers(value.at(key), where + "." + std::string(key), 0, most);
  };
  const auto numbers = [&](std::string_view key) {
    const Vector all = value.at(key).as_vector(where + "." + std::string(key));
    return std::vector<double>(all.begin(), all.end());
  };
  constexpr std::int64_t kInt = std::numeric_limits<std::int32_t>::max(),
                         kWord = std::numeric_limits<std::uint32_t>::max();
  const auto to = [](auto& out, const std::vector<std::int64_t>& all) { out.assign(all.begin(), all.end()); };
  to(field.turned, whole("turned", 1));
  to(field.known, whole("known", kWord));
  to(field.node, whole("node", kInt));
  to(field.column, whole("column", kInt));
  to(field.less_left, whole("less_left", 1));
  to(field.sets, whole("sets", kWord));
  to(field.sets_known, whole("sets_known", kWord));
  field.threshold = numbers("threshold");
  field.agreement = numbers("agreement");
  field.adjusted = numbers("adjusted");
}

}  // namespace lemma
