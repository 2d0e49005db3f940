// lemma/report/alone.cpp: what each column says of the response by itself.
#include <algorithm>
#include <cmath>
#include <lemma/core/hearing.hpp>
#include <lemma/data/split.hpp>
#include <lemma/report/findings.hpp>
#include <numeric>

namespace lemma::reporting {
namespace {

/// Each row's group: a level, or one of up to 50 runs of about equal size in the order of the numbers; equal numbers stay together.
/// Missing values are a group of their own.
std::vector<int> groups_of(const Column& column, const std::vector<Index>& rows) {
  std::vector<int> out(rows.size(), 0);
  if (column.type() == ColumnType::categorical) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[i] = column.categories().codes[static_cast<std::size_t>(rows[i])] + 1;
    return out;
  }
  const auto& values = column.numbers().values;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!std::isnan(values[static_cast<std::size_t>(rows[i])])) order.push_back(i);
  const auto value = [&](std::size_t i) { return values[static_cast<std::size_t>(rows[i])]; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return value(a) != value(b) ? value(a) < value(b) : a < b; });
  const std::size_t most = std::clamp<std::size_t>(order.size() / 20, 2, 50);
  int group = 1;
  for (std::size_t k = 0, begun = 0; k < order.size(); ++k) {
    const bool full = (k - begun) * most >= order.size();
    if (full && value(order[k]) != value(order[k - 1])) ++group, begun = k;
    out[order[k]] = group;
  }
  return out;
}

/// Right answers, or the squared error left and that of the mean, over both halves.
struct Held {
  double right = 0, rows = 0, left = 0, all = 0;
};

/// Learns from the rows of the other half.
Held held(const std::vector<int>& group, const std::vector<int>& half, const DesignData& data, Index classes) {
  const int groups = group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
  const Index width = classes > 0 ? classes : 2;  // counts of classes; of numbers their sum and their count
  Held out;
  for (int judged = 0; judged < 2; ++judged) {
    Matrix told = Matrix::Zero(groups + 1, width);  // the last row: all groups together
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (half[i] == judged) continue;
      for (const Index g : {static_cast<Index>(group[i]), static_cast<Index>(groups)})
        if (classes > 0) told(g, data.label[i]) += 1;
        else told(g, 0) += data.y[i], told(g, 1) += 1;
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (half[i] != judged) continue;
      Index from = group[i];
      if (told.row(from).tail(classes > 0 ? width : 1).sum() == 0) from = groups;  // never met
      out.rows += 1;
      if (classes > 0) {
        Index said = 0;
        told.row(from).maxCoeff(&said);
        out.right += said == data.label[i];
      } else {
        const double mean = told(groups, 0) / told(groups, 1);
        out.left += std::pow(data.y[i] - told(from, 0) / told(from, 1), 2), out.all += std::pow(data.y[i] - mean, 2);
      }
    }
  }
  return out;
}

}  // namespace

AloneScores alone(const Table& table, const Design& design, const DesignData& data, std::uint64_t seed) {
  AloneScores out;
  const auto n = static_cast<std::size_t>(data.x.rows());
  const auto classes = static_cast<Index>(design.classes().size());
  if (n < 20 || (classes > 0 ? data.label.size() : data.y.size()) != n) return out;
  std::vector<Index> rows = data.kept;
  if (rows.empty()) rows.resize(n), std::iota(rows.begin(), rows.end(), Index{0});
  const std::vector<int> half = folds(static_cast<Index>(n), 2, classes > 0 ? data.label : std::vector<int>{}, seed);
  const auto score = [&](const std::vector<int>& group) {
    const Held found = held(group, half, data, classes);
    return classes > 0 ? found.right / found.rows : found.all > 0 ? 1 - found.left / found.all : 0;
  };
  out.baseline = score(std::vector<int>(n, 0));
  for (const auto& name : design.columns()) {
    ask();
    const Column* column = table.find(name);
    if (column && column->type() != ColumnType::text) out.columns.push_back({name, score(groups_of(*column, rows))});
  }
  std::stable_sort(out.columns.begin(), out.columns.end(),
                   [](const Alone& a, const Alone& b) { return a.score > b.score; });
  return out;
}

}  // namespace lemma::reporting
