// lemma/cluster/agglomerative/cluster_rows.hpp: how different each cluster is from all others, while clusters are joined.
//
// Clusters stand in slots; row i holds how different the cluster in slot i is from that in each slot: infinity in its own
// place and where a slot is empty. Joining a and b makes one row of theirs, element by element, by a rule of the method's
// own: a `Join` is called with a visitor, which it hands f(d_ac, d_bc, |c|), the dissimilarity of a ∪ b to c.
//
// The two ways give the same bits:
//   SquareRows    8 n² bytes. Rows are contiguous, and so is all reading and writing. Another row learns of a join, which
//                 changes one of its columns, only when it is read next: joins wait in a list.
//   TriangleRows  4 n² bytes. A row is gathered from the columns of a triangle, and scattered again.
#pragma once
#include <algorithm>
#include <array>
#include <lemma/geometry/dissimilarities.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

namespace lemma {

/// Where the dissimilarities of clusters are kept.
enum class Kept { square, triangle };

/// What they are of two rows: those that are kept times `scale`, or the squares of that.
struct InUnits {
  double scale = 1;
  bool squared = false;
  double operator()(double d) const {
    const double x = d * scale;
    return squared ? x * x : x;
  }
};

/// How many rows stand in each slot (or stood, before it was empty).
class Slots {
 public:
  explicit Slots(Index n) : size_(at(n), 1.0), taken_(at(n), true) {}

  Index count() const { return static_cast<Index>(size_.size()); }
  bool taken(Index slot) const { return taken_[at(slot)]; }
  double size(Index slot) const { return size_[at(slot)]; }
  std::span<const double> sizes() const { return size_; }
  std::vector<Index> all_taken() const;

 protected:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  void join_slots(Index a, Index b);
  void keep_slots(const std::vector<Index>& some);

  std::vector<double> size_;

 private:
  std::vector<bool> taken_;
};

/// Room for numbers that nothing clears. Who asks again, for no more of them, gets the same room: the system, which clears
/// memory where it is touched first, does so once.
class NumberRoom {
 public:
  double* numbers(Index count) {
    if (count > count_) {
      numbers_.reset();
      numbers_ = std::make_unique_for_overwrite<double[]>(at(count));
      count_ = count;
    }
    return numbers_.get();
  }

 private:
  Index count_ = 0;
  std::unique_ptr<double[]> numbers_;
};

/// A row of numbers for each slot, in the room given or one of their own; where no pairs are kept, each is computed in its place.
class Square {
 public:
  Square(const Dissimilarities& all, InUnits units, const Execution& execution, NumberRoom* room);

  double* row(Index i) { return numbers_ + i * stride_; }
  /// Rows and columns of some alone, in the order given (rising). `before(i)` is called before row i is moved.
  template <class Before>
  void keep(const std::vector<Index>& some, const Before& before) {
    const auto count = static_cast<Index>(some.size());
    for (Index k = 0; k < count; ++k) {  // what is written was read before: no row moves down, and no number in it
      before(some[at(k)]);
      const double* from = row(some[at(k)]);
      double* to = numbers_ + k * count;
      for (Index l = 0; l < count; ++l) to[l] = from[some[at(l)]];
    }
    stride_ = count;
  }

 private:
  Index stride_;
  NumberRoom own_;
  double* numbers_;
};

template <class Join>
class SquareRows : public Slots {
 public:
  SquareRows(const Dissimilarities& all, InUnits units, const Execution& execution, NumberRoom* room)
      : Slots(all.count()), square_(all, units, execution, room), told_(at(count()), 0), joined_(at(count())) {}

  /// Row i; what is done to it is not seen in another until that is read.
  std::span<const double> row(Index i) { return {up_to_date(i), at(count())}; }

