// tests/contract/data.hpp: data that any method of a task can be fitted to, good and bad.
#pragma once
#include <cmath>
#include <functional>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/model/train.hpp>
#include <limits>
#include <string>
#include <vector>

namespace lemma::contract {

/// A table and what to do with it.
struct Example {
  Table table;
  std::string formula;
};

inline constexpr Index kColumns = 4;
inline constexpr const char* kFeatures = "x1 + x2 + x3 + x4";

inline std::string formula_for(const MethodAbout& about, const std::string& features = kFeatures) {
  if (!about.uses_response) return "~ " + features;
  if (about.task != Task::classification) return "y ~ " + features;
  return (about.most_classes == 2 ? "side ~ " : "class ~ ") + features;
}

/// Three Gaussian groups 6 apart with correlated columns, a response that is linear in them up to noise, two classes
/// (side) that overlap, a factor g, and whole weights from 0 to 3.
inline Table groups(Index n, std::uint64_t seed = 11) {
  RandomStream stream(seed);
  std::vector<std::vector<double>> x(kColumns);
  std::vector<double> y, w;
  std::vector<std::string> group, g, side;
  RandomStream chance(seed + 1000);
  const std::vector<std::string> names{"blue", "green", "red"}, levels{"p", "q"};
  for (Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i % 3);
    const double common = stream.normal();
    double sum = 0;
    for (std::size_t j = 0; j < kColumns; ++j) {
      const double centre = j == k ? 6.0 : static_cast<double>(j);
      x[j].push_back(centre + 0.5 * common + (1 + 0.25 * static_cast<double>(j)) * stream.normal());
      sum += (static_cast<double>(j) - 1.5) * x[j].back();
    }
    y.push_back(3 + sum + 0.7 * stream.normal());
    w.push_back(static_cast<double>((i * 7 + i / 3) % 4));
    group.push_back(names[k]);
    side.push_back(sum + 4 * chance.normal() > 0 ? "right" : "left");
    g.push_back(levels[static_cast<std::size_t>(stream.below(2))]);
  }
  Table table({}, "toy");
  for (std::size_t j = 0; j < kColumns; ++j) table.add(numeric("x" + std::to_string(j + 1), x[j]));
  table.add(numeric("y", y));
  table.add(categorical("class", group));
  table.add(categorical("g", g));
  table.add(categorical("side", side));
  table.add(numeric("w", w));
  return table;
}

inline Example good(const Method& method, Index n = 240) { return {groups(n), formula_for(method.about())}; }

/// Several blocks of a scan; a method that gathers its rows gets fewer.
inline Example large(const Method& method) {
  return good(method, method.about().scans ? 2 * block_rows(kColumns) + 1234 : 600);
}

/// The same table with each number of the columns named changed by `change(value, row)`.
inline Table changed(const Table& table, const std::vector<std::string>& columns,
                     const std::function<double(double, Index)>& change) {
  Table out({}, table.source());
  for (Column column : table.all()) {
    if (std::find(columns.begin(), columns.end(), column.name) != columns.end()) {
      auto& values = std::get<Numbers>(column.data).values;
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = change(values[i], static_cast<Index>(i));
    }
    out.add(std::move(column));
  }
  return out;
}

/// One of the built-in data sets for each task.
inline Example built_in(const Method& method) {
  const auto& about = method.about();
  if (!about.uses_response) return {dataset("iris"), "~ . - species"};
  if (about.most_classes == 2) return {dataset("crabs"), "sex ~ log(FL) + log(RW) + log(CL) + log(CW) + log(BD)"};
  if (about.task == Task::classification)
    return {dataset("crabs"), "sp:sex ~ log(FL) + log(RW) + log(CL) + log(CW) + log(BD)"};
  return {dataset("boston"), "medv ~ ."};
}

/// A method of the catalog, which owns it.
inline std::shared_ptr<const Method> shared(const Method& method) { return {std::shared_ptr<const Method>(), &method}; }

inline TrainedModel train_on(const Method& method, const Example& example, const TrainOptions& options = {},
                             const Value& params = Value::object()) {
  return train(shared(method), params, formula(example.formula), MemoryTableStream(example.table), options);
}

inline TrainOptions with_threads(int threads) {
  TrainOptions options;
  options.fit.threads = threads;
  return options;
}

}  // namespace lemma::contract
