// lemma/tree/tree/text.cpp: a tree in words: as R prints it, drawn with lines, as rules.
#include <fmt/core.h>

#include <lemma/core/text.hpp>
#include <lemma/tree/tree/parts.hpp>

namespace lemma::tree {
namespace {

constexpr Index kMostNodes = 127;  // written; of a larger tree the top

/// The children of a node in the order in which they are written: the lower mean first.
std::pair<Index, Index> children(const TreeModel& model, Index node) {
  const Index left = model.nodes.left(node), right = model.nodes.right(node);
  return model.details.turned[at(node)] != 0 ? std::pair{right, left} : std::pair{left, right};
}

struct Line {
  Index node;
  int depth;
  std::string question;
  bool last = false, shortened = false;  // the last of its parent; what is below it is not written
};

/// Nodes in the order in which they are written, down to a depth at which there are not too many.
std::vector<Line> lines_of(const TreeModel& model) {
  std::vector<Index> at_depth;
  std::vector<int> depth(at(model.nodes.size()), 0);
  for (Index i = 0; i < model.nodes.size(); ++i) {
    if (at_depth.size() <= at(depth[at(i)])) at_depth.resize(at(depth[at(i)]) + 1, 0);
    ++at_depth[at(depth[at(i)])];
    if (model.nodes.is_leaf(i)) continue;
    depth[at(model.nodes.left(i))] = depth[at(model.nodes.right(i))] = depth[at(i)] + 1;
  }
  std::size_t most = 0;
  for (Index count = at_depth[0]; most + 1 < at_depth.size(); count += at_depth[++most])
    if (count + at_depth[most + 1] > kMostNodes) break;
  std::vector<Line> out;
  std::vector<Line> waiting{{0, 0, "root", true}};
  while (!waiting.empty()) {
    out.push_back(std::move(waiting.back()));
    waiting.pop_back();
    Line& line = out.back();
    if (model.nodes.is_leaf(line.node)) continue;
    line.shortened = at(line.depth) == most;
    if (line.shortened) continue;
    const auto [first, second] = children(model, line.node);
    const Index node = line.node, left = model.nodes.left(node);
    const int below = line.depth + 1;
    waiting.push_back({second, below, question(model, node, second == left), true});
    waiting.push_back({first, below, question(model, node, first == left)});
  }
  return out;
}

std::vector<double> of(const std::vector<Line>& lines, const Vector& numbers) {
  std::vector<double> out;
  for (const Line& line : lines) out.push_back(numbers(line.node));
  return out;
}

std::string trimmed(std::string text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin);
}

/// "No (0.66000000 0.34000000)" of each line, or the number predicted.
std::vector<std::string> predictions(const TreeModel& model, const std::vector<Line>& lines) {
  if (!model.of_classes()) {
    std::vector<std::string> out = format_column(of(lines, model.estimates.col(0)));
    for (auto& each : out) each = trimmed(std::move(each));
    return out;
  }
  std::vector<double> all;
  for (const Line& line : lines)
    for (const double p : model.estimates.row(line.node)) all.push_back(p);
  const auto formatted = format_column(all);
  std::vector<std::string> out;
  std::size_t next = 0;
  for (const Line& line : lines) {
    std::string probabilities;
    for (Index k = 0; k < model.class_count(); ++k) probabilities += (k > 0 ? " " : "") + formatted[next++];
    out.push_back(fmt::format("{} ({})", model.classes[at(model.label[at(line.node)])], probabilities));
  }
  return out;
}

/// As print.rpart.
std::string as_text(const TreeModel& model, const std::vector<Line>& lines) {
  std::string out =
      fmt::format("n= {}\n\nnode), split, n, {}\n      * denotes terminal node\n\n",
                  format_significant(model.weight(0)), model.of_classes() ? "loss, yval, (yprob)" : "deviance, yval");
  int width = 0;
  for (const Line& line : lines) width = std::max(width, display_width(fmt::format("{:.0f}", model.number(line.node))));
  const auto said = predictions(model, lines);
  const auto loss = format_column(of(lines, model.loss));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const char* end = model.nodes.is_leaf(line.node) ? " *" : line.shortened ? " ..." : "";
    out += fmt::format("{}{}) {} {} {} {}{}\n", std::string(at(2 * line.depth), ' '),
                       pad_left(fmt::format("{:.0f}", model.number(line.node)), width), line.question,
                       format_significant(model.weight(line.node)), loss[i], said[i], end);
  }
  return out;
}

