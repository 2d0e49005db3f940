// tests/golden.hpp: reads tests/golden/<id>.json and holds our numbers against it, in the mode the file asks for:
//
//     const Golden golden("ols_boston");
//     EXPECT_TRUE(golden.agrees("coefficients", model.coefficients));
//
// The modes stand in tests/golden/README.md. A key that ends in _abs takes absolute values of ours first.
#pragma once
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/value.hpp>
#include <tests/places.hpp>

namespace lemma {

class Golden {
 public:
  explicit Golden(const std::string& id) : id_(id), file_(read(id)) {}

  const Value& value(std::string_view key) const { return file_.at("values").at(key); }
  double number(std::string_view key) const { return value(key).as_double(key); }
  Vector vector(std::string_view key) const { return value(key).as_vector(key); }
  Matrix matrix(std::string_view key) const { return value(key).as_matrix(key); }
  std::vector<std::string> strings(std::string_view key) const { return value(key).as_strings(key); }
  /// A vector of numbers as codes.
  Labels labels(std::string_view key) const {
    const Vector numbers = vector(key);
    Labels out;
    for (const double n : numbers) out.push_back(static_cast<int>(n));
    return out;
  }

  /// Of an n-vector or a matrix with n rows: the rows that the file shows (it counts from 1).
  template <class Derived>
  typename Derived::PlainObject shown(const Eigen::MatrixBase<Derived>& all) const {
    const Labels rows = labels("show_rows");
    typename Derived::PlainObject out(static_cast<Index>(rows.size()), all.cols());
    for (std::size_t i = 0; i < rows.size(); ++i) out.row(static_cast<Index>(i)) = all.row(rows[i] - 1);
    return out;
  }

  /// Is `ours` what the file says under `key`, in the mode and to the tolerance that the file asks for?
  testing::AssertionResult agrees(const std::string& key, const Value& ours) const {
    const Value& rule = file_.at("compare").at(key);
    const Value* tolerance = rule.find("tol");
    return agrees(key, ours, rule.at("mode").as_string(), tolerance ? tolerance->as_double() : 0);
  }
  /// The same with a rule of the caller's own, for keys that the file leaves to it (per_field), or openly wider.
  testing::AssertionResult agrees(const std::string& key, const Value& ours, const std::string& mode,
                                  double tol) const {
    return compare(id_ + ": " + key, ours, value(key), {mode, tol, key.ends_with("_abs")});
  }

  /// One value against another: numbers by the rule, everything else exactly, part by part.
  struct Rule {
    std::string mode;
    double tol;
    bool absolute = false;
  };
  static testing::AssertionResult compare(const std::string& where, const Value& ours, const Value& theirs,
                                          const Rule& rule) {
    if (const auto a = numbers(ours), b = numbers(theirs); a && b) return compare_numbers(where, *a, *b, rule);
    if (ours.is_object() && theirs.is_object()) return compare_objects(where, ours, theirs, rule);
    if (ours.is_list() && theirs.is_list()) return compare_lists(where, ours, theirs, rule);
    if (ours == theirs) return testing::AssertionSuccess();
    return testing::AssertionFailure() << where << " is " << to_json(ours, -1) << ", the reference is "
                                       << to_json(theirs, -1);
  }

 private:
  static Value read(const std::string& id) {
    const auto bytes = read_file(source_dir() + "/tests/golden/" + id + ".json");
    return from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  /// A number, or an array of any shape, row by row.
  static std::optional<std::vector<double>> numbers(const Value& value) {
    if (value.is_number()) return std::vector{value.as_double()};
    if (value.is_array()) return value.as_array().data;
    return {};
  }

  static bool close(double ours, double theirs, const Rule& rule) {
    const double difference = std::abs(ours - theirs);
    if (rule.mode == "exact") return ours == theirs;
    if (rule.mode == "abs") return difference <= rule.tol;
    if (rule.mode == "rel") return difference <= rule.tol * std::abs(theirs) + 1e-12;
    if (rule.mode == "mixed") return difference <= rule.tol * std::max(1.0, std::abs(theirs));
    if (rule.mode == "at_most") return ours <= theirs * (1 + rule.tol);
    if (rule.mode == "at_least") return ours >= theirs - rule.tol;
    throw Error(fmt::format("values are not compared by the mode '{}'", rule.mode));
  }

  static testing::AssertionResult compare_numbers(const std::string& where, const std::vector<double>& ours,
                                                  const std::vector<double>& theirs, const Rule& rule) {
    if (ours.size() != theirs.size())
      return testing::AssertionFailure() << where << " has " << ours.size() << " numbers, the reference "
                                         << theirs.size();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double own = rule.absolute ? std::abs(ours[i]) : ours[i];
      if (!close(own, theirs[i], rule))
        return testing::AssertionFailure() << fmt::format("{}[{}] is {}, the reference is {} ({} {})", where, i, own,
                                                          theirs[i], rule.mode, rule.tol);
    }
    return testing::AssertionSuccess();
  }

  static testing::AssertionResult compare_objects(const std::string& where, const Value& ours, const Value& theirs,
                                                  const Rule& rule) {
    for (const auto& [key, expected] : theirs.as_object()) {
      const Value* own = ours.find(key);
      if (!own) return testing::AssertionFailure() << where << " has no '" << key << "'";
      if (const auto result = compare(where + "." + key, *own, expected, rule); !result) return result;
    }
    return testing::AssertionSuccess();
  }

  static testing::AssertionResult compare_lists(const std::string& where, const Value& ours, const Value& theirs,
                                                const Rule& rule) {
    const auto &a = ours.as_list(), &b = theirs.as_list();
    if (a.size() != b.size())
      return testing::AssertionFailure() << where << " has " << a.size() << " items, the reference " << b.size();
    for (std::size_t i = 0; i < a.size(); ++i)
      if (const auto result = compare(fmt::format("{}[{}]", where, i), a[i], b[i], rule); !result) return result;
    return testing::AssertionSuccess();
  }

  std::string id_;
  Value file_;
};

}  // namespace lemma
