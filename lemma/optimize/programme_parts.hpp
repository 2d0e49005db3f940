// lemma/optimize/programme_parts.hpp: what the solvers of programmes share. Inner header: use programme.hpp.
#pragma once
#include <lemma/optimize/programme.hpp>
#include <limits>

namespace lemma::programme {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The same programme with every bound written out. Error when it makes no sense.
LinearProgramme checked(const LinearProgramme& programme);
/// The same for a quadratic one; whether Q is positive semidefinite is left to the factorisation.
QuadraticProgramme checked(const QuadraticProgramme& programme);

/// visit(row, column, value) for every entry that is not zero.
template <class Visit>
void for_entries(const std::variant<Matrix, Csr>& a, Visit visit) {
  if (const auto* sparse = std::get_if<Csr>(&a)) {
    for (Index i = 0; i < sparse->rows(); ++i)
      for (auto k = static_cast<std::size_t>(sparse->start[i]); k < static_cast<std::size_t>(sparse->start[i + 1]); ++k)
        if (sparse->value[k] != 0) visit(i, static_cast<Index>(sparse->column[k]), sparse->value[k]);
  } else {
    const Matrix& dense = std::get<Matrix>(a);
    for (Index i = 0; i < dense.rows(); ++i)
      for (Index j = 0; j < dense.cols(); ++j)
        if (dense(i, j) != 0) visit(i, j, dense(i, j));
  }
}

Vector times(const std::variant<Matrix, Csr>& a, const VectorView& x);
Vector transposed_times(const std::variant<Matrix, Csr>& a, const VectorView& y, Index columns);

/// What `run_clp` found, in Clp's words turned into ours; nothing is proved yet.
enum class ClpStatus { optimal, infeasible, unbounded, stopped, cancelled };
struct ClpAnswer {
  ClpStatus status = ClpStatus::stopped;
  Vector x;
  Multipliers dual;
  long long iterations = 0;
};
/// The simplex method on a checked programme, silently.
ClpAnswer run_clp(const LinearProgramme& programme, const LinearProgrammeOptions& options);

/// Asks, through two linear programmes that always have a solution, whether the set is empty or the objective falls
/// without end, and fills status, message and proof; false when neither is so. `q` may be empty.
bool explain(const Matrix& q, const LinearProgramme& programme, const LinearProgrammeOptions& options,
             ProgrammeAnswer& answer);

}  // namespace lemma::programme
