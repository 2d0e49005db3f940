// tests/contract_rows_test.cpp: what a model says of a row does not depend on the rows beside it, nor on where in memory
// the row lies: every part of a prediction, of every method of the catalog, bit by bit.
#include <cstring>
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <map>
#include <tests/contract/compare.hpp>
#include <tests/contract/data.hpp>

namespace lemma::contract {
namespace {

/// A method, the response it is given (empty: its task's own) and what differs from its defaults.
struct Tried {
  std::string method, response, params;
  friend std::ostream& operator<<(std::ostream& out, const Tried& tried) {
    return out << tried.method << " of '" << tried.response << "' " << tried.params;
  }
};

std::vector<Tried> tried() {
  std::vector<Tried> out;
  for (const Method* method : catalog()) out.push_back({method->name(), "", "{}"});
  for (const std::string kernel : {"linear", "poly(degree=2)", "laplace", "matern", "tanh", "periodic(7)",
                                   "rbf(lengths=[1,2,3,4])", "rbf(0.1) + linear", "0.5 * matern * linear"})
    out.push_back({"svm", "class", R"({"kernel": ")" + kernel + R"("})"});
  out.push_back({"svm", "y", "{}"});
  out.push_back({"svm", "class", R"({"probabilities": true})"});
  out.push_back({"svm", "class", R"({"classes": "one-vs-rest", "probabilities": true})"});
  for (const std::string kernel : {"linear", "matern", "rbf(1) + 0.1 * linear"})
    out.push_back({"gp", "y", R"({"optimise": false, "kernel": ")" + kernel + R"("})"});
  for (const std::string method : {"kernel_ridge", "kernel_logistic", "kernel_lda", "kernel_neighbors"})
    out.push_back({method, "", R"json({"kernel": "poly(2)"})json"});
  out.push_back({"kernel_neighbors", "y", "{}"});
  out.push_back({"nadaraya_watson", "y", R"({"degree": 1})"});
  out.push_back({"glm", "side", "{}"});
  out.push_back({"glm", "w", R"({"family": "poisson"})"});
  out.push_back({"pca", "", R"({"components": 2, "scale": true, "whiten": true})"});
  out.push_back({"whiten", "", R"({"kind": "zca"})"});
  out.push_back({"multinomial", "class", R"({"lambda": 0.1})"});
  return out;
}

std::string name_of_try(const testing::TestParamInfo<Tried>& tested) {
  std::string name = tested.param.method;
  if (!tested.param.response.empty()) name += "_" + tested.param.response + "_" + std::to_string(tested.index);
  else if (tested.param.params != "{}") name += "_" + std::to_string(tested.index);
  return name;
}

/// Rows of a table as a model meets them, and what goes with them.
struct Given {
  DesignData data;
  Block block(const MatrixView& x, Index first) const {
    Block out(x, first);
    const auto part = [&](const auto& all) {
      return all.empty() ? std::span(all.data(), 0) : std::span(all).subspan(size(first), size(x.rows()));
    };
    out.y = part(data.y);
    out.label = part(data.label);
    return out;
  }
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }
};

/// All that a model says of some rows, as numbers of each row; what it refuses is left out. (Samples are no numbers of a
/// row: a function is drawn at all rows together.)
struct Said {
  std::map<std::string, Matrix> parts;

