// tests/contract/varied_data.hpp: generated data of all scales and shapes; the kind and the seed say which.
#pragma once
#include <algorithm>
#include <tests/contract/data.hpp>

namespace lemma::contract {

inline const std::vector<std::string>& kinds_of_data() {
  static const std::vector<std::string> all{"plain",
                                            "scales from 1e-8 to 1e8",
                                            "columns near 1.7e9",
                                            "a response near 1.7e9",
                                            "a constant column",
                                            "equal columns",
                                            "nearly dependent columns",
                                            "few rows",
                                            "heavy tails",
                                            "binary columns",
                                            "separated classes",
                                            "classes by chance",
                                            "integer columns",
                                            "repeated rows",
                                            "offsets and scales",
                                            "all at once"};
  return all;
}

/// Columns, a response, two classes and three, before they become a table.
struct Varied {
  std::vector<std::vector<double>> x{kColumns};
  std::vector<double> y, count, share;
  std::vector<std::string> side, group;
};

/// Standard normal columns; a response linear in them up to noise; classes by the same line up to noise of size `blur`.
inline Varied plain_data(Index n, RandomStream& stream, double blur) {
  Varied out;
  const std::vector<std::string> names{"blue", "green", "red"};
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < kColumns; ++j) {
      out.x[j].push_back(stream.normal());
      sum += (static_cast<double>(j) - 1) * out.x[j].back();
    }
    const double seen = sum + blur * stream.normal(), other = out.x[0].back() + blur * stream.normal();
    const bool last = i + 3 >= n;  // every class is there
    out.y.push_back(3 + sum + 0.7 * stream.normal());
    out.count.push_back(std::floor(std::exp(0.3 * sum + stream.normal())));
    out.share.push_back(1 / (1 + std::exp(-seen)));
    out.side.push_back((last ? i % 2 == 0 : seen > 0) ? "right" : "left");
    out.group.push_back(names[last ? static_cast<std::size_t>(i % 3) : seen > 0.7 ? 0 : other > 0 ? 1 : 2]);
  }
  return out;
}

/// Moves the rows of each class away from the others.
inline void separate(Varied& data) {
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    data.x[1][i] += data.side[i] == "right" ? 9.0 : -9.0;
    data.x[2][i] += data.group[i] == "blue" ? 9.0 : 0.0;
    data.x[3][i] += data.group[i] == "green" ? 9.0 : 0.0;
  }
}

inline void change_column(Varied& data, std::size_t j, const auto& change) {
  for (double& v : data.x[j]) v = change(v);
}

inline void make_heavy_tails(Varied& data) {  // t with 1 degree of freedom: tan is its quantile function
  const auto heavy = [](double v) { return std::tan(1.5 * std::tanh(v)); };
  for (std::size_t j = 0; j < kColumns; ++j) change_column(data, j, heavy);
  for (double& v : data.y) v = heavy(v / 3);
}

inline void scale_and_shift(Varied& data, RandomStream& stream, Index digits, bool shift) {
  for (std::size_t j = 0; j < kColumns; ++j) {
    const double scale = std::pow(10.0, static_cast<double>(stream.below(2 * digits + 1) - digits));
    const double offset = shift ? scale * std::pow(10.0, static_cast<double>(stream.below(7))) : 0;
    change_column(data, j, [=](double v) { return offset + scale * v; });
  }
}

inline void vary(Varied& data, const std::string& kind, RandomStream& stream) {
  if (kind == "scales from 1e-8 to 1e8") scale_and_shift(data, stream, 8, false);
  if (kind == "offsets and scales") scale_and_shift(data, stream, 4, true);
  if (kind == "columns near 1.7e9")
    for (const std::size_t j : {1U, 3U}) change_column(data, j, [](double v) { return 1.7e9 + 100 * v; });
  if (kind == "a response near 1.7e9")
    for (double& v : data.y) v = 1.7e9 + 100 * v;
  if (kind == "a constant column") change_column(data, 2, [](double) { return 0.1; });
  if (kind == "equal columns") data.x[3] = data.x[1];
  if (kind == "nearly dependent columns") {
    const double apart = std::pow(10.0, -4 - static_cast<double>(stream.below(7)));
    for (std::size_t i = 0; i < data.y.size(); ++i)
      data.x[3][i] = data.x[0][i] + 2 * data.x[1][i] + apart * data.x[3][i];
  }
  if (kind == "heavy tails") make_heavy_tails(data);
  if (kind == "binary columns")
    for (std::size_t j = 0; j < kColumns; ++j) change_column(data, j, [](double v) { return v > 0.4 ? 1.0 : 0.0; });
  if (kind == "separated classes") separate(data);
  if (kind == "integer columns") {
    for (std::size_t j = 0; j < kColumns; ++j) change_column(data, j, [](double v) { return std::round(2 * v); });
    for (double& v : data.y) v = std::round(v);
  }
  if (kind == "all at once") {
    make_heavy_tails(data);
    scale_and_shift(data, stream, 4, true);
    change_column(data, 0, [](double v) { return v > 0 ? 1.0 : 0.0; });
    change_column(data, 2, [](double) { return 1.7e9; });
  }
}

/// Data set `seed` of a kind, with the columns of `groups`: x1 … x4, y, side (two classes), class (three),
/// count, and share (a proportion).
inline Table varied_table(const std::string& kind, std::uint64_t seed) {
  RandomStream stream(seed);
  const Index n = kind == "few rows" ? 6 + stream.below(4) : 30 + stream.below(50);
  Varied data = plain_data(n, stream, kind == "separated classes" ? 0 : kind == "classes by chance" ? 100 : 1.5);
  vary(data, kind, stream);
  Table table({}, kind);
  for (std::size_t j = 0; j < kColumns; ++j) table.add(numeric("x" + std::to_string(j + 1), data.x[j]));
  table.add(numeric("y", data.y));
  table.add(numeric("count", data.count));
  table.add(numeric("share", data.share));
  table.add(categorical("side", data.side));
  table.add(categorical("class", data.group));
  if (kind != "repeated rows") return table;
  std::vector<Index> twice;
  for (Index i = 0; i < n; ++i) twice.insert(twice.end(), 1 + static_cast<std::size_t>(stream.below(3)), i);
  return table.select(twice);
}

}  // namespace lemma::contract
