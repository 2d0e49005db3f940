// lemma/tree/forest/sides.hpp: rows that move from one side of a split to the other, and what both are worth.
#pragma once
#include <lemma/tree/forest/split.hpp>
#include <utility>

namespace lemma::forest {

/// Numbers, or two classes as 0 and 1, on two sides; rows without a value apart from both.
class MeanSides {
 public:
  MeanSides(const Totals& totals, std::vector<double>*) : right_(totals.w, totals.s) {}
  void set_apart(const Item& item) {
    apart_.add(item.w, item.s);
    right_.add(-item.w, -item.s);
  }
  void move(const Item& item) {
    left_.add(item.w, item.s);
    right_.add(-item.w, -item.s);
  }
  /// Of all items those that go left, without a turn that a CPU could guess wrong; `way` of each place is 0 or 1.
  void move_all(std::span<const Item> items, const auto& way) {
    Sums even, odd;
    std::size_t i = 0;
    for (; i + 1 < items.size(); i += 2) {
      const double a = way(i), b = way(i + 1);
      even.add(a * items[i].w, a * items[i].s);
      odd.add(b * items[i + 1].w, b * items[i + 1].s);
    }
    if (i < items.size()) even.add(way(i) * items[i].w, way(i) * items[i].s);
    left_ = {even.w + odd.w, even.s + odd.s};
    right_.add(-left_.w, -left_.s);
  }
  double left_weight() const { return left_.w; }
  void start_again() {
    right_.add(left_.w, left_.s);
    left_ = {};
  }
  double worth_without() const { return left_.worth() + right_.worth(); }
  double worth_left() const { return plus(left_).worth() + right_.worth(); }
  double worth_right() const { return left_.worth() + plus(right_).worth(); }

 private:
  struct Sums {
    double w = 0, s = 0;
    void add(double weight, double sum) {
      w += weight;
      s += sum;
    }
    double worth() const { return w > 0 ? s * s / w : 0; }
  };
  Sums plus(const Sums& side) const { return {side.w + apart_.w, side.s + apart_.s}; }
  Sums left_, right_, apart_;
};

/// More classes on two sides: sums of squares and products, changed row by row.
class ClassSides {
 public:
  ClassSides(const Totals& totals, std::vector<double>* space)
      : left_(space[0]), right_(space[1]), apart_(space[2]), right_w_(totals.w) {
    left_.assign(totals.classes.size(), 0.0);
    apart_.assign(totals.classes.size(), 0.0);
    right_ = totals.classes;
    for (const double n : right_) right_squares_ += n * n;
  }
  void set_apart(const Item& item) {
    apart_squares_ += item.w * (2 * apart_[item.label] + item.w);
    apart_[item.label] += item.w;
    apart_w_ += item.w;
    take(item);
    right_product_ = 0;
    for (std::size_t k = 0; k < right_.size(); ++k) right_product_ += right_[k] * apart_[k];
  }
  void move(const Item& item) {
    const double w = item.w, product = w * apart_[item.label];
    left_squares_ += w * (2 * left_[item.label] + w);
    left_[item.label] += w;
    left_w_ += w;
    take(item);
    left_product_ += product;
    right_product_ -= product;
  }
  void move_all(std::span<const Item> items, const auto& way) {
    for (std::size_t i = 0; i < items.size(); ++i) left_[items[i].label] += way(i) * items[i].w;
    left_squares_ = right_squares_ = left_w_ = right_w_ = left_product_ = right_product_ = 0;
    for (std::size_t k = 0; k < left_.size(); ++k) {
      right_[k] -= left_[k];
      left_w_ += left_[k];
      right_w_ += right_[k];
      left_squares_ += left_[k] * left_[k];
      right_squares_ += right_[k] * right_[k];
      left_product_ += left_[k] * apart_[k];
      right_product_ += right_[k] * apart_[k];
    }
  }
  double left_weight() const { return left_w_; }
  void start_again() {
    for (std::size_t k = 0; k < right_.size(); ++k) {
      right_squares_ += left_[k] * (2 * right_[k] + left_[k]);
      right_[k] += left_[k];
      left_[k] = 0;
    }
    right_w_ += std::exchange(left_w_, 0);
    right_product_ += std::exchange(left_product_, 0);
    left_squares_ = 0;
  }
  double worth_without() const { return over(left_squares_, left_w_) + over(right_squares_, right_w_); }
  double worth_left() const {
    return over(left_squares_ + 2 * left_product_ + apart_squares_, left_w_ + apart_w_) +
           over(right_squares_, right_w_);
  }
  double worth_right() const {
    return over(left_squares_, left_w_) +
           over(right_squares_ + 2 * right_product_ + apart_squares_, right_w_ + apart_w_);
  }

 private:
  static double over(double squares, double w) { return w > 0 ? squares / w : 0; }
  void take(const Item& item) {
    right_squares_ -= item.w * (2 * right_[item.label] - item.w);
    right_[item.label] -= item.w;
    right_w_ -= item.w;
  }
  std::vector<double>&left_, &right_, &apart_;
  double left_w_ = 0, right_w_ = 0, apart_w_ = 0, left_squares_ = 0, right_squares_ = 0, apart_squares_ = 0,
         left_product_ = 0, right_product_ = 0;
};

/// Offers splits of one column one after the other, and keeps the best that leaves enough rows on both sides.
struct Candidates {
  double all, apart;  // copies of all rows, and of those without a value
  double least;       // on a side
  double left = 0;    // copies with a value on the left
  double best;
  bool right_too = true;  // and some on the right
  double margin = 0;      // by which a split must be worth more to be better: what rounding can do to it

  /// 1: the split with rows without a value on the right is the best so far; 2: with them on the left; 0: neither.
  template <class Sides>
  int consider(const Sides& sides) {
    if (apart == 0) {
      if (left < least || all - left < least) return 0;
      return better(sides.worth_without()) ? (2 * left >= all ? 2 : 1) : 0;
    }
    int out = 0;
    if (left >= least && all - left >= least && better(sides.worth_right())) out = 1;
    if (right_too && left + apart >= least && all - apart - left >= least && better(sides.worth_left())) out = 2;
    return out;
  }
  bool better(double worth) {
    if (!(worth > best + margin)) return false;
    best = worth;
    return true;
  }
};

/// The copies without a value, put apart.
template <class Sides>
double put_apart(Sides& sides, std::span<const Item> items, const std::vector<std::uint32_t>& missing, auto copies) {
  double out = 0;
  for (const std::uint32_t i : missing) {
    sides.set_apart(items[i]);
    out += copies(items[i]);
  }
  return out;
}

}  // namespace lemma::forest
