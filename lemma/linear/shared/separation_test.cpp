// lemma/linear/shared/separation_test.cpp: the verdict against the other half of the theorem, and every solver and family by
// it.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/linear/multinomial.hpp>
#include <lemma/linear/shared/separation.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/optimize/programme.hpp>
#include <limits>

namespace lemma {
namespace {

using separation::Verdict;

/// Rows of whole numbers, which lie on borders as often as not.
struct Whole {
  Matrix x;
  Labels codes;
  std::vector<std::string> names, labels;

  Whole(Index n, Index columns, int classes, int width, std::uint64_t seed) : x(n, columns) {
    RandomStream stream(seed);
    for (int k = 0; k < classes; ++k) names.push_back(std::string(1, static_cast<char>('a' + k)));
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < columns; ++j) x(i, j) = static_cast<double>(stream.below(width));
      codes.push_back(i < classes ? static_cast<int>(i) : static_cast<int>(stream.below(classes)));
      labels.push_back(names[static_cast<std::size_t>(codes.back())]);
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(codes, names);
    return out;
  }
};

separation::Problem problem_of(const Rows& rows) {
  return {rows,
          Vector::Zero(rows.width()),
          Vector::Ones(rows.width()),
          true,
          static_cast<Index>(rows.classes.size()),
          [](const Block& block, Index i) { return block.label[static_cast<std::size_t>(i)]; }};
}

/// One row for each z.
Matrix all_z(const Whole& data) {
  const auto classes = static_cast<Index>(data.names.size()), terms = data.x.cols() + 1;
  Matrix out = Matrix::Zero(data.x.rows() * (classes - 1), classes * terms);
  Index at = 0;
  for (Index i = 0; i < data.x.rows(); ++i) {
    Vector row(terms);
    row << 1, data.x.row(i).transpose();
    const Index own = data.codes[static_cast<std::size_t>(i)];
    for (Index k = 0; k < classes; ++k) {
      if (k == own) continue;
      out.row(at).segment(own * terms, terms) += row.transpose();
      out.row(at++).segment(k * terms, terms) -= row.transpose();
    }
  }
  return out;
}

/// The greatest t for which some λ ≥ t with Σ λ = 1 has Σ λ z = 0: above 0 exactly when there is a maximum (Stiemke).
double least_multiplier(const Whole& data) {
  const Matrix z = all_z(data);
  const Index m = z.rows();
  LinearProgramme programme;
  programme.c = -Vector::Unit(m + 1, m);
  Matrix a = Matrix::Zero(z.cols() + 1 + m, m + 1);
  a.topLeftCorner(z.cols(), m) = z.transpose();
  a.row(z.cols()).head(m).setOnes();
  a.bottomLeftCorner(m, m).setIdentity();
  a.col(m).tail(m).setConstant(-1);
  programme.a = a;
  programme.row_lower = Vector::Zero(a.rows());
  programme.row_upper = Vector::Zero(a.rows());
  programme.row_lower(z.cols()) = programme.row_upper(z.cols()) = 1;
  programme.row_upper.tail(m).setConstant(std::numeric_limits<double>::infinity());
  programme.lower = Vector::Zero(m + 1);
  programme.upper = Vector::Ones(m + 1);
  const ProgrammeAnswer found = solve(programme);
  return found.solved() ? found.x(m) : 0;  // infeasible: no λ at all
}

TEST(Separation, AgreesWithTheOtherHalfOfStiemkesLemma) {
  int overlaps = 0, quasi = 0, complete = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Whole data(5 + static_cast<Index>(seed % 11), 2, seed % 3 == 0 ? 3 : 2, 4, seed);
    const MemoryRows rows = data.rows();
    const auto finding = separation::decide(problem_of(rows), {}, {});
    EXPECT_EQ(finding.verdict == Verdict::overlap, least_multiplier(data) > 1e-9) << seed;
    ASSERT_NE(finding.verdict, Verdict::undecided) << seed;
    overlaps += finding.verdict == Verdict::overlap;
    quasi += finding.verdict == Verdict::quasi;
    complete += finding.verdict == Verdict::complete;
    if (!finding.separated()) continue;
    const Matrix flat = Eigen::Map<const Matrix>(finding.direction.data(), 1, finding.direction.size());
    const Vector margins = all_z(data) * flat.transpose();
    EXPECT_GE(margins.minCoeff(), -1e-7) << seed;
    EXPECT_GT(margins.maxCoeff(), 1e-6) << seed;
  }
  EXPECT_GT(overlaps, 5);
  EXPECT_GT(quasi, 5);
  EXPECT_GT(complete, 2);
}

