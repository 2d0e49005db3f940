// lemma/tree/optimal_tree/search.hpp: the best tree of a given depth, by dynamic programming with bounds.
//
// Let c(S, d) be the least cost of a tree of depth at most d on the rows S: what its leaves lose plus a price for each leaf. Then
//
//     c(S, d) = min( leaf(S),  min over splits S = L ∪ R of c(L, d−1) + c(R, d−1) )
//
// and most splits need not be looked at, because along one column (Brița, van der Linden and Demirović 2025)
//
//     fewer rows cost less        L ⊂ L'  ⇒  c(L, d) ≤ c(L', d)
//     near splits cost alike      c(split at u) ≥ c(split at v) − Σ of what the rows between u and v can lose at most
//
// What is known of a set of rows is kept, however it was reached.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/tree/shared/columns.hpp>
#include <memory>

namespace lemma::optimal {

/// Numbers: up to the rank `low` goes left, `high` is the next one. Categories: the code `low` goes left.
struct Question {
  Index column = -1;
  std::uint32_t low = 0, high = 0;
};
struct Branch;
using Subtree = std::shared_ptr<const Branch>;  // none: a leaf
struct Branch {
  Question asks;
  Subtree left, right;
};

/// A tree, what it costs, and what any tree costs at least. Both are the same where the search came to its end.
struct Found {
  double cost = 0, bound = 0;
  Subtree tree = nullptr;
};

struct Wanted {
  int depth = 2;
  double price = 0;       // of a leaf
  long long subsets = 0;  // of rows whose best subtree is looked for, at most
};
struct Searched {
  Found best;
  long long subsets = 0;
  bool complete = true;
};
Searched search(const RankedColumns& data, const Wanted& wanted, const Execution& execution);

/// What is a tie: a share of what a single leaf loses.
inline constexpr double kTie = 1e-12;

}  // namespace lemma::optimal
