// app/elsewhere_test.cpp
#include "elsewhere.hpp"

#include <gtest/gtest.h>
#include <lemma/geometry/kernel.hpp>

namespace lemma::app {
namespace {

TEST(Elsewhere, FlagsOfOthersAreMetWithOursWhereTheMethodHasThem) {
  const std::vector<std::string> forest{"--trees", "--depth", "--seed"}, lasso{"--lambda", "--max_iterations"};
  EXPECT_EQ(flag_here("--n_estimators", forest), ": here it is '--trees'");
  EXPECT_EQ(flag_here("--nEstimators", forest), ": here it is '--trees'");
  EXPECT_EQ(flag_here("--random-state", forest), ": here it is '--seed'");
  EXPECT_EQ(flag_here("--n_estimators", lasso), "");
  EXPECT_EQ(flag_here("--C", lasso), ": here it is '--lambda', which is 1 / C");
  EXPECT_EQ(flag_here("--max_iter", lasso), ": here it is '--max_iterations'");
  EXPECT_EQ(flag_here("--lamda", lasso), " (did you mean '--lambda'?)");
  EXPECT_EQ(flag_here("--n_estimators", {"--rounds"}), ": here it is '--rounds'");
  EXPECT_EQ(flag_here("--k", {"--components", "--seed"}), ": here it is '--components'");
  EXPECT_EQ(flag_here("--components", {"--k", "--seed"}), ": here it is '--k'");
}

TEST(Elsewhere, AKernelThatIsProposedIsOne) {
  for (const std::string typed : {"--gamma", "--degree"}) {
    const std::string said = flag_here(typed, {"--kernel"});
    const auto from = said.find("--kernel '") + std::string_view("--kernel '").size();
    ASSERT_LT(from, said.size()) << said;
    EXPECT_NO_THROW(Kernel::parse(said.substr(from, said.find('\'', from) - from))) << said;
  }
}

TEST(Elsewhere, SoAreCommands) {
  const std::vector<std::string> ours{"fit", "show", "describe", "evaluate"};
  EXPECT_EQ(command_here("summary", ours), ": here it is 'show'");
  EXPECT_EQ(command_here("train", ours), ": here it is 'fit'");
  EXPECT_EQ(command_here("descibe", ours), " (did you mean 'describe'?)");
  EXPECT_EQ(command_here("xyzzy", ours), "");
}

}  // namespace
}  // namespace lemma::app
