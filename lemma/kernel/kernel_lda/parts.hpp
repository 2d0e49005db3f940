// lemma/kernel/kernel_lda/parts.hpp: what fitting and certifying share. Inner header: use lemma/kernel/kernel_lda.hpp.
#pragma once
#include <lemma/kernel/kernel_lda.hpp>

namespace lemma::kernel_lda {

/// What the labels and weights alone say.
struct Frame {
  Vector counts, prior;
  Matrix means;    // n × K: m_k = Σ means(i, k) φ(xᵢ)
  Matrix between;  // K × K: M_k = Σ between(l, k) m_l

  Frame(const KernelLda& spec, const KernelRows& data, const std::vector<std::string>& classes);
  double divisor() const { return counts.sum() - static_cast<double>(counts.size()); }
  /// Each row less the row of its class's means.
  Matrix within(const KernelRows& data, Matrix values, const Matrix& of_means) const;
};

/// The class means along the discriminants, which are turned by them. `with_means`: ⟨φ(xᵢ), m_k⟩.
void place_means(KernelLdaModel& model, const Matrix& with_means);

Certificate certificate_of(const KernelLdaModel& model, const BoundKernel& kernel, const KernelRows& data,
                           const Frame& frame, const Execution& execution);

}  // namespace lemma::kernel_lda
