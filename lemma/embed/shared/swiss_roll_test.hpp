// lemma/embed/shared/swiss_roll_test.hpp: a plane rolled up, and how well a picture unrolls it.
#pragma once
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma {

struct SwissRoll {
  Matrix points;  // x, y, z
  Matrix plane;   // length along the roll, height
};

/// The length of the spiral r = t from 0 to t.
inline double spiral_length(double t) { return 0.5 * (t * std::sqrt(1 + t * t) + std::asinh(t)); }

inline SwissRoll swiss_roll() {
  const Table table = dataset("swiss_roll");
  SwissRoll out{Matrix(table.rows(), 3), Matrix(table.rows(), 2)};
  for (Index i = 0; i < table.rows(); ++i) {
    Index j = 0;
    for (const char* name : {"x", "y", "z"}) out.points(i, j++) = table.column(name).numbers().values[at(i)];
    out.plane(i, 0) = spiral_length(table.column("t").numbers().values[at(i)]);
    out.plane(i, 1) = table.column("h").numbers().values[at(i)];
  }
  return out;
}

/// R² of a coordinate of the plane as an affine function of the picture.
inline double r_squared(const Matrix& picture, const Vector& coordinate) {
  Matrix a(picture.rows(), picture.cols() + 1);
  a << Vector::Ones(picture.rows()), picture;
  const Vector left = coordinate - a * least_squares(a, coordinate).w;
  return 1 - left.squaredNorm() / (coordinate.array() - coordinate.mean()).matrix().squaredNorm();
}

/// Two clouds far from each other.
inline Matrix two_clouds(Index each, Index columns) {
  Matrix x = normal_matrix(2 * each, columns, 5);
  x.bottomRows(each).array() += 50;
  return x;
}

}  // namespace lemma
