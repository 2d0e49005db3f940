// lemma/validate/answers.hpp: what a model says of rows beside what is true of them.
#pragma once
#include <lemma/core/matrix.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lemma {

/// Given classes to hold clusters against.
struct GivenClasses {
  std::string name;
  std::vector<std::string> classes;
  Labels labels;
};

/// What there is not is empty.
struct Answers {
  Vector value;          // predicted numbers
  Labels predicted;      // predicted classes, or clusters
  Matrix probabilities;  // of the classes
  Vector score;          // of two classes without probabilities: higher for the second
  Vector y;              // the response: numbers,
  Labels label;          // or classes
  Vector weight;         // frequencies
  std::optional<GivenClasses> truth;
};

}  // namespace lemma