  /// a ∪ b stands in the lower slot.
  void join(Index a, Index b, const Join& how) {
    const double *da = up_to_date(a), *db = up_to_date(b), *sizes = size_.data();
    double* out = joined_.data();
    const Index stays = std::min(a, b), width = count();
    how([&](const auto& of) {
      for (Index c = 0; c < width; ++c) out[c] = of(da[c], db[c], sizes[c]);
    });
    out[a] = out[b] = kInfinity;
    std::copy_n(out, width, square_.row(stays));
    joins_.push_back({a, b, how});
    told_[at(stays)] = joins_.size();
    join_slots(a, b);
  }

  /// Some slots alone, in the order given (rising).
  void keep(const std::vector<Index>& some) {
    square_.keep(some, [&](Index i) { up_to_date(i); });
    keep_slots(some);
    joins_.clear();
    told_.assign(some.size(), 0);
    joined_.resize(some.size());
  }

 private:
  struct Made {
    Index a, b;
    Join how;
  };

  /// The size of a cluster is the same from one reading of its row to the next, for to be joined its row is read.
  double* up_to_date(Index i) {
    constexpr std::size_t kAhead = 64;  // the places of joins lie all over the row: they are called for early
    double* d = square_.row(i);
    const double size = size_[at(i)];
    for (std::size_t k = told_[at(i)]; k < joins_.size(); ++k) {
      if (k + kAhead < joins_.size()) {
        __builtin_prefetch(d + joins_[k + kAhead].a, 1);
        __builtin_prefetch(d + joins_[k + kAhead].b, 1);
      }
      const Made& made = joins_[k];
      double together = 0;
      made.how([&](const auto& of) { together = of(d[made.a], d[made.b], size); });
      d[std::min(made.a, made.b)] = together;
      d[std::max(made.a, made.b)] = kInfinity;
    }
    told_[at(i)] = joins_.size();
    return d;
  }

  Square square_;
  std::vector<Made> joins_;
  std::vector<std::size_t> told_;  // of so many joins each row knows
  std::vector<double> joined_;
};

/// One row after another of a packed triangle.
class Triangle {
 public:
  Triangle(const Dissimilarities& all, InUnits units);

  /// out[j] = d(i, j) for all j, infinity for i itself.
  void gather(Index i, std::vector<double>& out) const;
  /// d(i, j) = row[j] for all j.
  void scatter(Index i, const std::vector<double>& row);
  /// Those of some alone, in the order given (rising).
  void keep(const std::vector<Index>& some);

 private:
  Index pair(Index i, Index j) const { return i * count_ - i * (i + 1) / 2 + j - i - 1; }
  Index count_;
  std::vector<double> packed_;
};

template <class Join>
class TriangleRows : public Slots {
 public:
  TriangleRows(const Dissimilarities& all, InUnits units, const Execution&, NumberRoom*)
      : Slots(all.count()), triangle_(all, units) {
    for (auto& each : read_) each.numbers.resize(at(count()));
  }

  /// Row i, until another is read after the next.
  std::span<const double> row(Index i) { return read(i).numbers; }

  void join(Index a, Index b, const Join& how) {
    const std::vector<double>& da = read(a).numbers;
    std::vector<double> out = da;
    const std::vector<double>& db = read(b).numbers;
    how([&](const auto& of) {
      for (std::size_t c = 0; c < out.size(); ++c) out[c] = of(out[c], db[c], size_[c]);
    });
    triangle_.scatter(std::min(a, b), out);
    join_slots(a, b);
    forget();
  }

  void keep(const std::vector<Index>& some) {
    triangle_.keep(some);
    keep_slots(some);
    for (auto& each : read_) each.numbers.resize(some.size());
    forget();
  }

 private:
  struct Read {
    Index row = -1;
    std::vector<double> numbers;
  };

  const Read& read(Index i) {
    for (const Read& each : read_)
      if (each.row == i) return each;
    std::swap(read_[0], read_[1]);
    Read& out = read_[0];
    triangle_.gather(i, out.numbers);
    for (Index c = 0; c < count(); ++c)
      if (!taken(c)) out.numbers[at(c)] = kInfinity;
    out.row = i;
    return out;
  }
  void forget() {
    for (Read& each : read_) each.row = -1;
  }

  Triangle triangle_;
  std::array<Read, 2> read_;
};

}  // namespace lemma
