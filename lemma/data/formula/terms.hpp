// lemma/data/formula/terms.hpp: the set of terms that a part of a formula means. Only formula.cpp includes it.
#pragma once
#include <algorithm>
#include <iterator>
#include <lemma/data/expression.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

namespace lemma {

using Bits = std::vector<int>;  // a term: the numbers of its variables, rising

struct HashBits {
  std::size_t operator()(const Bits& bits) const {
    std::size_t h = bits.size();
    for (const int bit : bits) h = h * 0x9E3779B97F4A7C15u + static_cast<std::size_t>(bit) + 1;
    return h;
  }
};

/// Terms in the order they came in, each once; what a part of a formula means.
class TermSet {
 public:
  void add(Bits bits) {
    const auto [found, is_new] = place_.try_emplace(bits, terms_.size());
    if (is_new) terms_.emplace_back(std::move(bits));
  }
  void add(const TermSet& other) {
    for (const auto& term : other.terms_)
      if (term) add(*term);
  }
  void remove(const TermSet& other) {
    for (const auto& term : other.terms_) {
      if (!term) continue;
      const auto found = place_.find(*term);
      if (found == place_.end()) continue;
      terms_[found->second].reset();
      place_.erase(found);
    }
  }
  std::size_t size() const { return place_.size(); }
  std::vector<Bits> terms() const {
    std::vector<Bits> all;
    for (const auto& term : terms_)
      if (term) all.push_back(*term);
    return all;
  }

  std::optional<bool> intercept;    // said by a 1 or 0 in this part
  std::vector<Expression> offsets;  // offset(z) in this part

 private:
  std::vector<std::optional<Bits>> terms_;
  std::unordered_map<Bits, std::size_t, HashBits> place_;
};

inline Bits united(const Bits& a, const Bits& b) {
  Bits both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace lemma
