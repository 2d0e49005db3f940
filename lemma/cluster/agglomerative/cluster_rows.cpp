// lemma/cluster/agglomerative/cluster_rows.cpp
#include <lemma/cluster/agglomerative/cluster_rows.hpp>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>
#include <lemma/core/parallel.hpp>

namespace lemma {
namespace {

constexpr Index kTile = 32;  // of rows and columns: a tile and its mirror image stay in the nearest cache

}  // namespace

std::vector<Index> Slots::all_taken() const {
  std::vector<Index> out;
  for (Index c = 0; c < count(); ++c)
    if (taken(c)) out.push_back(c);
  return out;
}

void Slots::join_slots(Index a, Index b) {
  size_[at(std::min(a, b))] += size_[at(std::max(a, b))];
  taken_[at(std::max(a, b))] = false;
}

void Slots::keep_slots(const std::vector<Index>& some) {
  for (std::size_t k = 0; k < some.size(); ++k) size_[k] = size_[at(some[k])];
  size_.resize(some.size());
  taken_.assign(some.size(), true);
}

Square::Square(const Dissimilarities& all, InUnits units, const Execution& execution, NumberRoom* room)
    : stride_(all.count()), numbers_((room ? *room : own_).numbers(stride_ * stride_)) {
  if (!all.is_kept()) {
    parallel_for((stride_ + kTile - 1) / kTile, execution, [&](Index band) {
      const Index first = band * kTile, last = std::min(stride_, first + kTile);
      dissimilarity_rows(all, first, last - first, row(first));
      for (Index i = first; i < last; ++i) {
        for (Index j = 0; j < stride_; ++j) row(i)[j] = units(row(i)[j]);
        row(i)[i] = std::numeric_limits<double>::infinity();
      }
    });
    return;
  }
  const std::span<const double> kept = all.kept();
  parallel_for((stride_ + kTile - 1) / kTile, execution, [&](Index band) {
    const Index first = band * kTile, last = std::min(stride_, first + kTile);
    for (Index from = first; from < stride_; from += kTile) {
      const Index to = std::min(stride_, from + kTile);
      for (Index i = first; i < last; ++i) {
        if (from == first) row(i)[i] = std::numeric_limits<double>::infinity();
        for (Index j = std::max(i + 1, from); j < to; ++j) row(i)[j] = units(kept[at(all.pair(i, j))]);
      }
      for (Index j = from; j < to; ++j)
        for (Index i = first; i < std::min(last, j); ++i) row(j)[i] = row(i)[j];
    }
  });
}

Triangle::Triangle(const Dissimilarities& all, InUnits units)
    : count_(all.count()), packed_(all.kept().begin(), all.kept().end()) {
  for (double& d : packed_) d = units(d);
}

void Triangle::gather(Index i, std::vector<double>& out) const {
  constexpr Index kAhead = 32;  // those before i lie all over the triangle: they are called for before they are needed
  const double* numbers = packed_.data();
  Index place = i - 1, ahead = place;  // of pair (j, i); the next is count − j − 2 farther on
  Index asked = 0;
  for (; asked < std::min(kAhead, i); ++asked) {
    __builtin_prefetch(numbers + ahead);
    ahead += count_ - asked - 2;
  }
  for (Index j = 0; j < i; ++j) {
    if (asked < i) {
      __builtin_prefetch(numbers + ahead);
      ahead += count_ - asked - 2;
      ++asked;
    }
    out[at(j)] = numbers[place];
    place += count_ - j - 2;
  }
  out[at(i)] = std::numeric_limits<double>::infinity();
  if (i + 1 < count_) std::copy_n(numbers + pair(i, i + 1), count_ - i - 1, out.data() + i + 1);
}

void Triangle::scatter(Index i, const std::vector<double>& row) {
  Index place = i - 1;
  for (Index j = 0; j < i; ++j) {
    packed_[at(place)] = row[at(j)];
    place += count_ - j - 2;
  }
  if (i + 1 < count_) std::copy_n(row.data() + i + 1, count_ - i - 1, packed_.data() + pair(i, i + 1));
}

void Triangle::keep(const std::vector<Index>& some) {
  std::vector<double> out;
  out.reserve(some.size() * (some.size() - 1) / 2);
  for (std::size_t k = 0; k < some.size(); ++k)
    for (std::size_t l = k + 1; l < some.size(); ++l) out.push_back(packed_[at(pair(some[k], some[l]))]);
  count_ = static_cast<Index>(some.size());
  packed_ = std::move(out);
}

}  // namespace lemma
