// lemma/optimize/page_test.cpp: the example of optimise.md, compiled and run as it stands there.
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <lemma/optimize/minimise.hpp>
#include <lemma/optimize/programme.hpp>
#include <string>
#include <tests/places.hpp>

namespace lemma {
namespace {

TEST(Page, TheExampleDoesWhatItSays) {
  // clang-format off
// begin
// minimise ½‖Xw − y‖² + ½ λ‖w‖²
struct RidgeObjective {
  Matrix X;
  Vector y;
  double lambda;

  double value(const Vector& w) const { return 0.5 * (X * w - y).squaredNorm() + 0.5 * lambda * w.squaredNorm(); }
  double value(const Vector& w, Vector& gradient) const {
    gradient = X.transpose() * (X * w - y) + lambda * w;
    return value(w);
  }
};

const RidgeObjective f{Matrix{{1, 0}, {1, 1}, {1, 2}}, Vector{{1, 3, 5}}, 0.5};
const Minimum ridge = lbfgs(f, Vector::Zero(2), {.tolerance = 1e-12, .keep_trace = true});
// ridge.x, ridge.value, ridge.converged, ridge.stopped; ridge.trace is the objective after each iteration, for a plot

// the same line with w ≥ 0 and w₁ + w₂ ≤ 2, as a quadratic programme
const QuadraticProgramme programme{
    .q = f.X.transpose() * f.X + 0.5 * Matrix::Identity(2, 2),
    .linear = {.c = -f.X.transpose() * f.y, .a = Matrix{{1, 1}}, .row_upper = Vector{{2.0}}, .lower = Vector{{0, 0}}}};
const ProgrammeAnswer answer = solve(programme);
const KktReport proof = check_kkt(programme, answer.x, answer.dual);
// proof.gap, proof.stationarity, …; proof.holds(1e-8)
// end
  // clang-format on
  // By hand: (3.5 3; 3 5.5) w = (9; 13), so w = (10.5, 18.5) / 10.25.
  EXPECT_TRUE(ridge.converged) << name_of(ridge.stopped);
  EXPECT_NEAR(ridge.x[0], 10.5 / 10.25, 1e-10);
  EXPECT_NEAR(ridge.x[1], 18.5 / 10.25, 1e-10);
  EXPECT_EQ(ridge.trace.back(), ridge.value);
  // On w₁ + w₂ = 2 the derivative along (−1, 1) is −(3.5 w₁ + 3 w₂ − 9) + (3 w₁ + 5.5 w₂ − 13) = 3 w₂ − 5.
  EXPECT_TRUE(answer.solved()) << answer.message;
  EXPECT_NEAR(answer.x.sum(), 2, 1e-7);
  EXPECT_NEAR(answer.x[1], 5.0 / 3, 1e-6);
  EXPECT_TRUE(proof.holds(1e-8));
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  if (from == std::string::npos) return {};
  const auto first = from + begin.size();
  return text.substr(first, text.find(end, first) - first);
}

TEST(Page, ShowsTheExampleThatIsCompiledHere) {
  const std::string room = source_dir() + "/lemma/optimize/";
  const std::string shown = between(text_of(room + "optimise.md"), "```cpp\n", "```");
  EXPECT_FALSE(shown.empty());
  EXPECT_EQ(shown, between(text_of(room + "page_test.cpp"), "\n// begin\n", "// end\n"));
}

}  // namespace
}  // namespace lemma
