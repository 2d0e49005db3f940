// app/elsewhere.cpp
#include "elsewhere.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <span>
#include <string_view>

namespace lemma::app {
namespace {

struct Name {
  std::string_view there, here, words;  // words: what is said in the place of the name alone
};

constexpr Name kFlags[] = {
    {"nestimators", "--trees", ""},
    {"nestimators", "--rounds", ""},
    {"ntree", "--trees", ""},
    {"numtrees", "--trees", ""},
    {"nneighbors", "--k", ""},
    {"nneighbors", "--neighbors", ""},
    {"nclusters", "--k", ""},
    {"centers", "--k", ""},
    {"ninit", "--restarts", ""},
    {"nstart", "--restarts", ""},
    {"ncomponents", "--components", ""},
    {"k", "--components", ""},
    {"nclusters", "--components", ""},
    {"g", "--components", ""},
    {"components", "--k", ""},
    {"ncomponents", "--k", ""},
    {"maxiter", "--max_iterations", ""},
    {"maxit", "--max_iterations", ""},
    {"nepochs", "--epochs", ""},
    {"tol", "--tolerance", ""},
    {"fitintercept", "--intercept", ""},
    {"randomstate", "--seed", ""},
    {"classweight", "--class_weights", ""},
    {"hiddenlayersizes", "--layers", ""},
    {"l1ratio", "--alpha", ""},
    {"minsamplesleaf", "--min_leaf", ""},
    {"minsamplessplit", "--min_split", ""},
    {"ccpalpha", "--cp", ""},
    {"njobs", "--threads", ""},
    {"cv", "--folds", ""},
    {"conflevel", "--level", ""},
    {"conf", "--level", ""},
    {"c", "--lambda", "'--lambda', which is 1 / C"},
    {"alpha", "--lambda", "'--lambda', which weighs against the sum of the losses"},
    {"gamma", "--kernel", "a part of the kernel: --kernel 'rbf(gamma=0.1)'"},
    {"degree", "--kernel", "a part of the kernel: --kernel 'poly(degree=3)'"},
    {"residuals", "--what", "'--what residual'"},
    {"prob", "--what", "'--what probabilities'"},
    {"type", "--what", "'--what': probabilities, decision, …"},
};

constexpr Name kCommands[] = {
    {"summary", "show", ""},
    {"print", "show", ""},
    {"coef", "show", "'show MODEL coefficients'"},
    {"train", "fit", ""},
    {"head", "describe", ""},
    {"str", "describe", ""},
    {"test", "evaluate", ""},
    {"score", "evaluate", ""},
    {"transform", "predict", ""},
    {"crossval", "cross", ""},
    {"cv", "cross", ""},
    {"gridsearch", "tune", ""},
    {"grid", "tune", ""},
    {"step", "fit", "'fit glm … --stepwise'"},
    {"partialfit", "update", ""},
    {"list", "methods", "'methods', or 'datasets'"},
};

/// "n_estimators", "nEstimators" and "--n-estimators" are one name.
std::string plain(const std::string& typed) {
  std::string out;
  for (const char c : typed)
    if (c != '_' && c != '-' && c != '.') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

std::string here(std::span<const Name> names, const std::string& typed, const std::vector<std::string>& known) {
  for (const Name& name : names)
    if (name.there == plain(typed) && std::find(known.begin(), known.end(), name.here) != known.end())
      return fmt::format(": here it is {}", name.words.empty() ? fmt::format("'{}'", name.here) : name.words);
  return did_you_mean(typed, known);
}

}  // namespace

std::string flag_here(const std::string& typed, const std::vector<std::string>& known) {
  return here(kFlags, typed, known);
}

std::string command_here(const std::string& typed, const std::vector<std::string>& known) {
  return here(kCommands, typed, known);
}

}  // namespace lemma::app
