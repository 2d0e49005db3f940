// lemma/core/environment_test.cpp
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <lemma/core/environment.hpp>
#include <string>
#include <thread>
#include <vector>

namespace lemma {
namespace {

std::string value_of(const char* name) {
  const char* found = std::getenv(name);
  return found ? found : "(none)";
}

TEST(OtherEnvironment, IsInForceAsLongAsItLives) {
  const std::string path = value_of("PATH");
  {
    const OtherEnvironment other({{"LEMMA_TEST_A", "1"}, {"PATH", "/nowhere"}});
    EXPECT_EQ(value_of("LEMMA_TEST_A"), "1");
    EXPECT_EQ(value_of("PATH"), "/nowhere");
    EXPECT_EQ(value_of("LEMMA_TEST_B"), "(none)");
  }
  EXPECT_EQ(value_of("LEMMA_TEST_A"), "(none)");
  EXPECT_EQ(value_of("PATH"), path);
}

TEST(OtherEnvironment, DoesNotDisturbThreadsThatRead) {
  ASSERT_EQ(::setenv("LEMMA_TEST_KEPT", "as it was", 1), 0);
  std::atomic<bool> done = false;
  std::atomic<long> wrong = 0;
  std::vector<std::thread> readers;
  for (int k = 0; k < 3; ++k)
    readers.emplace_back([&] {
      while (!done)
        if (value_of("LEMMA_TEST_KEPT") != "as it was") ++wrong;
    });
  for (int k = 0; k < 2000; ++k) {
    const OtherEnvironment outer({{"LEMMA_TEST_" + std::to_string(k), "x"}});
    const OtherEnvironment inner({{"LEMMA_TEST_C", std::string(100, 'x')}});
  }
  done = true;
  for (auto& each : readers) each.join();
  EXPECT_EQ(wrong, 0);
  ::unsetenv("LEMMA_TEST_KEPT");
}

}  // namespace
}  // namespace lemma
