// tests/fixed_seed.cpp: properties are tried on the same examples in every run. RC_PARAMS="seed=7 max_success=10000" tries others.
// No run of the tool keeps a ledger unless a test asks for one.
#include <cstdlib>

namespace {

[[maybe_unused]] const int is_set = ::setenv("RC_PARAMS", "seed=20101", 0);
[[maybe_unused]] const int keeps_none = ::setenv("LEMMA_NO_LEDGER", "1", 0);

}  // namespace