TEST(Separation, ManyRowsAreDecidedByTheFewThatMatter) {
  Whole data(9000, 2, 2, 1000, 5);
  for (Index i = 0; i < 9000; ++i) data.codes[static_cast<std::size_t>(i)] = data.x(i, 0) + data.x(i, 1) > 1000 ? 1 : 0;
  const auto verdict = [&] {
    const MemoryRows rows = data.rows();
    return separation::decide(problem_of(rows), {}, {}).verdict;
  };
  EXPECT_EQ(verdict(), Verdict::complete);
  data.x.row(4711) << 500, 500;
  data.x.row(4712) << 500, 500;  // one point with both classes, on the border
  data.codes[4711] = 0;
  data.codes[4712] = 1;
  EXPECT_EQ(verdict(), Verdict::quasi);
  data.x.row(4711) << 510, 510;
  EXPECT_EQ(verdict(), Verdict::overlap);
}

TEST(Separation, APointOnTheWayToInfinityProvesNothing) {  // g and H of the logistic loss at t d, d separating
  const Matrix z{
      {1.0, -1.0}, {1.0, 0.5}, {1.0, 2.0}, {-1.0, 3.0}};  // (1, x) times the side: d = (0.2, 1) has z·d ≥ 0 but once
  const Vector d{{1.2, 1.0}};
  ASSERT_GT((z * d).minCoeff(), 0);
  for (const double t : {1.0, 5.0, 20.0, 60.0}) {
    Matrix h = Matrix::Zero(2, 2);
    Vector g = Vector::Zero(2);
    for (Index i = 0; i < z.rows(); ++i) {
      const double q = 1 / (1 + std::exp(t * z.row(i).dot(d)));
      g += q * z.row(i).transpose();
      h += q * (1 - q) * z.row(i).transpose() * z.row(i);
    }
    EXPECT_FALSE(separation::overlap_is_proved(h, g, z.rowwise().norm().maxCoeff())) << t;
  }
}

const std::vector<std::string> kTouching{"a", "a", "a", "b", "b", "b"};
Matrix touching() { return Matrix{{1.0}, {2.0}, {3.0}, {3.0}, {5.0}, {6.0}}; }

TEST(Separation, IsFoundWhicheverTheSolver) {
  for (const auto solver : {LogisticSolver::newton, LogisticSolver::lbfgs, LogisticSolver::cg, LogisticSolver::gd,
                            LogisticSolver::coordinate, LogisticSolver::sgd}) {
    const auto model = fit(Logistic{.lambda = std::vector{0.0}, .solver = solver}, touching(), kTouching);
    EXPECT_FALSE(model.certificate.holds()) << name_of(solver);
    EXPECT_EQ(model.certificate.stopped, "separated") << name_of(solver);
    ASSERT_FALSE(model.warnings.empty()) << name_of(solver);
    EXPECT_NE(model.warnings[0].find("'x1' separates the two classes quasi-completely"), std::string::npos)
        << model.warnings[0];
  }
  for (const auto solver : {MultinomialSolver::newton, MultinomialSolver::lbfgs})
    for (const double tolerance : {1e-9, 1e-12}) {
      const auto model = fit(Multinomial{.lambda = 0, .solver = solver, .tolerance = tolerance}, touching(), kTouching);
      EXPECT_FALSE(model.certificate.holds()) << name_of(solver);
      EXPECT_EQ(model.certificate.stopped, "separated") << name_of(solver);
    }
  for (const auto link : {GlmLink::logit, GlmLink::probit, GlmLink::cloglog}) {
    const auto model = fit(Glm{.link = link}, touching(), kTouching);
    EXPECT_FALSE(model.certificate.holds()) << name_of(link);
    EXPECT_EQ(model.certificate.stopped, "separated") << name_of(link);
  }
}

TEST(Separation, NamesTheClassesThatAreToldApart) {
  const Matrix x{{1.0}, {2.0}, {7.0}, {8.0}, {7.5}, {8.5}, {7.2}, {8.2}};
  const std::vector<std::string> labels{"far", "far", "near", "nigh", "nigh", "near", "near", "nigh"};
  const auto model = fit(Multinomial{.lambda = 0}, x, labels);
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_NE(model.warnings[0].find("'far' from 'near' and 'far' from 'nigh' completely"), std::string::npos)
      << model.warnings[0];
  const Matrix touching{{1.0}, {7.0}, {7.0}, {8.0}, {7.5}, {8.5}, {7.2}, {8.2}};  // 7 is far and near
  const auto border = fit(Multinomial{.lambda = 0}, touching, labels);
  ASSERT_FALSE(border.warnings.empty());
  EXPECT_NE(border.warnings[0].find("'far' from 'near' and 'far' from 'nigh' quasi-completely"), std::string::npos)
      << border.warnings[0];
}

}  // namespace
}  // namespace lemma
