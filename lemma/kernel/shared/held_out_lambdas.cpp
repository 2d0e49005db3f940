// lemma/kernel/shared/held_out_lambdas.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/shared/held_out_lambdas.hpp>
#include <lemma/model/held_out.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

std::vector<double> held_out_lambdas(std::string_view method, const Kernel& kernel, const KernelRows& data) {
  if (kernel.contains<Precomputed>())
    throw Error(fmt::format(
        "{}: lambda auto holds rows out, and a precomputed kernel has columns for all of them; give --lambda a number",
        method));
  const double largest = data.weight.dot(BoundKernel(kernel, data.points).diagonal());
  return lambda_path(largest > 0 && std::isfinite(largest) ? largest : 1, kTried, 1e-6);
}

}  // namespace lemma
