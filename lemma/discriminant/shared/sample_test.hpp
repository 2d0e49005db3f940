// lemma/discriminant/shared/sample_test.hpp: rows with the names of their classes, for the tests of this room.
#pragma once
#include <algorithm>
#include <cmath>
#include <lemma/core/rows.hpp>
#include <lemma/data/datasets.hpp>
#include <string>
#include <vector>

namespace lemma {

struct Sample {
  Matrix x;
  std::vector<std::string> labels;

  std::vector<std::string> classes() const {
    auto out = labels;
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
  Labels codes() const {
    const auto names = classes();
    Labels out;
    for (const auto& label : labels)
      out.push_back(static_cast<int>(std::find(names.begin(), names.end(), label) - names.begin()));
    return out;
  }
};

inline Sample read(const std::string& data, const std::vector<std::string>& columns,
                   const std::vector<std::string>& response, bool log = false) {
  const Table table = dataset(data);
  Sample out{Matrix(table.rows(), static_cast<Index>(columns.size())), std::vector<std::string>(at(table.rows()))};
  for (Index i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double value = table.column(columns[j]).numbers().values[at(i)];
      out.x(i, static_cast<Index>(j)) = log ? std::log(value) : value;
    }
    for (const auto& name : response) out.labels[at(i)] += table.column(name).text(i);
  }
  return out;
}

}  // namespace lemma
