// lemma/model/known_gaps.cpp: one line for each gap, with its reason.
#include <lemma/model/known_gaps.hpp>

namespace lemma {
namespace {

constexpr std::string_view kDamage = "ADamagedModelFailsItsCertificate";

constexpr std::string_view kWeights = "AWeightOfKIsKCopiesOfTheRow";

constexpr KnownGap kGaps[] = {
    {"ols", kDamage, "mean_rest", "what rounding left out of the mean is below any tolerance"},
    {"elastic_net", kDamage, "gap", "a gap of an optimum is rounding; one that matters is far above the tolerance"},
    {"lasso", kDamage, "gap", "a gap of an optimum is rounding; one that matters is far above the tolerance"},
    {"glm", kDamage, "mean_rest", "what rounding left out of the mean is below any tolerance"},
    {"glm", kDamage, "iterations",
     "the way to the maximum leaves no trace in the rows; only where it ended is certified"},
    {"kernel_perceptron", kDamage, "passes",
     "how long the way was leaves no trace in the rows; the mistakes on it are counted again"},
    {"gp", kDamage, "lml_gradient",
     "at the greatest likelihood it is rounding; one that matters is far above the tolerance"},
    {"kmeans", kDamage, "objective",
     "the way to the centres leaves no trace in the rows; only where it ended is certified"},
    {"linear_svm", kDamage, "gap", "a gap of an optimum is rounding; one that matters is far above the tolerance"},
    {"logistic", kDamage, "trace",
     "the way to the optimum leaves no trace in the rows; only where it ended is certified"},
    {"svm", kWeights, "results: *",
     "support vectors are listed row by row, and their multipliers are within a tolerance"},
    {"svm", kWeights, "prediction: decision", "machines agree to the tolerance of 1e-3; its own test asks for 1e-10"},
};

}  // namespace

std::span<const KnownGap> known_gaps() { return kGaps; }

}  // namespace lemma
