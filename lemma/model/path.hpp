// lemma/model/path.hpp: results of a fit for one λ, or for each λ of a path.
#pragma once
#include <lemma/model/fields.hpp>
#include <vector>

namespace lemma {

/// One number for each λ. A single one is written as a number, several as an array.
struct PathNumbers {
  Vector of;
  Index size() const { return of.size(); }
};
/// One row of coefficients for each λ. A single row is written as an array over the features, several as a matrix.
struct PathMatrix {
  Matrix of;
  Index size() const { return of.rows(); }
};

template <>
struct Codec<PathNumbers> {
  static Value write(const PathNumbers& numbers) {
    if (numbers.of.size() == 1) return numbers.of(0);
    return numbers.of;
  }
  static void read(PathNumbers& field, const Value& value, const std::string& where);
};
template <>
struct Codec<PathMatrix> {
  static Value write(const PathMatrix& rows) {
    if (rows.of.rows() == 1) return Vector(rows.of.row(0));
    return rows.of;
  }
  static void read(PathMatrix& field, const Value& value, const std::string& where);
};

/// `count` values from `largest` down to ratio · largest, in equal steps of their logarithms.
std::vector<double> lambda_path(double largest, int count, double ratio);

}  // namespace lemma
