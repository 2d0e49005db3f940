// lemma/optimize/programme.hpp: linear and convex quadratic programmes, and the proof of an answer.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/core/parallel.hpp>
#include <lemma/core/sparse.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace lemma {

/// minimise  c·x   subject to  row_lower ≤ A x ≤ row_upper,  lower ≤ x ≤ upper.
///
/// Equal bounds make an equation, an infinite bound is none, and an empty vector of bounds has none on its side. The
/// columns are free unless they are bounded. With no rows A may be left out.
struct LinearProgramme {
  Vector c;
  std::variant<Matrix, Csr> a;
  Vector row_lower, row_upper;  // one per row of A
  Vector lower, upper;          // one per column

  Index columns() const { return c.size(); }
  Index rows() const;
};

/// minimise  ½ xᵀQx + c·x  over the same set. Q is symmetric and positive semidefinite.
struct QuadraticProgramme {
  Matrix q;
  LinearProgramme linear;
};

/// One multiplier per row and one per column (the reduced cost). The Lagrangian is
///     ½ xᵀQx + c·x − y·(A x) − d·x,
/// so that a positive multiplier pushes against a lower bound, a negative one against an upper bound, and y is the
/// change of the least value when the bound that holds row i back moves by one.
struct Multipliers {
  Vector rows;     // y
  Vector columns;  // d = Qx + c − Aᵀy at the optimum
};

enum class ProgrammeStatus {
  solved,
  infeasible,  // no x meets the constraints: `farkas` proves it
  unbounded,   // the objective falls without end along `ray`
  stopped      // iteration limit, cancelled or numbers that are too hard: x is the best there is
};
std::string_view name_of(ProgrammeStatus status);

struct ProgrammeAnswer {
  ProgrammeStatus status = ProgrammeStatus::stopped;
  Vector x;
  Multipliers dual;
  double value = 0;
  long long iterations = 0;
  std::string message;  // one sentence a person can read
  /// When infeasible: Aᵀy + d = 0, and yet the least y·(A x) + d·x within all bounds is above 0. Empty otherwise.
  Multipliers farkas;
  /// When unbounded: from any feasible x, all x + s·ray are feasible (s ≥ 0), Q·ray = 0 and c·ray < 0. Empty otherwise.
  Vector ray;

  bool solved() const { return status == ProgrammeStatus::solved; }
};

enum class Simplex { dual, primal };

struct LinearProgrammeOptions {
  Simplex simplex = Simplex::dual;
  double tolerance = 1e-9;  // on feasibility of both points
  long long most_iterations = 10'000'000;
  Execution execution = {};
};

struct QuadraticProgrammeOptions {
  double tolerance = 1e-9;  // on every entry of KktReport::worst()
  long long most_iterations = 200;
  Execution execution = {};
};

/// By the simplex method of COIN-OR's Clp. Error on sizes that differ, NaN, and bounds that cross.
ProgrammeAnswer solve(const LinearProgramme& programme, const LinearProgrammeOptions& options = {});

/// By Mehrotra's primal–dual interior point method. Each iteration factorises a matrix of the size of Q.
/// Error as above, and when Q is not symmetric or not positive semidefinite.
ProgrammeAnswer solve(const QuadraticProgramme& programme, const QuadraticProgrammeOptions& options = {});

/// The Karush–Kuhn–Tucker conditions of a pair of points, wherever they come from. All residuals are largest absolute
/// entries in the units of the programme; the scales are what makes them comparable with 1.
struct KktReport {
  double stationarity = 0;     // |Qx + c − Aᵀy − d|
  double primal = 0;           // how far A x and x lie outside their bounds
  double dual_sign = 0;        // multipliers that push against a bound which is not there
  double complementarity = 0;  // |multiplier| × distance from the bound it pushes against
  double value = 0;            // ½ xᵀQx + c·x
  double dual_value = 0;       // y⁺·row_lower − y⁻·row_upper + d⁺·lower − d⁻·upper − ½ xᵀQx
  double gap = 0;              // value − dual_value: never below 0 when both points are feasible
  double gradient_scale = 1;   // max(1, |Qx|, |c|, |Aᵀy|)
  double point_scale = 1;      // max(1, |x|, |A x|)
  double value_scale = 1;      // max(1, |value|, |dual_value|)

  /// The largest of all residuals and |gap|, each over its scale. NaN counts as infinite.
  double worst() const;
  bool holds(double tolerance) const { return worst() <= tolerance; }
};
KktReport check_kkt(const LinearProgramme& programme, const VectorView& x, const Multipliers& dual);
KktReport check_kkt(const QuadraticProgramme& programme, const VectorView& x, const Multipliers& dual);

/// How well a proof of infeasibility or of an unbounded objective holds.
struct ProofReport {
  double residual = 0;  // largest violation of the proof's equations and signs
  double margin = 0;    // by how much it proves its point: above 0, and far above the residual
  bool holds(double tolerance) const { return margin > 0 && residual <= tolerance * margin; }
};
ProofReport check_farkas(const LinearProgramme& programme, const Multipliers& farkas);
ProofReport check_ray(const LinearProgramme& programme, const VectorView& ray);
ProofReport check_ray(const QuadraticProgramme& programme, const VectorView& ray);

}  // namespace lemma
