// lemma/neighbor/prototypes_test.cpp
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/neighbor/prototypes/make.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

constexpr PrototypesBy kAll[] = {PrototypesBy::condensed, PrototypesBy::edited, PrototypesBy::kmeans,
                                 PrototypesBy::lvq1,      PrototypesBy::lvq2,   PrototypesBy::lvq3};

/// Two classes that overlap, the second in two clouds about the first.
struct Overlapping {
  Matrix x = normal_matrix(150, 2, 7);
  Labels label;
  Overlapping() {
    for (Index i = 0; i < 150; ++i) {
      label.push_back(i % 3 == 0 ? 0 : 1);
      if (i % 3 == 1) x(i, 0) += 3;
      if (i % 3 == 2) x(i, 0) -= 3;
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(label, {"middle", "outside"});
    return out;
  }
};

PrototypesModel fitted(const Prototypes& spec, const Rows& rows) { return fit(Valid<Prototypes>(spec), rows, {}); }

TEST(Prototypes, HoldTheirCertificateOfEveryKind) {
  const Overlapping toy;
  for (const PrototypesBy by : kAll) {
    const auto m = fitted({.by = by}, toy.rows());
    EXPECT_TRUE(m.certificate.holds()) << name_of(by) << m.certificate.message;
    EXPECT_LT(m.kept, 1) << name_of(by);
    EXPECT_LT(m.held_out(0), 0.3) << name_of(by);
  }
}

TEST(Prototypes, CondensedRowsGetEveryRowRight) {
  const Overlapping toy;
  const auto m = fitted({}, toy.rows());
  EXPECT_EQ(m.predict(toy.x), toy.label);
  EXPECT_EQ(m.error, 0);
  EXPECT_LT(m.prototypes.rows(), 75);
  const auto iris = fit(Prototypes{}, formula("species ~ ."), dataset("iris"));
  EXPECT_EQ(iris.error, 0);
  EXPECT_LT(iris.prototypes.rows(), 30);
}

TEST(Prototypes, CloudsFarApartNeedOneRowEachAndLoseNothing) {
  Overlapping toy;
  for (Index i = 0; i < 150; ++i) toy.x(i, 1) += toy.label[static_cast<std::size_t>(i)] == 0 ? 0 : 1000;
  const auto m = fitted({}, toy.rows());
  EXPECT_EQ(m.prototypes.rows(), 2);
  EXPECT_EQ(m.held_out(0), 0);
  EXPECT_EQ(m.held_out(1), 0);
}

TEST(Prototypes, EditedRowsAreThoseThatTheirNeighboursDoNotOutvote) {
  const Matrix x{{0}, {1}, {2}, {1.4}, {10}, {11}, {12}, {13}};
  const Labels label{0, 0, 0, 1, 1, 1, 1, 1};
  MemoryRows rows(x);
  rows.labels(label, {"a", "b"});
  const auto m = fitted({.by = PrototypesBy::edited, .k = 3}, rows);
  std::vector<double> kept(m.prototypes.data(), m.prototypes.data() + m.prototypes.size());
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (std::vector<double>{0, 1, 2, 10, 11, 12, 13}));
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_DOUBLE_EQ(m.error, 1.0 / 8);
}

TEST(Prototypes, OneCentreOfEachClassIsItsMean) {
  const Overlapping toy;
  const auto m = fitted({.by = PrototypesBy::kmeans, .each = 1}, toy.rows());
  Matrix mean = Matrix::Zero(2, 2);
  for (Index i = 0; i < 150; ++i)
    mean.row(toy.label[static_cast<std::size_t>(i)]) += toy.x.row(i) / (i % 3 == 0 ? 50.0 : 100.0);
  EXPECT_LT((m.prototypes - mean).cwiseAbs().maxCoeff(), 1e-12);
}

prototypes::Data two_rows(double a, double b, int of_a, int of_b) { return {Matrix{{a}, {b}}, {of_a, of_b}, 2}; }

TEST(Prototypes, LvqStepsAreThoseOfKohonen) {
  const Matrix start{{0}, {10}};
  const Labels label{0, 1};
  const Prototypes one{.by = PrototypesBy::lvq1, .rate = 0.5, .passes = 1};
  // steps of ½ and ¼, in one order or the other
  const Matrix near = prototypes::learned(one, two_rows(1, 9, 0, 1), start, label);
  EXPECT_DOUBLE_EQ(near(0, 0) + 10 - near(1, 0), 0.75);
  const Matrix away = prototypes::learned(one, two_rows(1, 9, 1, 0), start, label);
  EXPECT_LT(away(0, 0), 0);
  EXPECT_GT(away(1, 0), 10);
  const Prototypes two{.by = PrototypesBy::lvq2, .rate = 0.5, .window = 0.3, .passes = 1};
  EXPECT_EQ(prototypes::learned(two, two_rows(1, 9, 0, 1), start, label), start);  // not between the two
  const Matrix both = prototypes::learned(two, two_rows(4, 4, 1, 1), start, label);
  EXPECT_LT(both(0, 0), 0);   // of the other class: away from 4
  EXPECT_LT(both(1, 0), 10);  // of its class: to it
}

