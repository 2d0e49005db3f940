// lemma/ensemble/mixture_of_experts/rounds.hpp: the two steps of EM over gate and experts. Inner header.
#pragma once
#include <functional>
#include <lemma/ensemble/mixture_of_experts.hpp>
#include <lemma/ensemble/shared/inside.hpp>

namespace lemma::ensemble {

/// What EM changes from round to round.
struct Panel {
  std::vector<AnyModel> experts;
  AnyModel gate;
  Vector deviations;  // of numbers
};

struct Shared {
  Matrix responsibilities;  // a row each, in the rows' own order
  double log_likelihood;    // mean, in nats
};

/// The rows as gate and experts see them. Responsibilities come in the order of the rows' own values, which has nothing to do with the
/// one in which they came.
class Assembly {
 public:
  Assembly(const MixtureOfExperts& spec, const TrainingRows& rows);

  Index size() const { return std::ssize(order_); }
  /// At the start: nine tenths to the nearest of rows drawn at random.
  Matrix draw(std::uint64_t seed, int start) const;
  /// The E step.
  Shared share(const Panel& panel, const Execution& execution) const;
  /// The M step. Error where an expert of numbers is left with less than a row.
  Panel fit(const Matrix& responsibilities, const FitOptions& options) const;
  Vector deviations(const std::vector<AnyModel>& experts, const Matrix& responsibilities,
                    const Execution& execution) const;
  /// 1/W Σ wᵢ Σ_k found log(found / kept).
  double divergence(const Matrix& found, const Matrix& kept) const;
  /// Σ wᵢ r_ik / W.
  Vector shares(const Matrix& responsibilities) const;
  /// The rows of expert k, weighted, and those of the gate.
  void with_rows_of(Index k, const Matrix& responsibilities, const std::function<void(const Rows&)>& visit) const;
  void with_rows_of_gate(const Matrix& responsibilities, const std::function<void(const Rows&)>& visit) const;

 private:
  double log_density(const Matrix& said, const Vector& deviations, Index k, Index row) const;
  double least_deviation() const;
  const MixtureOfExperts& spec_;
  const TrainingRows& rows_;
  std::vector<Index> order_;
};

}  // namespace lemma::ensemble
