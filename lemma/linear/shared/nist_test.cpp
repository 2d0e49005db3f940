// lemma/linear/shared/nist_test.cpp: NIST's reference data for linear regression, scored in correct digits beside R's lm.
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <lemma/core/file.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/model/fit.hpp>
#include <tests/places.hpp>

namespace lemma {
namespace {

const std::string kFolder = source_dir() + "/tests/digits/nist/";

/// A set, the digits of R 4.2.2's lm (tests/digits/nist/README.md), and those that must be reached.
struct Set {
  std::string name;
  double r_coefficients, r_std_errors;  // Filip with tol = 1e-20; by default R drops a column
  double coefficients, std_errors;
};
const std::vector<Set> kSets{
    {"Norris", 12.6, 13.7, 12.0, 12.0},   {"Pontius", 11.9, 12.3, 11.5, 11.5}, {"NoInt1", 14.7, 14.4, 13.0, 13.0},
    {"NoInt2", 15, 15, 13.0, 13.0},       {"Longley", 12.8, 14.2, 11.0, 11.0}, {"Wampler1", 9.1, 9.6, 9.0, 9.0},
    {"Wampler2", 12.9, 14.6, 11.5, 11.5}, {"Wampler3", 9.5, 13.4, 9.0, 12.0},  {"Wampler4", 7.9, 13.5, 7.5, 12.0},
    {"Wampler5", 5.9, 13.5, 5.9, 12.0},   {"Filip", 7.5, 7.6, 7.5, 7.5}};

Value certified(const std::string& file) {
  const auto bytes = read_file(kFolder + file);
  return from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}
double number(const Value& text) { return std::stod(text.as_string()); }

/// Correct digits: −log₁₀ of the relative error, at most the 15 that are certified.
double digits(double value, double truth) {
  const double error = truth == 0 ? std::abs(value) : std::abs(value - truth) / std::abs(truth);
  return error == 0 ? 15 : std::min(15.0, std::max(0.0, -std::log10(error)));
}

/// y ~ x + I(x^2) + …, or with all predictors.
std::string formula_of(const Value& set) {
  std::string out = "y ~ ";
  const auto predictors = set.at("predictors").as_strings();
  for (std::size_t i = 0; i < predictors.size(); ++i) out += (i ? " + " : "") + predictors[i];
  const Value& degree = set.at("polynomial_degree");
  for (int d = 2; !degree.is_null() && d <= degree.as_integer(); ++d) out += " + I(x^" + std::to_string(d) + ")";
  return out + (set.at("intercept").as_bool() ? "" : " - 1");
}

struct Scored {
  OlsModel model;
  double coefficients = 15, std_errors = 15, sigma = 15, r_squared = 15;
};
Scored score(const Value& set) {
  Scored out{fit(Ols{}, formula(formula_of(set)), read_csv(kFolder + set.at("file").as_string()))};
  const auto& m = out.model;
  const Index lead = set.at("intercept").as_bool() ? 1 : 0;
  Index term = 0;
  for (const auto& each : set.at("coefficients").as_list()) {
    const bool first = term < lead;
    const double b = first ? m.intercept : m.coefficients(term - lead);
    const double e = first ? m.intercept_std_error : m.std_errors(term - lead);
    out.coefficients = std::min(out.coefficients, digits(b, number(each.at("estimate"))));
    out.std_errors = std::min(out.std_errors, digits(e, number(each.at("std_error"))));
    ++term;
  }
  EXPECT_EQ(term, m.width() + lead);
  out.sigma = digits(m.sigma, number(set.at("residual_sd")));
  out.r_squared = digits(m.r_squared, number(set.at("r_squared")));
  return out;
}

/// What comes of XᵀX b = Xᵀy in double precision: the textbook's formula taken literally.
Vector by_normal_equations(const Matrix& x, const Vector& y) {
  const Index p = x.cols();
  Matrix a = x.transpose() * x;
  Vector b = x.transpose() * y;
  for (Index j = 0; j < p; ++j)  // Cholesky's elimination without its check, so that it always ends
    for (Index i = j + 1; i < p; ++i) {
      const double share = a(i, j) / a(j, j);
      a.row(i) -= share * a.row(j);
      b(i) -= share * b(j);
    }
  for (Index j = p; j-- > 0;) b(j) = (b(j) - a.row(j).tail(p - 1 - j).dot(b.tail(p - 1 - j))) / a(j, j);
  return b;
}

}  // namespace

TEST(NistLinear, EverySetHasTheDigitsOfRByFormula) {
  const Value all = certified("linear_certified.json");
  std::printf("%-10s %13s %13s %8s %8s %10s %9s\n", "digits of", "coefficients", "(R's lm)", "errors", "(R's)", "sigma",
              "R^2");
  for (const auto& set : kSets) {
    const Scored s = score(all.at("datasets").at(set.name));
    std::printf("%-10s %13.1f %13.1f %8.1f %8.1f %10.1f %9.1f\n", set.name.c_str(), s.coefficients, set.r_coefficients,
                s.std_errors, set.r_std_errors, s.sigma, s.r_squared);
    EXPECT_GE(s.coefficients, set.coefficients) << set.name;
    EXPECT_GE(s.std_errors, set.std_errors) << set.name;
    EXPECT_GE(s.sigma, std::min(set.std_errors, 12.0)) << set.name;
    EXPECT_GE(s.r_squared, set.name == "Filip" ? 11.0 : 13.0) << set.name;
    EXPECT_TRUE(s.model.certificate.holds()) << set.name << ": " << s.model.certificate.message;
  }
}

TEST(NistLinear, ExactFitsAreSaidToBeUnreliableAndOthersAreNot) {
  const Value all = certified("linear_certified.json");
  for (const auto& set : kSets) {
    const auto model = score(all.at("datasets").at(set.name)).model;
    const bool exact = set.name == "Wampler1" || set.name == "Wampler2";
    EXPECT_EQ(model.warnings.size(), exact ? 1U : 0U) << set.name;
  }
}

// Not Wampler's data: their columns are whole numbers, XᵀX has no rounding error, and the normal equations have as many
// digits there as R's lm.
TEST(NistLinear, NormalEquationsFailTheCertificateThatOursHolds) {
  const Value all = certified("linear_certified.json");
  for (const std::string name : {"Filip", "Longley"}) {
    const Value& set = all.at("datasets").at(name);
    const Table table = read_csv(kFolder + set.at("file").as_string());
    const auto ours = fit(Ols{}, formula(formula_of(set)), table);
    const DesignData data = ours.design.train(table);
    MemoryRows rows(data.x);
    rows.response(data.y);
    EXPECT_TRUE(certify(ours, rows, {}).holds()) << name << ": " << certify(ours, rows, {}).message;

    Matrix with_one(data.x.rows(), data.x.cols() + 1);
    with_one << Vector::Ones(data.x.rows()), data.x;
    const Vector b = by_normal_equations(with_one, Eigen::Map<const Vector>(data.y.data(), data.x.rows()));
    OlsModel wrong = ours;
    wrong.intercept = b(0);
    wrong.coefficients = b.tail(data.x.cols());
    const Certificate certificate = certify(wrong, rows, {});
    EXPECT_FALSE(certificate.holds()) << name << ": " << certificate.message;
    EXPECT_GE(*certificate.error_bound, (wrong.coefficients - ours.coefficients).cwiseAbs().maxCoeff() * 0.99) << name;
  }
}

// One-way analysis of variance is the regression on the treatment. SmLs07 to 09 add 1e12 to a spread of 0.1: of each
// number 3 or 4 digits are left, so that is what the certified values can be compared to.
TEST(NistAnova, TheRegressionOnTreatmentsIsTheTable) {
  const Value all = certified("anova_certified.json");
  std::printf("%-10s %8s\n", "digits of", "F");
  for (const auto& [name, set] : all.at("datasets").as_object()) {
    CsvOptions options;
    options.types = {{"treatment", ReadAs::categorical}};
    const auto model = fit(Ols{}, formula("y ~ treatment"), read_csv(kFolder + set.at("file").as_string(), options));
    const double f = digits(model.f_statistic, number(set.at("between").at("f")));
    std::printf("%-10s %8.1f\n", name.c_str(), f);
    const std::string level = set.at("level").as_string();
    EXPECT_GE(f, level == "lower" ? 11.0 : level == "average" ? 7.0 : 1.5) << name;
    EXPECT_EQ(model.f_df(0), set.at("between").at("df").as_double()) << name;
    EXPECT_EQ(model.df_residual, set.at("within").at("df").as_double()) << name;
  }
}

}  // namespace lemma
