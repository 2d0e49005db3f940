// lemma/reduce/lift.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/reduce/shared/monomials.hpp>

namespace lemma {

enum class LiftKind { parabolic, axis_aligned, quadric };
constexpr auto names_of(LiftKind) { return std::array<std::string_view, 3>{"parabolic", "axis_aligned", "quadric"}; }

/// Lifts rows so that a plane in the new columns is a curved surface in the old ones:
///
///     parabolic       x → (x, ‖x‖²)                 spheres
///     axis_aligned    x → (x, x₁², …, x_p²)         ellipsoids and hyperboloids along the axes
///     quadric         x → (x, x₁², x₁x₂, …, x_p²)   all quadrics
///
/// A linear classifier after it draws circles and ellipses. Planes are spheres of infinite radius, so nothing is lost.
///
/// Cost         p + 1, 2p, or p (p + 3)/2 columns. Nothing is learned but the number of columns.
/// Certificate  consistent: the squares and products are taken from the rows again, in another order.
struct Lift {
  LiftKind kind = LiftKind::parabolic;

  static constexpr std::string_view name = "lift";
  static constexpr MethodAbout about{.family = "reduce",
                                     .task = Task::transformation,
                                     .summary = "adds squares, so that planes become spheres, ellipsoids, quadrics",
                                     .objective = "x -> (x, ||x||^2), (x, x1^2, ..., xp^2) or (x, all x_i x_j)",
                                     .example = "lemma fit lift iris '~ petal_length + petal_width' --kind quadric",
                                     .scans = true,
                                     .takes_weights = true,
                                     .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("kind", &Lift::kind, "what is added: the squared length, the squares, or all products of two")};
  }
};
static_assert(Described<Lift>);

struct LiftModel : Evidence {
  Lift spec;
  Index columns = 0;

  static constexpr auto fields() {
    return Listing{result("columns", &LiftModel::columns, "of the rows it was fitted on")};
  }
  static constexpr UpdateKind kUpdates = UpdateKind::exact;
  Index width() const { return columns; }
  void check() const;
  Index output_width() const;
  Matrix transform(const MatrixView& x) const;
  /// The first columns of what it made.
  Matrix inverse(const MatrixView& z) const;
  std::vector<std::string> output_names(const std::vector<std::string>& features) const;
  std::string summary(const Names& names) const;
};

LiftModel fit(const Valid<Lift>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LiftModel& model, const Rows& rows, const Execution& execution);
/// Nothing is learned from rows but how many columns they have: the same model, seen by the new rows.
LiftModel updated(const LiftModel& model, const Rows& rows, const FitOptions& options);

extern template const Method& method_of<Lift>();

}  // namespace lemma
