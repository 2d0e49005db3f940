// lemma/plot/scale_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/plot/scale.hpp>

namespace lemma::plot {
namespace {

Extent between(double low, double high) {
  Extent out;
  out.add(low), out.add(high);
  return out;
}

std::vector<std::string> texts(const Scale& scale, int most) {
  std::vector<std::string> out;
  for (const Tick& tick : scale.ticks(most)) out.push_back(tick.text);
  return out;
}
using Texts = std::vector<std::string>;

Axis fixed(ScaleKind kind, double from, double to) {
  Axis out;
  out.kind = kind, out.from = from, out.to = to;
  return out;
}

TEST(Scale, TicksAreRoundNumbersAndAtLeastTwo) {
  EXPECT_EQ(texts(Scale(fixed(ScaleKind::linear, 0, 1), {}), 5), (Texts{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(texts(Scale(fixed(ScaleKind::linear, 0.76, 7.14), {}), 2), (Texts{"2", "4", "6"}));
  EXPECT_EQ(texts(Scale(fixed(ScaleKind::linear, 0, 50'000), {}), 3), (Texts{"0", "20,000", "40,000"}));
  for (double low = -3.7; low < 3; low += 0.37)
    for (double wide = 1e-3; wide < 1e6; wide *= 3.3)
      for (int most = 1; most < 12; ++most) {
        const auto ticks = Scale(fixed(ScaleKind::linear, low, low + wide), {}).ticks(most);
        EXPECT_GE(ticks.size(), most > 1 ? 2u : 1u) << low << ' ' << wide << ' ' << most;
        EXPECT_LE(ticks.size(), static_cast<std::size_t>(most) + 2);
        for (const Tick& tick : ticks) EXPECT_TRUE(tick.at >= low - 1e-9 * wide && tick.at <= low + wide * (1 + 1e-9));
      }
}

TEST(Scale, OfLogarithmsHasPowersOfTen) {
  const Scale scale(fixed(ScaleKind::log, 1, 1000), {});
  EXPECT_EQ(texts(scale, 4), (Texts{"1", "10", "100", "1000"}));
  EXPECT_DOUBLE_EQ(scale.place(10), 1.0 / 3);
  EXPECT_TRUE(std::isnan(scale.place(0)));
  EXPECT_TRUE(std::isnan(scale.place(-1)));
  Axis open;
  open.kind = ScaleKind::log;
  Extent marks = between(0, 100);
  marks.add(0.1);
  EXPECT_LT(Scale(open, marks).from(), -1) << "what is not positive has no place, and takes none";
}

TEST(Scale, OfDatesHasTheFirstOfMonthsAndYears) {
  EXPECT_EQ(texts(Scale(fixed(ScaleKind::time, 18262, 18262 + 366), {}), 5),
            (Texts{"2020-01", "2020-04", "2020-07", "2020-10", "2021-01"}));
  EXPECT_EQ(texts(Scale(fixed(ScaleKind::time, 0, 3653), {}), 6),
            (Texts{"1970", "1972", "1974", "1976", "1978", "1980"}));
}

TEST(Scale, OfOneValueAndOfNoneHasRoom) {
  const Scale one(Axis{}, between(5, 5)), none(Axis{}, {}), zero(Axis{}, between(0, 0));
  for (const Scale* scale : {&one, &none, &zero}) EXPECT_LT(scale->from(), scale->to());
  EXPECT_NEAR(one.place(5), 0.5, 1e-12);
}

TEST(Scale, HoldsHugeAndTinyNumbers) {
  for (const double size : {1e-300, 1e300}) {
    const Scale scale(Axis{}, between(-size, size));
    EXPECT_NEAR(scale.place(0), 0.5, 1e-9);
    for (const Tick& tick : scale.ticks(5)) EXPECT_TRUE(std::isfinite(tick.at));
  }
}

TEST(Scale, OfLevelsHasOneTickEachOrAsManyAsThereIsRoomFor) {
  Axis axis;
  axis.kind = ScaleKind::factor, axis.levels = {"a", "b", "c", "d"};
  const Scale scale(axis, {});
  EXPECT_EQ(texts(scale, 10), (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(texts(scale, 2), (Texts{"a", "c"}));
  EXPECT_DOUBLE_EQ(scale.place(0), 0.125);
}

}  // namespace
}  // namespace lemma::plot
