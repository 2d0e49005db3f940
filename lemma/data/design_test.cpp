// lemma/data/design_test.cpp: columns of x as R's model.matrix makes them, classes, constants.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/data/design.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;

const Table& table() {  // the table of the R sessions from which the expected values come
  static const Table t({numeric("y", {1, 2, 3, 4, 5, 6}), categorical("a", {"p", "q", "r", "p", "q", "r"}),
                        categorical("b", {"u", "v", "u", "v", "u", "v"}), numeric("x", {1, 2, 4, 8, 16, 3}),
                        numeric("z", {3, 1, 2, 5, 4, 9})});
  return t;
}

Names features(std::string_view text, Coding coding = Coding::treatment) {
  return Design(formula(text), table(), {.coding = coding}).features();
}

Matrix x_of(std::string_view text, Coding coding = Coding::treatment) {
  return Design(formula(text), table(), {.coding = coding}).train(table()).x;
}

TEST(Design, NamesItsColumnsAsModelMatrixInR) {
  EXPECT_EQ(features("~a"), (Names{"aq", "ar"}));
  EXPECT_EQ(features("~a - 1"), (Names{"ap", "aq", "ar"}));
  EXPECT_EQ(features("~a + b - 1"), (Names{"ap", "aq", "ar", "bv"}));
  EXPECT_EQ(features("~x + a - 1"), (Names{"x", "ap", "aq", "ar"}));
  EXPECT_EQ(features("~a*b"), (Names{"aq", "ar", "bv", "aq:bv", "ar:bv"}));
  EXPECT_EQ(features("~poly(x,2)*b"), (Names{"poly(x, 2)1", "poly(x, 2)2", "bv", "poly(x, 2)1:bv", "poly(x, 2)2:bv"}));
  EXPECT_EQ(features("~scale(x) + log(z)"), (Names{"scale(x)", "log(z)"}));
}

TEST(Design, ANameBehindAMinusIsAColumnOfTheTableInTheModelOrNot) {
  EXPECT_EQ(features("~x + z - z"), (Names{"x"}));
  EXPECT_EQ(features("~x - b - a:b - log(z)"), (Names{"x"}));  // not in the model: nothing to take away
  EXPECT_EQ(features("y ~ . - y - a:b"), (Names{"aq", "ar", "bv", "x", "z"}));
  const Table t({numeric("age", {1, 2, 3}), numeric("weight", {1, 2, 4}), numeric("y", {2, 1, 3})}, "people.csv");
  const auto message = [&](const std::string& text) { return message_of([&] { Design(formula(text), t, {}); }); };
  EXPECT_EQ(
      message("y ~ . - wieght"),
      "formula: there is no column 'wieght' in people.csv (did you mean 'weight'?)\n  y ~ . - wieght\n          ^");
  EXPECT_EQ(message("y ~ (age - age:wieght)^2"),
            "formula: there is no column 'wieght' in people.csv (did you mean 'weight'?)\n  y ~ (age - "
            "age:wieght)^2\n                 ^");
  EXPECT_TRUE(message("y ~ age - log(agee)").starts_with("formula: there is no column 'agee'"));
  EXPECT_TRUE(message("y ~ . - factor(wight, ref = \"b\")").starts_with("formula: there is no column 'wight'"));
}

TEST(Design, CodesAFactorFullyWhereItsMarginIsAbsent) {
  EXPECT_EQ(features("~a:b"), (Names{"ap:bu", "aq:bu", "ar:bu", "ap:bv", "aq:bv", "ar:bv"}));
  EXPECT_EQ(features("~a + a:b"), (Names{"aq", "ar", "ap:bv", "aq:bv", "ar:bv"}));
  EXPECT_EQ(features("~x:a"), (Names{"x:ap", "x:aq", "x:ar"}));
  EXPECT_EQ(features("~x + x:a"), (Names{"x", "x:aq", "x:ar"}));
  EXPECT_EQ(features("~x + x:a - 1"), (Names{"x", "x:ap", "x:aq", "x:ar"}));
  EXPECT_EQ(features("~b + a:x - 1"), (Names{"bu", "bv", "ap:x", "aq:x", "ar:x"}));
  EXPECT_EQ(features("~a:b + b:x"), (Names{"ap:bu", "aq:bu", "ar:bu", "ap:bv", "aq:bv", "ar:bv", "bu:x", "bv:x"}));
}

