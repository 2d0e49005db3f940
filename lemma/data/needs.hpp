// lemma/data/needs.hpp: what a method needs of a table; what a design makes of the columns follows from it.
#pragma once

namespace lemma {

/// What a level is that did not occur in the training rows: a mistake, or a value that is not known.
enum class Unseen { error, missing };

/// Said once by each method, for its parameters (Method::needs).
struct Needs {
  bool codes = false;             // categories as they are: one column of codes each, named in Rows::levels
  int letters = 0;                // text columns as counts of their pieces of so many letters; 0: none are taken
  bool missing = false;           // NaN in x is its business
  Unseen unseen = Unseen::error;  // of a category, at prediction
  bool classes = false,
       numbers = false;  // the response that it takes; both: the type of its column decides; neither: there is none
  bool counts = false;   // cbind(successes, failures) as the response: proportions
  bool several = false;  // cbind(y1, y2): several responses; of two numbers `counts` comes first
  bool offset = false;   // a known part of the prediction
};

}  // namespace lemma
