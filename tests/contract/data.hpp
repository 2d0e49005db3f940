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

/// A method with one kind of response. `other`: of a method that takes numbers or classes the kind it is less often given.
struct Subject {
  Subject(const Method& of, bool second = false) : method(&of), other(second) {}  // implicit: a method as it is meant
  const Method* method;
  bool other;

  const MethodAbout& about() const { return method->about(); }
  /// Classes of a method for numbers; numbers of one for classes, which are proportions where it knows two classes alone.
  std::string response() const {
    if (!about().uses_response) return "";
    const bool classes = about().task == Task::classification;
    if (other) return !classes ? "side" : about().most_classes == 2 ? "share" : "y";
    return !classes ? "y" : about().most_classes == 2 ? "side" : "class";
  }
  std::string name() const {
    if (!other) return method->name();
    return method->name() + (about().task == Task::classification ? "_of_numbers" : "_of_classes");
  }
};
inline std::vector<Subject> subjects_of(const Method& method) {
  if (method.about().either_response) return {Subject(method), Subject(method, true)};
  return {Subject(method)};
}

/// A method for numbers that are not negative says so at the end of its objective.
inline bool refuses_negative(const MethodAbout& about) { return about.objective.ends_with("X >= 0"); }

/// "x1 + x2 + g" as "abs(x1) + abs(x2) + g" where the method must have it so.
inline std::string columns_for(const MethodAbout& about, const std::string& features) {
  if (!refuses_negative(about)) return features;
  std::string out;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const bool is_column = features[i] == 'x' && i + 1 < features.size();
    out += is_column ? std::string("abs(x") + features[++i] + ")" : std::string(1, features[i]);
  }
  return out;
}

inline std::string formula_for(const Subject& subject, const std::string& features = kFeatures) {
  const std::string response = subject.response(), columns = columns_for(subject.about(), features);
  return response.empty() ? "~ " + columns : response + " ~ " + columns;
}

inline std::string formula_for(const MethodAbout& about, const std::string& features = kFeatures) {
  if (!about.uses_response) return "~ " + columns_for(about, features);
  if (about.task != Task::classification) return "y ~ " + features;
  return (about.most_classes == 2 ? "side ~ " : "class ~ ") + features;
}

/// Three Gaussian groups 6 apart with correlated columns, a response that is linear in them up to noise, two classes
/// (side) that overlap and their probability (share), a factor g, and whole weights from 0 to 3.
inline Table groups(Index n, std::uint64_t seed = 11) {
  RandomStream stream(seed);
  std::vector<std::vector<double>> x(kColumns);
  std::vector<double> y, w, share;
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
    const double seen = sum + 4 * chance.normal();
    side.push_back(seen > 0 ? "right" : "left");
    share.push_back(1 / (1 + std::exp(-0.3 * seen)));
    g.push_back(levels[static_cast<std::size_t>(stream.below(2))]);
  }
  Table table({}, "toy");
  for (std::size_t j = 0; j < kColumns; ++j) table.add(numeric("x" + std::to_string(j + 1), x[j]));
  table.add(numeric("y", y));
  table.add(categorical("class", group));
  table.add(categorical("g", g));
  table.add(categorical("side", side));
  table.add(numeric("w", w));
  table.add(numeric("share", share));
  return table;
}

inline Example good(const Subject& subject, Index n = 240) { return {groups(n), formula_for(subject)}; }

/// Several blocks of a scan; a method that gathers its rows gets fewer.
inline Example large(const Subject& subject) {
  return good(subject, subject.about().scans ? 2 * block_rows(kColumns) + 1234 : 600);
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

/// One of the built-in data sets for each kind of response.
inline Example built_in(const Subject& subject) {
  const std::string response = subject.response(), logarithms = "log(FL) + log(RW) + log(CL) + log(CW) + log(BD)";
  if (response.empty()) return {dataset("iris"), "~ . - species"};
  if (response == "side") return {dataset("crabs"), "sex ~ " + logarithms};
  if (response == "class") return {dataset("crabs"), "sp:sex ~ " + logarithms};
  if (response == "y") return {dataset("boston"), "medv ~ ."};
  Table boston = dataset("boston");
  std::vector<double> share = boston.column("medv").numbers().values;
  for (double& each : share) each /= 50;
  boston.add(numeric("share", share));
  return {std::move(boston), "share ~ . - medv"};
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
