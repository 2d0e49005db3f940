// lemma/linear/perceptron.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

/// Rosenblatt's perceptron: rows are taken one after the other, and a plane w·x + b₀ that has a row on its wrong side (or on
/// itself) is turned towards it,
///
///     w ← w + s x,  b₀ ← b₀ + s,        s = +1 for the positive class, −1 for the other,
///
/// until a pass over all rows changes nothing: then the plane separates the classes. With a margin γ between them and rows no
/// longer than R that takes at most (R/γ)² updates (Novikoff). Where no plane separates them the updates never end; after
/// `passes` of them the work stops, says so, and gives the plane that went longest without a mistake (Gallant's pocket).
/// More than two classes: one plane for each, against all others.
///
/// Cost         O(n p) a pass, one row after the other; memory does not grow with the rows.
/// Certificate  optimal when all planes separate: no row is on the wrong side. Otherwise nothing is claimed.
struct Perceptron {
  int max_iterations = 200;
  bool intercept = true;
  bool standardize = true;

  static constexpr std::string_view name = "perceptron";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::classification,
      .summary = "a plane between two classes, where there is one",
      .objective = "w + s x for each row x on the wrong side (s = +1 or -1), until there is none",
      .example = "lemma fit perceptron wine 'class ~ .'",
      .scans = true,
      .takes_weights = true,
      .row_order_matters = true};
  static constexpr auto params() {
    return Listing{formerly("passes", param("max_iterations", &Perceptron::max_iterations,
                                            "passes over the rows after which it gives up", between(1, 1e9))),
                   param("intercept", &Perceptron::intercept, "planes need not pass through the origin"),
                   param("standardize", &Perceptron::standardize,
                         "work in columns of mean 0 and standard deviation 1; the results are in the user's units")};
  }
};
static_assert(Described<Perceptron>);

struct PerceptronModel : Evidence {
  Perceptron spec;
  PathMatrix coefficients;  // one row for each plane
  PathNumbers intercept, margin, errors, updates, passes;

  static constexpr auto fields() {
    using M = PerceptronModel;
    return Listing{result("coefficients", &M::coefficients,
                          "of the plane between two classes, or one row for each of more", kByFeature),
                   result("intercept", &M::intercept, "of each plane; 0 when none is fitted"),
                   result("margin", &M::margin,
                          "distance of the nearest row from the plane; negative where one is on the wrong side"),
                   result("errors", &M::errors, "weight of the rows on the wrong side"),
                   result("updates", &M::updates, "times the plane was turned"),
                   result("passes", &M::passes, "passes over the rows, with the one that changed nothing")};
  }
  static constexpr PlaneSum kPlaneSum = PlaneSum::plain;
  Index width() const { return coefficients.of.cols(); }
  Index planes() const { return coefficients.of.rows(); }
  Index class_count() const { return classes_for(planes()); }
  void check() const;
  Matrix decision(const MatrixView& x) const;  // w·x + b₀ of each plane
  Labels predict(const MatrixView& x) const;
  AffineMap affine() const { return {coefficients.of, intercept.of}; }
  std::string summary(const Names& names) const;
};

PerceptronModel fit(const Valid<Perceptron>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const PerceptronModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Perceptron>();

}  // namespace lemma
