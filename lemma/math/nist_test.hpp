// lemma/math/nist_test.hpp: NIST's Statistical Reference Datasets for the tests, and their score.
#pragma once
#include <cmath>
#include <fstream>
#include <lemma/core/matrix.hpp>
#include <lemma/core/value.hpp>
#include <sstream>
#include <string>
#include <tests/places.hpp>
#include <vector>

namespace lemma::nist {

inline std::string folder() { return source_dir() + "/tests/digits/nist/"; }

inline Value certified(const std::string& group) {
  std::ifstream in(folder() + group + "_certified.json");
  std::stringstream text;
  text << in.rdbuf();
  return from_json(text.str()).at("datasets");
}

inline double number(const Value& text) { return std::stod(text.as_string()); }

/// The columns of a file, response first.
inline Matrix read(const std::string& file) {
  std::ifstream in(folder() + file);
  std::vector<double> numbers;
  std::string line, cell;
  Index rows = 0;
  for (std::getline(in, line); std::getline(in, line); ++rows)
    for (std::stringstream cells(line); std::getline(cells, cell, ',');) numbers.push_back(std::stod(cell));
  return Eigen::Map<const Matrix>(numbers.data(), rows, rows ? static_cast<Index>(numbers.size()) / rows : 0);
}

struct Linear {
  std::string name;
  Matrix x;
  Vector y;
  bool intercept;
  Vector coefficients, std_errors;  // certified, the intercept first
};

inline Linear linear(const std::string& name) {
  const Value all = certified("linear");
  const Value& set = all.at(name);
  const Matrix columns = read(set.at("file").as_string());
  Linear out{name, columns.rightCols(columns.cols() - 1), columns.col(0), set.at("intercept").as_bool(), {}, {}};
  if (!set.at("polynomial_degree").is_null()) {
    out.x.resize(columns.rows(), set.at("polynomial_degree").as_integer());
    for (Index i = 0; i < out.x.rows(); ++i)
      for (Index j = 0; j < out.x.cols(); ++j) out.x(i, j) = std::pow(columns(i, 1), static_cast<double>(j + 1));
  }
  const auto& list = set.at("coefficients").as_list();
  out.coefficients.resize(static_cast<Index>(list.size()));
  out.std_errors = out.coefficients;
  for (std::size_t j = 0; j < list.size(); ++j) {
    out.coefficients(static_cast<Index>(j)) = number(list[j].at("estimate"));
    out.std_errors(static_cast<Index>(j)) = number(list[j].at("std_error"));
  }
  return out;
}

/// −log₁₀ of the relative error, of the absolute one when 0 is certified; at most 15.
inline double digits(double found, double truth) {
  const double error = truth == 0 ? std::abs(found) : std::abs(found - truth) / std::abs(truth);
  return error == 0 ? 15 : std::min(15.0, -std::log10(error));
}
inline double digits(const Vector& found, const Vector& truth) {
  double worst = 15;
  for (Index j = 0; j < truth.size(); ++j) worst = std::min(worst, digits(found(j), truth(j)));
  return worst;
}

}  // namespace lemma::nist
