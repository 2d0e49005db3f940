// lemma/kernel/svm/data_test.hpp: what the tests of svm share.
#pragma once
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/svm.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma::svm_test {

/// Two clouds `apart` from each other in the plane; labels left and right.
struct Clouds {
  Matrix x;
  std::vector<std::string> label;
  explicit Clouds(Index n, double apart = 2, std::uint64_t seed = 3) : x(n, 2) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      const bool right = i % 2 == 1;
      x(i, 0) = stream.normal() + (right ? apart : 0.0);
      x(i, 1) = stream.normal();
      label.push_back(right ? "right" : "left");
    }
  }
  Labels codes() const {
    Labels out;
    for (const auto& each : label) out.push_back(each == "right" ? 1 : 0);
    return out;
  }
};

/// The columns that a golden file names, of one of the built-in data sets; standardised (divisor n − 1) by another's
/// moments, or as they are.
inline Matrix columns_of(const Table& table, const std::vector<std::string>& names) {
  Matrix x(table.rows(), static_cast<Index>(names.size()));
  for (std::size_t j = 0; j < names.size(); ++j)
    x.col(static_cast<Index>(j)) =
        Eigen::Map<const Vector>(table.column(names[j]).numbers().values.data(), table.rows());
  return x;
}
inline std::vector<std::string> labels_of(const Table& table, const std::string& name) {
  std::vector<std::string> out;
  for (Index i = 0; i < table.rows(); ++i) out.push_back(table.column(name).text(i));
  return out;
}

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The column of diagnostics of that name.
inline Vector column(const std::vector<NamedColumn>& all, std::string_view name) {
  for (const auto& each : all)
    if (each.name == name) return each.values;
  throw Error("there is no column " + std::string(name));
}

}  // namespace lemma::svm_test