std::string as_lines(const TreeModel& model, const std::vector<Line>& lines) {
  std::string out;
  std::vector<bool> ended;  // of each depth: no branch follows
  const auto said = predictions(model, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    ended.resize(at(line.depth) + 1);
    ended[at(line.depth)] = line.last;
    std::string stem;
    for (int d = 1; d < line.depth; ++d) stem += ended[at(d)] ? "   " : "│  ";
    if (line.depth > 0) stem += line.last ? "└─ " : "├─ ";
    const bool leaf = model.nodes.is_leaf(line.node);
    out += fmt::format(
        "{}{}{}{}\n", stem, line.question,
        leaf || line.depth == 0 ? fmt::format(": {}, n {}", said[i], format_significant(model.weight(line.node))) : "",
        line.shortened ? " ..." : "");
  }
  return out;
}

std::string as_rules(const TreeModel& model, const std::vector<Line>& lines) {
  std::string out;
  std::vector<std::string> asked;
  const auto said = predictions(model, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    asked.resize(at(line.depth));
    if (line.depth > 0) asked.back() = line.question;
    if (!model.nodes.is_leaf(line.node) && !line.shortened) continue;
    std::string all;
    for (const auto& each : asked) all += (all.empty() ? "" : " and ") + each;
    out += wrap(fmt::format("{:.0f}: {}{}then {}, n {}", model.number(line.node), all.empty() ? "" : "if " + all,
                            all.empty() ? "" : " ", said[i], format_significant(model.weight(line.node))),
                100, 4);
    if (!out.ends_with('\n')) out += '\n';
  }
  return out;
}

std::string as_table(const TreeModel& model) {
  const Matrix& table = model.cp_table;
  const auto column = [&](Index j) {
    const Vector all = table.col(j);
    return std::vector<double>(all.begin(), all.end());
  };
  TextTable out;
  out.numbers("CP", column(0), 5).numbers("nsplit", column(1), 5).numbers("rel error", column(2), 5);
  if (table.cols() == 5) out.numbers("xerror", column(3), 5).numbers("xstd", column(4), 5);
  return out.str();
}

std::string as_importance(const TreeModel& model) {
  std::vector<Index> order;
  for (Index j = 0; j < model.width(); ++j)
    if (model.importance(j) > 0) order.push_back(j);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return model.importance(a) > model.importance(b); });
  if (order.empty()) return "";
  if (order.size() > 20) order.resize(20);
  std::vector<std::string> names;
  std::vector<double> numbers;
  for (const Index j : order) {
    names.push_back(model.features[at(j)]);
    numbers.push_back(model.importance(j));
  }
  return "\nImportance (gains of a column's splits, and of its surrogates by their agreement):\n" +
         TextTable().words("column", names).numbers("importance", numbers, 4).str();
}

}  // namespace

std::string question(const TreeModel& model, Index node, bool left) {
  const TreeNode& asks = model.nodes[node];
  const std::string& name = model.features[asks.column];
  if (!asks.categories) return fmt::format("{}{}{}", name, left ? "< " : ">=", format_significant(asks.threshold));
  std::size_t first = 0;
  for (std::size_t j = 0; j < asks.column; ++j) first += static_cast<std::size_t>(model.nodes.levels[j]);
  std::string all;
  int more = 0;
  for (int code = 0; code < model.nodes.levels[asks.column]; ++code) {
    if (!is_in(model.details.known, asks.threshold, code) || is_in(model.nodes.sets, asks.threshold, code) != left)
      continue;
    if (all.size() > 60) ++more;
    else all += (all.empty() ? "" : ",") + model.levels[first + static_cast<std::size_t>(code)];
  }
  return fmt::format("{}={}{}", name, all, more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string written(const TreeModel& model) {
  const auto lines = lines_of(model);
  std::string out = model.spec.form == TreeForm::text    ? as_text(model, lines)
                    : model.spec.form == TreeForm::lines ? as_lines(model, lines)
                                                         : as_rules(model, lines);
  if (static_cast<Index>(lines.size()) < model.nodes.size())
    out += fmt::format("... {} in all, of which {} are written\n", count_of(model.nodes.size(), "node"), lines.size());
  const double unit = model.loss(0), n = model.weight(0);
  out += fmt::format("\nRoot node error: {}/{} = {}\n\n", format_significant(unit, 5), format_significant(n),
                     format_significant(unit / n, 5));
  return out + as_table(model) + as_importance(model);
}

}  // namespace lemma::tree