TEST(Prototypes, Lvq3AloneMovesTwoOfTheRightClass) {
  const Matrix start{{0}, {10}, {1000}};
  const Labels label{0, 0, 1};
  const prototypes::Data data = two_rows(4, 1000, 0, 1);
  const auto moved = [&](PrototypesBy by) {
    return prototypes::learned({.by = by, .rate = 0.5, .epsilon = 0.5, .passes = 1}, data, start, label);
  };
  EXPECT_EQ(moved(PrototypesBy::lvq2), start);
  EXPECT_GT(moved(PrototypesBy::lvq3)(0, 0), 0);
  EXPECT_LT(moved(PrototypesBy::lvq3)(1, 0), 10);
}

TEST(Prototypes, LearningFromRowsMakesFewerErrorsThanTheCentresItBeganAt) {
  const Overlapping toy;
  const auto centres = fitted({.by = PrototypesBy::kmeans, .each = 1}, toy.rows());
  const auto learned = fitted({.by = PrototypesBy::lvq1, .each = 1}, toy.rows());
  EXPECT_LT(learned.error, centres.error);
}

TEST(Prototypes, DoNotDependOnTheOrderOfTheRows) {
  const Overlapping toy;
  Overlapping turned;
  turned.x = toy.x.colwise().reverse();
  turned.label.assign(toy.label.rbegin(), toy.label.rend());
  for (const PrototypesBy by : kAll)
    EXPECT_EQ(fitted({.by = by}, toy.rows()).prototypes, fitted({.by = by}, turned.rows()).prototypes) << name_of(by);
}

TEST(Prototypes, EqualRowsOfTwoClassesAreNotAskedForTheImpossible) {
  const Matrix x{{0}, {0}, {1}, {5}, {6}, {5}};
  const Labels label{0, 1, 0, 1, 1, 1};
  MemoryRows rows(x);
  rows.labels(label, {"a", "b"});
  const auto m = fitted({}, rows);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_DOUBLE_EQ(m.error, 1.0 / 6);
}

TEST(Prototypes, TheNaturalWrongRowsFailTheCertificate) {
  const Overlapping toy;
  const MemoryRows rows = toy.rows();
  const auto right = fitted({}, rows);
  EXPECT_TRUE(certify(right, rows, {}).holds());
  const auto with = [&](const PrototypesModel& like, const Matrix& points, const Vector& classes) {
    PrototypesModel out = like;
    out.prototypes = points;
    out.classes = classes;
    out.counts << static_cast<double>((classes.array() == 0).count()),
        static_cast<double>((classes.array() == 1).count());
    out.kept = static_cast<double>(points.rows()) / 150;
    Labels label;
    for (const double each : classes) label.push_back(static_cast<int>(each));
    out.error = prototypes::share_wrong(prototypes::gathered(rows, {}), {points, label, {}});
    return out;
  };
  // one pass alone: the first of each class and what they get wrong; and all rows
  const auto data = prototypes::gathered(rows, {});
  Vector all(150);
  for (Index i = 0; i < 150; ++i) all(i) = data.label[static_cast<std::size_t>(i)];
  EXPECT_FALSE(certify(with(right, data.x, all), rows, {}).holds());
  const Index fewer = right.prototypes.rows() - 1;
  EXPECT_FALSE(certify(with(right, right.prototypes.topRows(fewer), right.classes.head(fewer)), rows, {}).holds());

  const auto edited = fitted({.by = PrototypesBy::edited}, rows);
  const auto own_vote = fitted({.by = PrototypesBy::edited, .k = 2}, rows);  // as if a row voted on itself
  ASSERT_NE(own_vote.prototypes.rows(), edited.prototypes.rows());
  EXPECT_FALSE(certify(with(edited, own_vote.prototypes, own_vote.classes), rows, {}).holds());
  EXPECT_FALSE(certify(with(edited, data.x, all), rows, {}).holds());

  const auto centres = fitted({.by = PrototypesBy::kmeans}, rows);
  auto off = centres;
  off.prototypes.row(0) = data.x.row(0);
  EXPECT_FALSE(certify(off, rows, {}).holds());
  const auto few = fitted({.by = PrototypesBy::kmeans, .each = 1}, rows);
  EXPECT_FALSE(certify(with(centres, few.prototypes, few.classes), rows, {}).holds());

  auto lvq = fitted({.by = PrototypesBy::lvq1}, rows);
  EXPECT_TRUE(certify(lvq, rows, {}).holds());
  auto rate = lvq, start = lvq;
  rate.spec.rate = 0.11;
  start.start.row(0).array() += 0.01;
  start.prototypes = prototypes::learned(start.spec, data, start.start, {0, 0, 0, 1, 1, 1});
  for (const auto& each : {rate, start}) EXPECT_FALSE(certify(each, rows, {}).holds());
}

TEST(Prototypes, WhatCannotBeIsSaid) {
  const Matrix x{{0}, {1}, {2}};
  const std::vector<std::string> labels{"a", "b", "a"};
  EXPECT_NE(message_of([&] { fit(Prototypes{.by = PrototypesBy::edited, .k = 3}, x, labels); }).find("below that"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Prototypes{.by = PrototypesBy::edited, .k = 1}, x, labels); }).find("outvote"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