  void add(const std::string& name, const auto& numbers) {
    if (numbers.size() > 0) parts[name] = numbers;
  }
  void add(const std::string& name, const Strings& texts) {
    Vector hashes(static_cast<Index>(texts.size()));
    for (std::size_t i = 0; i < texts.size(); ++i)
      hashes(static_cast<Index>(i)) = static_cast<double>(std::hash<std::string>{}(texts[i]) >> 16);
    add(name, hashes);
  }
  void add(const std::string& name, const Labels& labels) {
    Vector numbers(static_cast<Index>(labels.size()));
    for (std::size_t i = 0; i < labels.size(); ++i) numbers(static_cast<Index>(i)) = labels[i];
    add(name, numbers);
  }
};

void try_to(auto&& work) {
  try {
    work();
  } catch (const Error&) {}  // no such part
}

Said said_of(const TrainedModel& trained, const Block& block, bool diagnosed) {
  Said out;
  for (const IntervalKind kind : {IntervalKind::none, IntervalKind::confidence, IntervalKind::prediction})
    for (const bool deviations : {false, true})
      try_to([&] {
        PredictOptions options;
        const bool plain = kind == IntervalKind::none && !deviations;
        if (plain) options.what = {"all"};  // the parts that no interval belongs to are asked for once
        options.interval = kind;
        options.deviations = deviations;
        const std::string which(names_of(kind)[static_cast<std::size_t>(kind)]);
        const Prediction p = trained.model.predict(block.x, options);
        for (const PredictedPart& part : p.parts())
          std::visit([&](const auto& data) { out.add(fmt::format("{} ({})", part.info.name, which), data); },
                     part.data);
      });
  try_to([&] {
    const Matrix z = trained.model->transform(block.x);
    out.add("transform", z);
    try_to([&] { out.add("inverse", trained.model->inverse(z)); });
  });
  if (diagnosed)
    for (const NamedColumn& column : trained.model->diagnostics(block))
      out.add("diagnostics " + column.name, column.values);
  return out;
}

bool same_number(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }

Complaints unlike(const Said& all, const Said& some, Index first, const std::string& about) {
  Complaints out;
  if (all.parts.size() != some.parts.size()) out.push_back({about, "says other things"});
  for (const auto& [name, numbers] : some.parts) {
    const Matrix& expected = all.parts.at(name);
    Index others = 0;
    for (Index i = 0; i < numbers.rows(); ++i)
      for (Index j = 0; j < numbers.cols(); ++j) others += !same_number(numbers(i, j), expected(first + i, j));
    if (others > 0) out.push_back({about, fmt::format("{} numbers of '{}' have other bits", others, name)});
  }
  return out;
}

class Company : public testing::TestWithParam<Tried> {};
INSTANTIATE_TEST_SUITE_P(Methods, Company, testing::ValuesIn(tried()), name_of_try);

/// Some methods diagnose all rows of the fit together or none: they say so, and are not among those that work by scans.
bool is_diagnosed_in_blocks(const TrainedModel& trained, const Given& given) {
  try {
    trained.model->diagnostics(given.block(given.data.x.topRows(1), 0));
  } catch (const Error&) {
    EXPECT_FALSE(trained.model->method().about().scans);
    return false;
  }
  return true;
}

/// Blocks of these sizes against all rows at once; of the rows from `enough` on only large blocks are looked at.
Complaints unlike_in_blocks(const TrainedModel& trained, const Given& given, bool diagnosed, Index enough) {
  const Matrix& x = given.data.x;
  const Said all = said_of(trained, given.block(x, 0), diagnosed);
  Complaints found;
  if (all.parts.empty()) found.push_back({"all rows", "nothing is said of them"});
  for (const Index size : {1, 2, 3, 5, 7, 4096}) {
    const Index end = std::min(x.rows(), size == 4096 ? x.rows() : enough);
    Matrix shifted(size + 1, x.cols() + 1);  // each row an odd number of numbers further, and not where memory begins
    for (Index first = 0; first < end && found.empty(); first += size) {
      const Index rows = std::min(size, end - first);
      append(found, unlike(all, said_of(trained, given.block(x.middleRows(first, rows), first), diagnosed), first,
                           fmt::format("blocks of {}", size)));
      auto elsewhere = shifted.block(1, 1, rows, x.cols());
      elsewhere = x.middleRows(first, rows);
      append(found, unlike(all, said_of(trained, given.block(elsewhere, first), diagnosed), first,
                           fmt::format("blocks of {} elsewhere", size)));
    }
  }
  return found;
}

TEST_P(Company, ARowIsPredictedAlikeInAnyCompany) {
  const Method& method = find_method(GetParam().method, catalog());
  Example example = good(method, 180);
  if (!GetParam().response.empty()) example.formula = GetParam().response + " ~ " + kFeatures;
  const TrainedModel trained = train_on(method, example, {}, from_json(GetParam().params));
  if (says_nothing_of_rows(trained)) GTEST_SKIP() << "it is about the rows of the fit alone";
  Complaints found = unlike_in_blocks(trained, {trained.design.apply(groups(4096 + 210, 17))}, false, 105);
  const Given rows_of_the_fit{trained.design.apply(example.table)};
  append(found, unlike_in_blocks(trained, rows_of_the_fit, is_diagnosed_in_blocks(trained, rows_of_the_fit), 105));
  judge(GetParam().method, found);
}

TEST_P(Company, OfNoRowsTheSamePartsAreSaid) {
  const Method& method = find_method(GetParam().method, catalog());
  Example example = good(method, 60);
  if (!GetParam().response.empty()) example.formula = GetParam().response + " ~ " + kFeatures;
  const TrainedModel trained = train_on(method, example, {}, from_json(GetParam().params));
  const Matrix x = trained.design.apply(example.table).x;
  PredictOptions options;
  options.what = {"all"};
  Complaints found;
  try_to([&] {
    const Prediction all = trained.model.predict(x, options), none = trained.model.predict(x.topRows(0), options);
    if (all.parts().size() != none.parts().size()) return found.push_back({"no rows", "other parts are said of them"});
    for (std::size_t i = 0; i < all.parts().size(); ++i) {
      const PredictedPart &expected = all.parts()[i], &part = none.parts()[i];
      if (part.info.name != expected.info.name || part.rows() != 0 ||
          column_names(part, trained.names()) != column_names(expected, trained.names()))
        found.push_back({"no rows", fmt::format("'{}' has {} rows and other columns", part.info.name, part.rows())});
    }
  });
  judge(GetParam().method, found);
}

}  // namespace
}  // namespace lemma::contract
