// lemma/select/search_space.hpp: parameters to be chosen, each with the values, or the range, that it may take.
#pragma once
#include <lemma/core/random.hpp>
#include <lemma/model/any_spec.hpp>

namespace lemma {

/// One parameter. Either values in the order given, or a range on the scale of its description.
struct SearchAxis {
  std::string path;                     // "lambda", "svm.C", "base.depth"
  std::vector<Value> values;            // empty: a range
  std::vector<std::string> texts = {};  // of the values, as typed
  double low = 0, high = 0;
  Step step = Step::linear;
  bool whole = false;
  int points = 0;  // of a range as a grid; 0: five

  bool is_range() const { return values.empty(); }
  /// The value at a place between 0 and 1.
  Value at(double place) const;
};

/// A point of the space: a place between 0 and 1 on each axis.
using Place = std::vector<double>;

class SearchSpace {
 public:
  /// From texts such as 'lambda=0.1,1,10', 'C=0.01:100' (a range), 'C=0.01:100:9' (so many points of it) or 'C' (the range of
  /// its description). A name without the step of a pipeline is enough where only one step has it. Error for one that the
  /// method does not have, a value it does not take, or a parameter twice.
  SearchSpace(const AnySpec& spec, const std::vector<std::string>& texts);

  const std::vector<SearchAxis>& axes() const { return axes_; }
  /// All combinations, the last axis fastest. Error when they are too many.
  std::vector<Place> grid() const;
  /// A place drawn at random.
  Place draw(RandomStream& stream) const;
  /// The method with the parameters of a place.
  AnySpec spec(const Place& place) const;
  /// {"lambda": 0.1, …}
  Value params(const Place& place) const;
  std::string text(const Place& place) const;
  /// The place as numbers that a model can learn from: ranges as they are, each of several values a column of its own.
  Vector coordinates(const Place& place) const;

 private:
  AnySpec spec_;
  std::vector<SearchAxis> axes_;
};

/// "a,b(c,d),e" at the commas that stand in no brackets.
std::vector<std::string> split_outside_brackets(std::string_view text);

}  // namespace lemma