TEST(Design, SumContrastsAreThoseOfR) {
  EXPECT_EQ(features("~a*b", Coding::sum), (Names{"a1", "a2", "b1", "a1:b1", "a2:b1"}));
  EXPECT_EQ(features("~a - 1 + b", Coding::sum), (Names{"ap", "aq", "ar", "b1"}));
  const Matrix expected{{1, 0, 1, 1, 0},   {0, 1, -1, 0, -1}, {-1, -1, 1, -1, -1},
                        {1, 0, -1, -1, 0}, {0, 1, 1, 0, 1},   {-1, -1, -1, 1, 1}};
  EXPECT_EQ(x_of("~a*b", Coding::sum), expected);
}

TEST(Design, OneHotHasAColumnForEachLevel) {
  EXPECT_EQ(features("~a + b", Coding::one_hot), (Names{"ap", "aq", "ar", "bu", "bv"}));
  const Matrix expected{{1, 0, 0, 1, 0}, {0, 1, 0, 0, 1}, {0, 0, 1, 1, 0},
                        {1, 0, 0, 0, 1}, {0, 1, 0, 1, 0}, {0, 0, 1, 0, 1}};
  EXPECT_EQ(x_of("~a + b", Coding::one_hot), expected);
}

TEST(Design, TreatmentContrastsAndInteractionsHaveTheValuesOfR) {
  const Matrix expected{{0, 0, 1, 0, 0}, {1, 0, 2, 2, 0},   {0, 1, 4, 0, 4},
                        {0, 0, 8, 0, 0}, {1, 0, 16, 16, 0}, {0, 1, 3, 0, 3}};
  EXPECT_EQ(x_of("~a*x"), expected);
}

TEST(Design, AReferenceCanBeChosen) {
  EXPECT_EQ(features("~factor(a, ref = \"q\")"), (Names{"factor(a, ref = \"q\")p", "factor(a, ref = \"q\")r"}));
  EXPECT_EQ(features("~factor(z)"), (Names{"factor(z)2", "factor(z)3", "factor(z)4", "factor(z)5", "factor(z)9"}));
  EXPECT_EQ(features("~factor(z, ref = 9)").at(0), "factor(z, ref = 9)1");
}

TEST(Design, TheUsersOrderOfLevelsIsKept) {
  const Table t({Column{"size", Categories{{0, 1, 2, 0}, {"small", "medium", "large"}}}, numeric("v", {1, 2, 3, 4})});
  EXPECT_EQ(Design(formula("v ~ size"), t).features(), (Names{"sizemedium", "sizelarge"}));
  EXPECT_EQ(Design(formula("size ~ v"), t, {.classify = true}).classes(), (Names{"small", "medium", "large"}));
}

TEST(Design, ScaleUsesTheSpreadWithNMinusOne) {  // scale(c(1, 2, 4, 8, 16, 3)) of R
  const Matrix x = x_of("~scale(x)");
  const double expected[] = {-0.83191970494767475, -0.65365119674460159, -0.29711418033845527,
                             0.41595985247383727,  1.84210791809842234,  -0.47538268854152843};
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(x(i, 0), expected[i], 1e-15);
  EXPECT_NEAR(x_of("~scale(x, scale = FALSE)")(0, 0), 1 - 34.0 / 6, 1e-15);
  EXPECT_NEAR(x_of("~scale(x, center = FALSE)")(0, 0), 1 / std::sqrt(350.0 / 5), 1e-15);
}

