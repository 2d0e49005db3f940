// lemma/core/error.cpp
#include <algorithm>
#include <cctype>
#include <lemma/core/error.hpp>

namespace lemma {
namespace {

constexpr int kEdit = 8;  // a whole edit; a wrong case counts one, so that PCA is near pca

int substitution(char a, char b) {
  if (a == b) return 0;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b) ? 1 : kEdit;
}

/// Edit distance with neighbouring letters swapped as one edit (Damerau), by three rows of the usual table.
int distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = kEdit * static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = kEdit * static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + kEdit, row[j - 1] + kEdit, above[j - 1] + substitution(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + kEdit);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

/// Was the typing only broken off? Dashes alone begin everything.
bool begins(std::string_view whole, std::string_view typed) {
  const auto word = typed.find_first_not_of('-');
  return word != std::string_view::npos && typed.size() >= word + 2 && whole.starts_with(typed);
}

}  // namespace

void require(bool condition, std::string_view otherwise) {
  if (!condition) throw Error(std::string(otherwise));
}

std::string nearest(std::string_view typed, const std::vector<std::string>& candidates) {
  std::string best;
  int least = kEdit * std::max<int>(1, static_cast<int>(typed.size() + 1) / 3) + 1;
  for (const auto& candidate : candidates) {
    int d = distance(typed, candidate);
    if (begins(candidate, typed)) d = std::min(d, kEdit);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates) {
  const std::string best = nearest(typed, candidates);
  return best.empty() ? "" : " (did you mean '" + best + "'?)";
}

}  // namespace lemma
