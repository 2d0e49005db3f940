// lemma/kernel/svm/smo_rows.hpp: where blocks of the dual problem's kernel matrix come from. Inner header.
#pragma once
#include <lemma/kernel/svm/smo_parts.hpp>

namespace lemma::smo {

template <class T>
using Square = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class RowSource {
 public:
  virtual ~RowSource() = default;
  /// How many points can be asked for at once.
  virtual Index most() const = 0;
  /// out(i, j) = k(point_which[i], point_which[j]), and zeros in the columns beyond. Cancelled when progress says so.
  virtual void gram(std::span<const Index> which, Square<float>& out) = 0;
  virtual void gram(std::span<const Index> which, Square<double>& out) = 0;
  /// f += Σ weight_i k(point_which[i], ·), for points of the last gram.
  virtual void add(std::span<const Index> which, std::span<const double> weight, Vector& f) = 0;
  /// Values as the kernel gives them, in double.
  virtual bool are_exact() const = 0;
};

/// Rows made anew each time if that is quick or must be, else kept as float32 in the problem's cache.
std::unique_ptr<RowSource> make_rows(const SignedDual& dual, const SmoOptions& options, const Execution& execution,
                                     bool float_will_do);

}  // namespace lemma::smo
