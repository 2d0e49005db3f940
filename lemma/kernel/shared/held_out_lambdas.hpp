// lemma/kernel/shared/held_out_lambdas.hpp: the penalties that `lambda auto` tries.
#pragma once
#include <lemma/kernel/shared/rows.hpp>

namespace lemma {

/// From the trace of the weighted kernel matrix, beside which nothing of the rows is left, down to a millionth of it, which follows
/// each of them. Error for a precomputed kernel, whose rows cannot be held out.
std::vector<double> held_out_lambdas(std::string_view method, const Kernel& kernel, const KernelRows& data);

}  // namespace lemma
