// lemma/neighbor/prototypes.hpp: few rows, or points, in the place of all rows of the nearest neighbour.
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

enum class PrototypesBy { condensed, edited, kmeans, lvq1, lvq2, lvq3 };
constexpr auto names_of(PrototypesBy) {
  return std::array<std::string_view, 6>{"condensed", "edited", "kmeans", "lvq1", "lvq2", "lvq3"};
}

/// A row gets the class of the prototype m nearest to it (Euclidean; the first of equals). The prototypes are
///
///   condensed  rows (Hart 1968): begin with one of each class, and go through all rows again and again, adding each that those so far
///              get wrong, until they get every row right
///   edited     rows (Wilson 1972): all but those whose k nearest others vote for another class: the border is smoothed
///   kmeans     the centres of k-means in each class
///   lvq1       these centres, learning from one row x after the other (Kohonen 1995): the nearest goes a share α of the way to x when it has
///              x's class, and as far away from x when it has not
///   lvq2       LVQ 2.1: of the two nearest, when one has x's class and the other has not and x lies in the window between them,
///              min(d₁/d₂, d₂/d₁) > (1 − window)/(1 + window), the first goes to x and the second away
///   lvq3       the same, and two nearest that both have x's class go epsilon α of the way to it
///
/// with α falling evenly from `rate` to 0. Rows are taken in an order that their values give them: neither the order in which they come
/// nor a seed changes anything.
///
/// What is lost: each fifth of the rows is held out in turn, prototypes are made from the others, and the errors on the fifth are
/// counted of the prototypes, and of the nearest of all the others.
///
/// Cost         O(n p m) for m prototypes (LVQ: for each pass; edited: one search for the neighbours of each row), six times; memory O(n p).
/// Certificate  consistent, by kind. condensed: each prototype is a row of its class that those before it get wrong, and together they get
///              every row right that has no equal row of another class. edited: from all distances of each row, sorted, those
///              left out are those that are outvoted. kmeans: each centre is the mean of the rows of its class that are nearest to
///              it. lvq: the centres it began at are such, and the steps taken again from there end at the prototypes.
struct Prototypes {
  PrototypesBy by = PrototypesBy::condensed;
  int k = 3;
  int each = 3;
  double rate = 0.1;
  double window = 0.3;
  double epsilon = 0.3;
  int passes = 30;

  static constexpr std::string_view name = "prototypes";
  static constexpr MethodAbout about{
      .family = "neighbor",
      .task = Task::classification,
      .summary = "the class of the nearest of few prototypes: condensed or edited rows, k-means in each class, LVQ",
      .objective = "class of the prototype m of least ||x - m||",
      .example = "lemma fit prototypes iris 'species ~ .' --by condensed",
      .keeps_rows = true};
  static constexpr auto params() {
    using S = Prototypes;
    return Listing{
        param("by", &S::by, "which prototypes: rows that are needed, rows that are not outvoted, or centres"),
        param("k", &S::k, "edited: the nearest others that vote on a row", at_least(1)),
        param("each", &S::each, "kmeans and lvq: prototypes of each class", at_least(1)),
        param("rate", &S::rate, "lvq: alpha of the first step, the share of the way that a prototype goes",
              within(0, 1)),
        param("window", &S::window, "lvq2 and lvq3: width of the window between two prototypes", within(0, 1)),
        param("epsilon", &S::epsilon, "lvq3: the share of a step where both nearest have the class", within(0, 1)),
        param("passes", &S::passes, "lvq: how often each row is learned from", between(1, 1e6))};
  }
};
static_assert(Described<Prototypes>);

struct PrototypesModel : Evidence {
  Prototypes spec;
  Matrix prototypes;
  Vector classes, counts;
  double kept = 0, error = 0;
  Vector held_out;
  Matrix start;

  static constexpr auto fields() {
    using M = PrototypesModel;
    return Listing{
        result("prototypes", &M::prototypes, "one in each row; condensed: in the order in which they were added",
               kByFeature),
        result("classes", &M::classes, "of each prototype, counted from 0"),
        result("counts", &M::counts, "prototypes of each class", kByClass),
        result("kept", &M::kept, "prototypes by rows"),
        result("error", &M::error, "share of the rows that the prototypes get wrong"),
        result("held_out", &M::held_out,
               "share of held-out rows that prototypes of the other rows get wrong, and that the nearest of all the "
               "other rows gets wrong"),
        state("start", &M::start, "lvq: the centres it began at")};
  }
  static constexpr auto parts() {
    return Listing{
        part({"prototype", "number of the nearest prototype, from 1", Given::asked}, &PrototypesModel::prototype)};
  }
  Index width() const { return prototypes.cols(); }
  Index class_count() const { return counts.size(); }
  void check() const;
  Labels predict(const MatrixView& x) const;
  Vector prototype(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

PrototypesModel fit(const Valid<Prototypes>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const PrototypesModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Prototypes>();

}  // namespace lemma
