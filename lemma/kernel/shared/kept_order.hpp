// lemma/kernel/shared/kept_order.hpp: the rows of a fit, given in any order, in the order in which a model keeps them.
#pragma once
#include <lemma/geometry/same_rows.hpp>
#include <lemma/kernel/shared/rows.hpp>

namespace lemma {

/// The rows in the order in which the model keeps them; as they come when they are not its rows (a comparison then says
/// where), or when all that is known of them is their place, as with a precomputed kernel.
KernelRows in_kept_order(const Kernel& kernel, const KeptRows& kept, KernelRows data,
                         const std::function<Ties()>& ties = {});

}  // namespace lemma
