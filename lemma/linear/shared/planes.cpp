// lemma/linear/shared/planes.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/shared/planes.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma::planes {

Matrix decision(std::string_view method, const AffineMap& planes, const MatrixView& x) {
  require_width(method, planes.a.cols(), x.cols());
  Matrix out(x.rows(), planes.a.rows());
  Vector f(x.rows());
  for (Index k = 0; k < planes.a.rows(); ++k) {
    const Vector w = planes.a.row(k);
    simd::rows_times(x, {w.data(), static_cast<std::size_t>(w.size())}, planes.b(k),
                     {f.data(), static_cast<std::size_t>(f.size())});
    out.col(k) = f;
  }
  return out;
}

void require_numbers(std::string_view method, bool all_are, const std::vector<std::string>& features,
                     const Vector& spread) {
  if (all_are) return;
  Index blamed = 0;
  const auto extreme = [&](Index j) { return spread(j) > 0 ? std::abs(std::log10(spread(j))) : 0.0; };
  for (Index j = 1; j < spread.size(); ++j)
    if (extreme(j) > extreme(blamed)) blamed = j;
  throw Error(
      fmt::format("{}: a coefficient is beyond the range of numbers, because '{}' varies by {:.0e}; use another unit",
                  method, features[static_cast<std::size_t>(blamed)], spread(blamed)));
}

std::vector<NamedColumn> diagnose(const Matrix& f, std::span<const int> label) {
  std::vector<NamedColumn> out;
  for (Index k = 0; k < f.cols(); ++k) {
    const std::string ending = f.cols() == 1 ? "" : fmt::format("{}", k + 1);
    Vector margin(f.rows());
    for (Index i = 0; i < f.rows(); ++i)
      margin(i) = is_positive(label[static_cast<std::size_t>(i)], k, f.cols()) ? f(i, k) : -f(i, k);
    out.push_back({"slack" + ending, (1 - margin.array()).max(0.0)});
    out.push_back({"margin" + ending, std::move(margin)});
  }
  return out;
}

std::string name(const Names& names, Index k, Index planes) {
  const auto at = static_cast<std::size_t>(planes == 1 ? 1 : k);
  return at < names.classes.size() ? names.classes[at] : fmt::format("class {}", at + 1);
}

std::string table(const AffineMap& planes, bool intercept, const Names& names, int digits) {
  std::vector<std::string> terms;
  if (intercept) terms.emplace_back("(Intercept)");
  for (Index j = 0; j < planes.a.cols(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    terms.push_back(at < names.features.size() ? names.features[at] : fmt::format("x{}", j + 1));
  }
  TextTable out;
  out.words("", terms);
  for (Index k = 0; k < planes.a.rows(); ++k) {
    std::vector<double> numbers;
    if (intercept) numbers.push_back(planes.b(k));
    for (Index j = 0; j < planes.a.cols(); ++j) numbers.push_back(planes.a(k, j));
    out.numbers(name(names, k, planes.a.rows()), numbers, digits);
  }
  return "Planes (positive on the side of the class named):\n" + out.str({.gap = 2, .width = 100});
}

}  // namespace lemma::planes
