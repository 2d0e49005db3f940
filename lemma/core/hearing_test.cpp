// lemma/core/hearing_test.cpp
#include <gtest/gtest.h>

#include <atomic>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>

namespace lemma {
namespace {

class Switch final : public Progress {
 public:
  void report(double, std::string_view) override {}
  bool cancelled() const override { return off; }
  std::atomic<bool> off{false};
};

Execution told_by(Progress* progress, int threads) {
  Execution execution;
  execution.threads = threads;
  execution.progress = progress;
  return execution;
}

TEST(Hearing, NobodyIsAskedOutsideOfAnyWork) {
  EXPECT_NO_THROW(ask());
  EXPECT_EQ(heard().progress, nullptr);
  EXPECT_FALSE(heard().threads.has_value());
}

TEST(Hearing, APieceOfALoopHearsTheCancelOfTheLoop) {
  for (const int threads : {1, 3}) {
    Switch progress;
    const Execution execution = told_by(&progress, threads);
    EXPECT_NO_THROW(parallel_for(4, execution, [](Index) { ask(); }));
    EXPECT_THROW(parallel_for(1, execution,
                              [&](Index) {
                                EXPECT_EQ(heard().progress, &progress);
                                EXPECT_EQ(heard().threads, threads);
                                progress.off = true;
                                ask();
                                ADD_FAILURE() << "the question was not answered";
                              }),
                 Cancelled);
    EXPECT_EQ(heard().progress, nullptr);
  }
}

TEST(Hearing, AnInnerLoopHearsItsOwnAndTheOuterOneIsHeardAgainAfterwards) {
  Switch outer, inner;
  outer.off = true;
  const Execution of_outer = told_by(&outer, 2), of_inner = told_by(&inner, 2), deaf = told_by(nullptr, 2);
  const Hearing hearing(of_outer);
  EXPECT_NO_THROW(parallel_for(2, of_inner, [](Index) { ask(); }));
  EXPECT_THROW(ask(), Cancelled);
  {
    const Hearing to_the_end(deaf);
    EXPECT_NO_THROW(ask());
  }
  EXPECT_THROW(ask(), Cancelled);
}

}  // namespace
}  // namespace lemma
