// lemma/validate/truth.hpp: distributions that are known, so that what a method finds can be held against what is so.
//
// Named ones such as 'moons(noise=0.2)' or 'linear(coefficients=1,-2, noise=0.5)', and mixtures of Gaussians for each class from a file:
//
//     {"classes": [{"name": "A", "prior": 0.5, "mean": [0, 0], "covariance": [[1, 0], [0, 1]]},
//                  {"name": "B", "prior": 0.5, "components": [{"weight": 0.3, "mean": [2, 0], "covariance": 1}, …]}]}
//
// A covariance is a matrix, the diagonal of one, or a number that stands for that many times the identity. "features" and "response"
// name the columns (x1, x2, … and class).
#pragma once
#include <lemma/core/random.hpp>
#include <lemma/core/value.hpp>
#include <lemma/data/table.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// A distribution of rows with a response: a class, or a number. Row i is a function of the seed and i alone.
class Truth {
 public:
  virtual ~Truth() = default;

  std::string name;  // as it was called
  std::vector<std::string> features;
  std::string response;
  std::vector<std::string> classes;  // none: the response is a number
  bool of_classes() const { return !classes.empty(); }

  /// One row and its response: a number, or the code of a class.
  virtual double draw(RandomStream& stream, double* x) const = 0;

  /// Of classes: P(class | x). Of numbers: the mean and the variance of the response at x. False where it is not known.
  virtual bool probabilities(const double* x, double* p) const;
  virtual bool moments(const double* x, double& mean, double& variance) const;

  /// Σₖ πₖ fₖ(x) each, and a box that holds all rows but for a share of 1e-12, where the density is known: what quadrature needs.
  struct Box {
    Vector lower, upper;
  };
  virtual bool joint_density(const double* x, double* density) const;
  virtual std::optional<Box> box() const;
};

/// A named truth, with its parameters in brackets, or a .json file. Error that lists what there is.
std::shared_ptr<const Truth> truth_named(const std::string& text);
/// Classes as mixtures of Gaussians, from a document. Error names what is wrong in it.
std::shared_ptr<const Truth> mixture_truth(const Value& document, const std::string& name = "mixture");

struct TruthInfo {
  std::string name, params, meaning;  // "noise=0.1"
};
std::vector<TruthInfo> truths();

/// Rows [first, first + count) of the stream with this seed, as a table; the response comes last.
Table draw_table(const Truth& truth, Index count, std::uint64_t seed, Index first = 0);

}  // namespace lemma
