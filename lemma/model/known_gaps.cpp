// lemma/model/known_gaps.cpp: one line for each gap, with its reason.
#include <lemma/model/known_gaps.hpp>

namespace lemma {
namespace {

constexpr std::string_view kDamage = "ADamagedModelFailsItsCertificate";

constexpr std::string_view kWeights = "AWeightOfKIsKCopiesOfTheRow";
constexpr std::string_view kRowOrder = "TheOrderOfTheRowsDoesNotMatter";

constexpr std::string_view kTold = "ThatAreNotThoseOfTheNumbersAreNoticed";

constexpr KnownGap kGaps[] = {
    {"gp", kTold, "optimise", "hyperparameters that were learned are right as given ones too, and less is claimed"},
    {"gp", kTold, "learn_noise", "a noise that was learned is right as a given one too, and less is claimed"},
    {"kernel_neighbors", kTold, "k", "the method is its rows: any k is right, and the error told is that of this k"},
    {"kernel_neighbors", kTold, "kernel", "the method is its rows: any kernel is right, and the error told is its own"},
    {"kernel_neighbors", kTold, "vote", "the method is its rows: either vote is right, and the error told is its own"},
    {"lift", kTold, "kind", "nothing is learned but how many columns there are: either kind is right"},
    {"pca", kTold, "whiten", "the same axes serve scores of either length"},
    {"svm", kTold, "epsilon", "of classes it takes no part"},
    {"svm_of_numbers", kTold, "classes", "of numbers it takes no part"},
    {"svm_of_numbers", kTold, "class_weights", "of numbers it takes no part"},
    {"svm_of_numbers", kTold, "probabilities", "of numbers it takes no part"},
    {"whiten", kTold, "kind", "the same axes serve both kinds"},
    {"ols", kDamage, "mean_rest", "what rounding left out of the mean is below any tolerance"},
    {"elastic_net", kDamage, "gap", "a gap of an optimum is rounding; one that matters is far above the tolerance"},
    {"lasso", kDamage, "gap", "a gap of an optimum is rounding; one that matters is far above the tolerance"},
    {"glm", kDamage, "mean_rest", "what rounding left out of the mean is below any tolerance"},
    {"glm", kDamage, "iterations",
     "the way to the maximum leaves no trace in the rows; only where it ended is certified"},
    {"kernel_perceptron", kDamage, "passes",
     "how long the way was leaves no trace in the rows; the mistakes on it are counted again"},
    {"kernel_perceptron", kDamage, "order",
     "it tells whether rows come in the order of the fit; when not, row numbers are not checked, and the message says "
     "so"},
    {"gp", kDamage, "lml_gradient",
     "at the greatest likelihood it is rounding; one that matters is far above the tolerance"},
    {"gp", kRowOrder, "results: lml_gradient",
     "at the greatest likelihood it is what two sums leave that cancel, to the accuracy that the certificate says"},
    {"gp", kWeights, "results: lml_gradient",
     "at the greatest likelihood it is what two sums leave that cancel, to the accuracy that the certificate says"},
    {"kmeans", kDamage, "objective",
     "where the way to the centres began leaves no trace in the rows; that it only fell, and where it ended, is "
     "certified"},
    {"linear_svm", kDamage, "gap", "a gap of an optimum is rounding; one that matters is far above the tolerance"},
    {"logistic", kDamage, "trace",
     "the way to the optimum leaves no trace in the rows; only where it ended is certified"},
    {"perceptron", kDamage, "updates",
     "how often a plane turns depends on the order of the rows; it is held against what any order must obey"},
    {"perceptron", kDamage, "passes",
     "how long the way was depends on the order of the rows; it is held against what any order must obey"},
    {"svm", kDamage, "order",
     "it tells whether rows come in the order of the fit; when not, row numbers are not checked, and the message says "
     "so"},
    {"svm", kWeights, "results: *",
     "support vectors are listed row by row, and their multipliers are within a tolerance"},
    {"svm", kWeights, "prediction: decision", "machines agree to the tolerance of 1e-3; its own test asks for 1e-10"},
    {"svm_of_numbers", kWeights, "prediction: value",
     "machines agree to the tolerance of 1e-3; its own test asks for 1e-10"},
    {"glm_of_classes", "DefaultsFitGoodDataAndTheCertificateHolds", "built-in",
     "the odds ratio of a coefficient above 709 is beyond the range of numbers"},
};

}  // namespace

std::span<const KnownGap> known_gaps() { return kGaps; }

}  // namespace lemma
