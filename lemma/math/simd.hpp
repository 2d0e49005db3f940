// lemma/math/simd.hpp: hot loops in the widest vectors this CPU has, chosen at run time.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/math/twofold.hpp>
#include <span>
#include <string>

namespace lemma::simd {

/// "AVX3", "AVX2", "SSE4", …: which kernels run here. The same level gives the same bits.
std::string level();

/// out[i] = exp(in[i]), to about one unit in the last place.
void exp(std::span<const double> in, std::span<double> out);

/// Of each row of x the nearest centre (the first of equals) and the squared distance to it, Σⱼ (xᵢⱼ − c_kj)².
void nearest(const MatrixView& x, const MatrixView& centres, std::span<int> which, std::span<double> distance);
/// All of them: out(i, k) = ‖xᵢ − c_k‖².
void squared_distances(const MatrixView& x, const MatrixView& centres, Eigen::Ref<Matrix> out);

/// out = scale (x − origin), and sum += scale · out where there is a sum: how rows are centred before they are squared.
void centre(std::span<const double> x, std::span<const double> origin, double scale, std::span<double> out,
            std::span<double> sum = {});

/// Σ aⱼ bⱼ as if in twice the working precision.
Twofold dot(std::span<const double> a, std::span<const double> b);
/// (sum + rest)ⱼ += (factor.value + factor.rest) xⱼ, in twice the working precision.
void add_scaled(Twofold factor, std::span<const double> x, std::span<double> sum, std::span<double> rest);

}  // namespace lemma::simd
