// lemma/core/error_test.cpp
#include <gtest/gtest.h>

#include <lemma/core/error.hpp>

namespace lemma {
namespace {

TEST(Error, RequireThrowsOnlyWhenTheConditionFails) {
  EXPECT_NO_THROW(require(true, "never"));
  try {
    require(false, "lambda is -1, must be at least 0");
    FAIL();
  } catch (const Error& e) { EXPECT_STREQ(e.what(), "lambda is -1, must be at least 0"); }
}

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> methods{"ols", "pca", "kmeans", "lda", "qda"};
  EXPECT_EQ(nearest("kmaens", methods), "kmeans") << "two letters swapped";
  EXPECT_EQ(nearest("k-means", methods), "kmeans") << "one letter too many";
  EXPECT_EQ(nearest("PCA", methods), "pca") << "another case";
  EXPECT_EQ(nearest("kmean", methods), "kmeans") << "one letter short";
  EXPECT_EQ(nearest("regression", methods), "") << "nothing is near";
  EXPECT_EQ(nearest("", methods), "");
  EXPECT_EQ(nearest("lda", {}), "");
}

TEST(Nearest, PrefersTheExactWordAndTheRightCase) {
  EXPECT_EQ(nearest("FL", {"fl", "FL"}), "FL");
  EXPECT_EQ(nearest("Fl", {"FX", "FL"}), "FL") << "a wrong case is nearer than a wrong letter";
}

TEST(DidYouMean, IsReadyToBeAppended) {
  EXPECT_EQ(did_you_mean("specis", {"species", "sex"}), " (did you mean 'species'?)");
  EXPECT_EQ(did_you_mean("weight", {"species", "sex"}), "");
}

TEST(Nearest, AWordThatWasBrokenOffIsFound) {
  EXPECT_EQ(nearest("--vers", {"--seed", "--version", "--verbose"}), "--version");
  EXPECT_EQ(nearest("--", {"--seed"}), "");
}

}  // namespace
}  // namespace lemma
