// lemma/optimize/stop.hpp: why a search ended, for the code that goes on from there; name_of() says it to people.
#pragma once
#include <array>
#include <lemma/core/params.hpp>
#include <string_view>

namespace lemma {

enum class Stop {
  not_yet,
  closed_form,
  converged,
  iteration_limit,
  pass_limit,
  cancelled,
  by_caller,
  no_descent,
  no_progress,
  no_step,
  not_a_number,
  indefinite,       // of the kernel
  separated,        // a likelihood without a maximum
  overlap_unknown,  // it may have none
  looked_again
};
constexpr auto names_of(Stop) {
  return std::array<std::string_view, 15>{"going on",
                                          "closed form",
                                          "converged",
                                          "iteration limit",
                                          "pass limit",
                                          "cancelled",
                                          "stopped by the caller",
                                          "no further descent",
                                          "no further progress",
                                          "no step makes the objective smaller",
                                          "not a number",
                                          "the kernel matrix is not positive semidefinite",
                                          "separated",
                                          "overlap not decided",
                                          "looked at again"};
}

}  // namespace lemma
