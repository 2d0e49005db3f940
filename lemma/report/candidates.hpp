// lemma/report/candidates.hpp: which methods a report tries, and on how many folds: by what the data are and how many there are.
#pragma once
#include <lemma/model/any_spec.hpp>
#include <lemma/validate/plan.hpp>

namespace lemma::reporting {

/// What is known of the data before anything is fitted.
struct Shape {
  Task task = Task::classification;
  Index rows = 0, features = 0, classes = 0;
};

struct Candidate {
  std::string method;  // as it is typed
  std::string why;     // what it is good for, in a few words
};
struct LeftOut {
  std::string method, reason;
};
struct Candidates {
  std::vector<Candidate> methods;  // the simplest first
  std::vector<LeftOut> left_out;   // too slow for so many rows, or not for data of this shape
};
/// The work grows with the rows, so what grows faster than they do is left out of large tables: a report takes about a minute on
/// two cores, whatever the data, and the same data always get the same methods.
Candidates candidates_for(const Shape& shape);

/// Folds for comparing: ten of few rows, three of many.
Plan plan_for(const Shape& shape);

/// From so many rows on a fifth of them is set apart to judge what was chosen.
inline constexpr Index kFewestToSplit = 150;
inline constexpr double kTestShare = 0.2;
/// Of more rows so many take part in the comparison, drawn at random; of unsupervised ones fewer, as silhouettes compare each two.
inline constexpr Index kMostCompared = 100'000, kMostClustered = 3'000;

}  // namespace lemma::reporting