TEST(Design, OrthogonalPolynomialsAreThoseOfR) {  // poly(c(1, 2, 4, 8, 16, 3), 3) of R
  const Matrix expected{{-0.37204580241691376, 0.480940508643788511, -0.538698279221824117},
                        {-0.29232170189900364, 0.187707383651481985, 0.072868391218982573},
                        {-0.13287350086318347, -0.275876917534933819, 0.502757721654748968},
                        {0.18602290120845694, -0.711517724714979982, -0.529347088986149017},
                        {0.82381570535173754, 0.383311841696068745, 0.087649965850102193},
                        {-0.21259760138109360, -0.064565091741425176, 0.404769289484139094}};
  EXPECT_LT((x_of("~poly(x, 3)") - expected).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Design, OrthogonalPolynomialsAreOrthogonal) {
  const Table mcycle = dataset("mcycle");
  const Matrix p = Design(formula("accel ~ poly(times, 12)"), mcycle).train(mcycle).x;
  EXPECT_LT((p.transpose() * p - Matrix::Identity(12, 12)).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT(p.colwise().sum().cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Design, OrthogonalPolynomialsExplainWhatThoseOfRExplain) {  // P has orthonormal columns: the fit is ȳ + P Pᵀ y
  const Table mcycle = dataset("mcycle");
  const Golden golden("poly_mcycle");
  for (const Value& expected : golden.value("fits").as_list()) {
    const auto degree = expected.at("degree").as_integer();
    if (degree == 0) continue;
    const auto data = Design(formula("accel ~ poly(times, " + std::to_string(degree) + ")"), mcycle).train(mcycle);
    const Eigen::Map<const Vector> y(data.y.data(), static_cast<Index>(data.y.size()));
    const Vector fitted = (data.x * (data.x.transpose() * y)).array() + y.mean();
    EXPECT_NEAR((y - fitted).squaredNorm() / expected.at("rss").as_double(), 1, 1e-12) << degree;
    const Value shown = golden.shown(fitted);
    EXPECT_TRUE(Golden::compare(fmt::format("degree {}", degree), shown, expected.at("fitted"), {"abs", 1e-9}));
  }
}

TEST(Design, RawPolynomialsArePowers) {
  const Matrix x = x_of("~poly(x, 3, raw = TRUE)");
  EXPECT_EQ(x.row(4), (Matrix{{16, 256, 4096}}).row(0));
}

TEST(Design, ARowAtPredictionDoesNotDependOnTheOthers) {
  const Design design(formula("y ~ poly(x, 2)*a + scale(z)"), table());
  const Matrix all = design.apply(table()).x;
  for (Index i = 0; i < table().rows(); ++i) EXPECT_EQ(design.apply(table().slice(i, 1)).x, all.middleRows(i, 1));
}

TEST(Design, AJointClassHasTheCombinationsThatOccur) {
  const Table crabs = dataset("crabs");
  const Design design(formula("sp:sex ~ log(FL) + log(RW)"), crabs, {.classify = true});
  EXPECT_EQ(design.classes(), (Names{"B:F", "B:M", "O:F", "O:M"}));
  EXPECT_EQ(design.target(), "sp:sex");
  EXPECT_EQ(design.train(crabs).label.at(0), 1);  // the first crab is a blue male
  const Table few({categorical("u", {"p", "q", "p"}), categorical("v", {"s", "r", "s"}), numeric("x", {1, 2, 3})});
  const Design two(formula("u:v ~ x"), few, {.classify = true});
  EXPECT_EQ(two.classes(), (Names{"p:s", "q:r"}));
  EXPECT_EQ(two.train(few).label, (std::vector<int>{0, 1, 0}));
}

TEST(Design, WholeNumbersCanBeClasses) {
  const Table t({numeric("k", {2, 0, 10, 2}), numeric("x", {1, 2, 3, 4})});
  const Design design(formula("k ~ x"), t, {.classify = true});
  EXPECT_EQ(design.classes(), (Names{"0", "2", "10"}));  // by their values
  EXPECT_EQ(design.train(t).label, (std::vector<int>{1, 0, 2, 1}));
}

TEST(Design, ClassesThatDoNotOccurAreLeftOutWithANote) {
  const Table t({Column{"c", Categories{{2, 0, 2}, {"k", "l", "m"}}}, numeric("x", {1, 2, 3})});
  const Design design(formula("c ~ x"), t, {.classify = true});
  EXPECT_EQ(design.classes(), (Names{"k", "m"}));
  const auto data = design.train(t);
  EXPECT_EQ(data.label, (std::vector<int>{1, 0, 1}));
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_EQ(data.notes[0], "class 'l' of c does not occur in these rows and is left out");
}

TEST(Design, LevelsThatDoNotOccurMakeNoColumn) {
  const Table t({Column{"c", Categories{{2, 0, 2}, {"k", "l", "m"}}}, numeric("x", {1, 2, 3})});
  EXPECT_EQ(Design(formula("x ~ c"), t).features(), (Names{"cm"}));
}

TEST(Design, ADotLeavesOutTextConstantFactorsAndWeights) {
  const Table t({numeric("y", {1, 2}), numeric("w", {1, 3}), Column{"memo", Texts{{"one", "two"}, {false, false}}},
                 categorical("same", {"k", "k"}), numeric("x", {5, 6})});
  const Design design(formula("y ~ ."), t, {.weights = "w"});
  EXPECT_EQ(design.features(), (Names{"x"}));
  EXPECT_EQ(design.notes(),
            (Names{"left out of '.', being text: memo", "left out of '.', having one level only: same"}));
  EXPECT_EQ(design.train(t).weight, (std::vector<double>{1, 3}));
}

TEST(Design, TheResponseIsTransformedOffsetsAddUp) {
  const Design design(formula("log(y) ~ x + offset(z) + offset(2 * x)"), table(), {.takes_offset = true});
  const auto data = design.train(table());
  EXPECT_EQ(data.y.at(2), std::log(3.0));
  EXPECT_EQ(data.offset, (std::vector<double>{5, 5, 10, 21, 36, 15}));
  EXPECT_EQ(design.columns(), (Names{"x", "z"}));
  EXPECT_EQ(design.target(), "log(y)");
  EXPECT_EQ(design.response_columns(), (Names{"y"}));
}

TEST(Design, CountsBecomeASharesWithTrialsAsWeights) {
  const Design design(formula("cbind(x, z) ~ y"), table(), {.takes_counts = true, .weights = "y"});
  const auto data = design.train(table());
  EXPECT_EQ(data.y.at(0), 0.25);
  EXPECT_EQ(data.weight, (std::vector<double>{4, 6, 18, 52, 100, 72}));
}

TEST(Design, SparseRowsEqualTheDenseOnes) {
  for (const auto coding : {Coding::treatment, Coding::sum, Coding::one_hot})
    for (const char* text : {"~a*b + x", "~x:a:b - 1", "~poly(x, 2)*a", "~a + I(x - 4)"}) {
      const Design design(formula(text), table(), {.coding = coding});
      const Csr sparse = design.sparse(table());
      Matrix dense = Matrix::Zero(sparse.rows(), sparse.width);
      for (Index i = 0; i < sparse.rows(); ++i)
        for (Index k = sparse.start[static_cast<std::size_t>(i)]; k < sparse.start[static_cast<std::size_t>(i) + 1];
             ++k) {
          EXPECT_NE(sparse.value[static_cast<std::size_t>(k)], 0);
          dense(i, sparse.column[static_cast<std::size_t>(k)]) = sparse.value[static_cast<std::size_t>(k)];
        }
      EXPECT_EQ(dense, design.apply(table()).x) << text;
    }
}

TEST(Design, WithoutTermsThereAreNoColumns) {
  const Design design(formula("y ~ 1"), table());
  EXPECT_TRUE(design.features().empty());
  EXPECT_EQ(design.train(table()).x.rows(), 6);
  EXPECT_EQ(design.train(table()).x.cols(), 0);
}

}  // namespace
}  // namespace lemma
