// lemma/model/sparse_planes.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/model/sparse_planes.hpp>

namespace lemma {
namespace {

constexpr Index kRows = 1024;  // of a piece

/// Of one row in twice the working precision.
double height(const Csr& x, Index row, const Vector& w, double b, std::vector<double>& gathered) {
  const auto from = static_cast<std::size_t>(x.start[static_cast<std::size_t>(row)]),
             to = static_cast<std::size_t>(x.start[static_cast<std::size_t>(row) + 1]);
  gathered.clear();
  for (std::size_t k = from; k < to; ++k) gathered.push_back(w(x.column[k]));
  return (simd::dot(std::span(x.value).subspan(from, to - from), gathered) + Twofold{b, 0}).rounded();
}

}  // namespace

Matrix sparse_planes(const AffineMap& planes, const Csr& x, PlaneSum sum, const Execution& execution) {
  if (x.width != planes.a.cols())
    throw Error(fmt::format("the model has {} columns and the rows have {}", planes.a.cols(), x.width));
  Matrix out(x.rows(), planes.a.rows());
  for (Index k = 0; k < planes.a.rows(); ++k) {
    const Vector w = planes.a.row(k);
    parallel_for((x.rows() + kRows - 1) / kRows, execution, [&](Index piece) {
      const Index first = piece * kRows, count = std::min(kRows, x.rows() - first);
      std::vector<double> f(static_cast<std::size_t>(count)), gathered;
      if (sum == PlaneSum::plain) {
        simd::sparse_rows_times(x, first, {w.data(), static_cast<std::size_t>(w.size())}, planes.b(k), f);
      } else {
        for (Index i = 0; i < count; ++i)
          f[static_cast<std::size_t>(i)] = height(x, first + i, w, planes.b(k), gathered);
      }
      for (Index i = 0; i < count; ++i) out(first + i, k) = f[static_cast<std::size_t>(i)];
    });
  }
  return out;
}

bool asks_for_planes_alone(const PredictOptions& options, bool has_other_parts) {
  if (options.interval != IntervalKind::none || options.deviations || options.samples) return false;
  return std::all_of(options.what.begin(), options.what.end(), [&](const std::string& name) {
    return name == kValuePart.name || name == kClassPart.name || name == kProbabilitiesPart.name ||
           name == kDecisionPart.name || (name == "all" && !has_other_parts);
  });
}

}  // namespace lemma
