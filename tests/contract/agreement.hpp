// tests/contract/agreement.hpp: does a second look at a model say what the first one said?
#pragma once
#include <lemma/catalog.hpp>
#include <tests/contract/compare.hpp>
#include <tests/contract/hard_data.hpp>

namespace lemma::contract {

/// A method as it is written on the command line, and the formula it is fitted by.
struct Wanted {
  std::string method, formula;
};

/// A method with its defaults for each kind of response it takes, and settings whose certificates go other ways.
inline std::vector<Wanted> ways_to_fit(const Method& method) {
  const std::string name = method.name(), features = std::string(" ~ ") + kFeatures;
  std::vector<Wanted> out{{name, formula_for(method.about())}};
  if (method.about().either_response)
    out.push_back({name, (name == "logistic"                            ? "share"
                          : method.about().task == Task::classification ? "y"
                          : name == "glm"                               ? "side"
                                                                        : "class") +
                             features});
  const std::vector<std::pair<std::string, Wanted>> more{
      {"logistic", {"logistic(lambda=0)", "side" + features}},
      {"logistic", {"logistic(penalty=l1)", "side" + features}},
      {"multinomial", {"multinomial(lambda=0)", "class" + features}},
      {"multinomial", {"multinomial(penalty=l1)", "class" + features}},
      {"glm", {"glm(family=poisson)", "count" + features}},
      {"glm", {"glm(link=probit)", "side" + features}},
      {"linear_svm", {"linear_svm", "side" + features}},
      {"linear_svm", {"linear_svm(loss=squared_hinge)", "side" + features}},
      {"linear_svm", {"linear_svm(solver=dual)", "side" + features}},
      {"linear_svm", {"linear_svm(bias=penalised)", "side" + features}},
      {"lp_svm", {"lp_svm", "side" + features}},
      {"ridge", {"ridge(standardize=false)", "y" + features}},
      {"quantile", {"quantile(tau=0.1)", "y" + features}},
      {"lasso", {"lasso(standardize=false)", "y" + features}},
      {"pca", {"pca(scale=true)", features}},
      {"ica", {"ica(components=2)", features}},
      {"ica", {"ica(contrast=cube)", features}},
      {"cca", {"cca", "cbind(y, count)" + features}},
      {"pls", {"pls", "cbind(y, count)" + features}},
      {"multitask_lasso", {"multitask_lasso", "cbind(y, count)" + features}},
      {"prototypes", {"prototypes(by=edited)", "class" + features}},
      {"prototypes", {"prototypes(by=lvq1)", "class" + features}},
      {"mlp", {"mlp(layers=3, solver=adam, epochs=5)", "class" + features}},
      {"tsne", {"tsne(forces=barnes_hut, max_iterations=50)", features}},
  };
  for (const auto& [whose, wanted] : more)
    if (whose == name) out.push_back(wanted);
  return out;
}

/// Words that no sentence of ours may hold.
inline Complaints unfit_words(const std::vector<std::string>& said, const std::string& about) {
  Complaints out;
  for (const auto& text : said)
    for (const char* word : {"nan", "inf", "NaN"})
      if (has_word(text, word)) out.push_back({about, fmt::format("'{}' is said: {}", word, text)});
  return out;
}

/// What a second look says, in one word.
inline std::string verdict(const Certificate& certificate) {
  return certificate.strength == Strength::none ? "claims nothing" : certificate.holds() ? "holds" : "does not hold";
}

/// The model, as its file gives it back, looked at again with the rows of the fit: in their order, and in another one.
inline Complaints disagreements(const TrainedModel& trained, const Table& table, const std::string& about) {
  std::vector<std::string> said = trained.model->warnings();
  said.push_back(trained.model->certificate().message);
  said.push_back(trained.model->summary(trained.names()));
  Complaints out = unfit_words(said, about);
  RandomStream stream(5);
  const std::string first = verdict(trained.model->certificate());
  const TrainedModel loaded = decode(encode(trained), catalog());
  for (const auto& [order, rows] : {std::pair<std::string, Table>{"in their order", table},
                                    {"shuffled", table.select(permutation(stream, table.rows()))}}) {
    const Verification second = loaded.verify(MemoryTableStream(rows));
    append(out, unfit_words({second.certificate.message}, about));
    if (!second.same_rows) out.push_back({about, fmt::format("the rows {} are not known again", order)});
    if (verdict(second.certificate) != first)
      out.push_back(
          {about, fmt::format(
                      "the fit {}, a second look at the rows {} {} ({:.1e}, allowed {:.0e}): {}; the fit said: {}",
                      first, order, verdict(second.certificate), second.certificate.value, second.certificate.tolerance,
                      second.certificate.message, trained.model->certificate().message)});
  }
  return out;
}

/// Fits what is wanted to a table. Nothing where the method gives a reason for refusing it.
inline std::optional<TrainedModel> fit_or_reason(const Wanted& wanted, const Table& table) {
  Value params;
  const auto method = method_from(wanted.method, catalog(), params);
  try {
    return train(method, params, formula(wanted.formula), MemoryTableStream(table));
  } catch (const Error& error) {
    if (const auto unfit = unfit_message(error.what()); !unfit.empty()) throw;
    return {};
  }
}

}  // namespace lemma::contract
