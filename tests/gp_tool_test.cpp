// tests/gp_tool_test.cpp: standard deviations and functions drawn at random, on the command line.
#include "run_tool.hpp"

#include <gtest/gtest.h>
#include <lemma/core/value.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(GpTool, PredictsWithDeviationsIntervalsAndSamples) {
  const Folder in;
  ASSERT_EQ(
      in.lemma("fit gp mcycle 'accel ~ times' --kernel '2000*rbf(sigma=5)' --noise 500 --optimise false -o m.lemma")
          .code,
      0);
  const auto sd = in.lemma("predict m.lemma mcycle --rows 1:3 --sd");
  EXPECT_TRUE(sd.out.starts_with("prediction,sd,sd_observation,residual\n")) << sd.out << sd.err;
  const Value said = from_json(in.lemma("predict m.lemma mcycle --interval prediction --sd --json").out).at("columns");
  const Vector half = (said.at("upper").as_vector() - said.at("lower").as_vector()) / 2;
  EXPECT_LT((half - 1.959963984540054 * said.at("sd_observation").as_vector()).cwiseAbs().maxCoeff(), 1e-9);
  const auto drawn = in.lemma("predict m.lemma mcycle --rows 1:3 --samples 2 --seed 4");
  EXPECT_TRUE(drawn.out.starts_with("prediction,sample_1,sample_2,residual\n")) << drawn.out << drawn.err;
  EXPECT_EQ(drawn.out, in.lemma("predict m.lemma mcycle --rows 1:3 --samples 2 --seed 4").out);
  EXPECT_NE(drawn.out, in.lemma("predict m.lemma mcycle --rows 1:3 --samples 2 --seed 5").out);
  EXPECT_NE(drawn.out, in.lemma("predict m.lemma mcycle --rows 1:3 --samples 2 --seed 4 --prior").out);
}

TEST(GpTool, WhatCannotBeHadIsRefused) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit kernel_ridge mcycle 'accel ~ times' -o ridge.lemma").code, 0);
  for (const auto& [arguments, word] :
       {std::pair{"predict ridge.lemma mcycle --sd", "kernel_ridge has no standard deviations"},
        {"predict ridge.lemma mcycle --samples 3", "kernel_ridge draws no functions"},
        {"predict ridge.lemma mcycle --prior", "--samples"},
        {"fit gp mcycle 'accel ~ times' --gigabytes 0.0001", "would take 142 kB"},
        {"fit gp mcycle 'accel ~ times' --noise -1", "noise"},
        {"fit gp mcycle 'accel ~ times' --kernel 'rbf(0)'", "gamma"}}) {
    const auto ran = in.lemma(arguments);
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_TRUE(contains(ran.err, word)) << arguments << "\n" << ran.err;
  }
}

}  // namespace
}  // namespace lemma
