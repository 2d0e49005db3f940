// lemma/reduce/shared/monomials.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/reduce/shared/monomials.hpp>
#include <map>

namespace lemma {

double monomial_count(Index columns, int degree, bool interactions_only) {
  double sum = 0, term = 1;
  for (int d = 1; d <= degree; ++d) {  // (p choose d), or (p + d − 1 choose d)
    const double p = static_cast<double>(columns);
    term *= (interactions_only ? p - d + 1 : p + d - 1) / d;
    if (term <= 0) break;
    sum += term;
  }
  return sum;
}

std::vector<Monomial> monomials(Index columns, int degree, bool interactions_only) {
  std::vector<Monomial> out, last{{}};
  for (int d = 1; d <= degree; ++d) {
    std::vector<Monomial> next;
    for (const Monomial& shorter : last) {
      const int from = shorter.empty() ? 0 : shorter.back() + (interactions_only ? 1 : 0);
      for (int j = from; j < static_cast<int>(columns); ++j) {
        next.push_back(shorter);
        next.back().push_back(j);
      }
    }
    out.insert(out.end(), next.begin(), next.end());
    last = std::move(next);
  }
  return out;
}

std::string monomial_name(const Monomial& monomial, const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < monomial.size();) {
    std::size_t j = i;
    while (j < monomial.size() && monomial[j] == monomial[i]) ++j;
    if (!out.empty()) out += ":";
    out += names[static_cast<std::size_t>(monomial[i])];
    if (j - i > 1) out += fmt::format("^{}", j - i);
    i = j;
  }
  return out;
}

/// A product is the one without its last column, times that column.
Matrix monomials_of(const MatrixView& x, const std::vector<Monomial>& terms) {
  std::map<Monomial, Index> at;
  std::vector<Index> shorter;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const auto found = at.find(Monomial(terms[t].begin(), terms[t].end() - 1));
    shorter.push_back(found == at.end() ? -1 : found->second);
    at[terms[t]] = static_cast<Index>(t);
  }
  Matrix out(x.rows(), static_cast<Index>(terms.size()));
  for (Index i = 0; i < x.rows(); ++i)
    for (std::size_t t = 0; t < terms.size(); ++t) {
      double product = 1;
      if (shorter[t] >= 0) product = out(i, shorter[t]) * x(i, terms[t].back());
      else
        for (const int j : terms[t]) product *= x(i, j);
      out(i, static_cast<Index>(t)) = product;
    }
  return out;
}

void MapCheck::compare(double found, double expected, Index column) {
  if (!std::isfinite(found) || !std::isfinite(expected)) {
    if (overflow < 0 || column < overflow) overflow = column;
    return;
  }
  const double d = std::abs(found - expected);
  if (d > 0) worst = std::max(worst, d / (std::abs(expected) + std::numeric_limits<double>::min()));
}

void MapCheck::merge(const MapCheck& other) {
  worst = std::max(worst, other.worst);
  if (overflow < 0 || (other.overflow >= 0 && other.overflow < overflow)) overflow = other.overflow;
}

}  // namespace lemma
