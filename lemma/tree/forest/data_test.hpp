// lemma/tree/forest/data_test.hpp: rows that the tests of forests and of extra trees learn from.
#pragma once
#include <lemma/core/random.hpp>
#include <lemma/core/rows.hpp>
#include <string>
#include <vector>

namespace lemma::forest_test {

/// Two columns that decide a class, one that does not.
struct Corners {
  Matrix x;
  std::vector<std::string> label;
  Vector y;
};
inline Corners corners(Index n, std::uint64_t seed = 3) {
  Corners out{Matrix(n, 3), {}, Vector(n)};
  RandomStream stream(seed);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 3; ++j) out.x(i, j) = stream.uniform();
    const bool in = (out.x(i, 0) > 0.5) != (out.x(i, 1) > 0.5);
    out.label.emplace_back(in ? "in" : "out");
    out.y(i) = (in ? 10 : 0) + stream.normal();
  }
  return out;
}

inline MemoryRows rows_of(const Corners& data) {
  MemoryRows rows(data.x);
  rows.response({data.y.data(), static_cast<std::size_t>(data.y.size())});
  rows.target = "y";
  return rows;
}

}  // namespace lemma::forest_test
