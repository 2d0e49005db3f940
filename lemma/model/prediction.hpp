// lemma/model/prediction.hpp: what a model says of rows: a list of named parts, each described once.
//
// A part is declared where the model is: by a verb that the house knows (predict, probabilities, transform, …), or by a line in
// the model's parts(). Stacking blocks, CSV, JSON, `predict --what NAME`, help and the contract suite follow from that.
#pragma once
#include <array>
#include <cstdint>
#include <lemma/core/value.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lemma {

/// When a part is made: without being asked, when it is asked for by its name, or by an option of its own (an interval).
enum class Given { by_default, asked, option };

/// How the columns of a part are called where they are written.
enum class PartColumns {
  itself,     // one column, by the prefix
  classes,    // prefix_class; of one column the prefix
  features,   // prefix_feature
  numbered,   // prefix_1, prefix_2, …
  responses,  // prefix_response, of several; codes of classes are written by their names
  own         // as the part itself says
};

struct PartInfo {
  std::string_view name;  // what `--what` takes
  std::string_view meaning;
  Given given = Given::by_default;
  PartColumns columns = PartColumns::itself;
  std::string_view prefix = {};  // of the columns; the name where it is empty
  bool of_classes = false;       // codes are those of classes, and written by their names; else as numbers from 1
};

// The parts that the house knows, in the order in which they are written.
inline constexpr PartInfo kValuePart{"value", "the number predicted", Given::by_default, PartColumns::itself,
                                     "prediction"};
inline constexpr PartInfo kValuesPart{"values", "what is predicted for each of several responses", Given::by_default,
                                      PartColumns::responses, "prediction"};
inline constexpr PartInfo kIntervalPart{"interval", "where the value, or an observation, lies (--interval)",
                                        Given::option, PartColumns::own};
inline constexpr PartInfo kDeviationsPart{"deviations", "standard deviations of the value and of an observation (--sd)",
                                          Given::option, PartColumns::own};
inline constexpr PartInfo kSamplesPart{"samples", "functions drawn at random, at the rows (--samples)", Given::option,
                                       PartColumns::numbered, "sample"};
inline constexpr PartInfo kClassPart{"class", "the class predicted", Given::by_default, PartColumns::itself, "class",
                                     true};
inline constexpr PartInfo kClusterPart{"cluster", "the cluster of the row, counted from 1"};
inline constexpr PartInfo kProbabilitiesPart{"probabilities", "of each class", Given::by_default, PartColumns::classes,
                                             "p"};
inline constexpr PartInfo kMembershipsPart{"memberships", "how far the row belongs to each cluster", Given::by_default,
                                           PartColumns::numbered, "p"};
inline constexpr PartInfo kDecisionPart{"decision", "linear predictor or discriminant functions", Given::asked,
                                        PartColumns::classes};
inline constexpr PartInfo kCoordinatesPart{"coordinates", "the row in the coordinates of the model", Given::asked,
                                           PartColumns::own};
inline constexpr PartInfo kTransformedPart{"coordinates", "the row in the coordinates of the model", Given::by_default,
                                           PartColumns::own};
inline constexpr PartInfo kLogDensityPart{"log_density", "logarithm of the density at the row"};

using Strings = std::vector<std::string>;

/// What a model says of each row under one name: a number, several, a code or a text.
struct PredictedPart {
  PartInfo info;
  std::variant<Vector, Matrix, Labels, Strings> data;
  std::vector<std::string> columns = {};  // names of its own, where `info` says so

  Index rows() const;
  Index width() const;  // columns it is written as
};

/// How the user calls things: what summaries print and results are ordered by.
struct Names {
  std::vector<std::string> features, classes;
  std::string target;
  std::vector<std::string> responses = {};  // where there are several
};

/// The names of the columns that a part is written as.
std::vector<std::string> column_names(const PredictedPart& part, const Names& names);

enum class IntervalKind { none, confidence, prediction };
constexpr auto names_of(IntervalKind) { return std::array<std::string_view, 3>{"none", "confidence", "prediction"}; }

struct Interval {
  Vector lower, upper;
};
/// Functions to be drawn: how many, from what the rows say or from before they said it.
struct SampleOptions {
  int count = 1;
  bool prior = false;
  std::uint64_t seed = 1;
};

struct PredictOptions {
  std::vector<std::string> what;  // names of the parts wanted; none: those given by default; "all": all of them
  IntervalKind interval = IntervalKind::none;
  double level = 0.95;
  bool deviations = false;               // standard deviations too
  std::optional<SampleOptions> samples;  // functions drawn at random too
  std::span<const double> offset;        // known part of each row's linear predictor; empty: none

  /// Whether a part is to be made (options of their own aside).
  bool asks(const PartInfo& part) const;
};

/// Whatever a model says of new rows. What it does not offer, or was not asked for, is not among the parts.
class Prediction {
 public:
  Prediction& add(const PartInfo& info, auto&& data, std::vector<std::string> columns = {}) {
    parts_.push_back({info, std::forward<decltype(data)>(data), std::move(columns)});
    return *this;
  }
  const std::vector<PredictedPart>& parts() const { return parts_; }
  std::vector<PredictedPart>& parts() { return parts_; }
  const PredictedPart* find(std::string_view name) const;

  // A part by its name, empty when it is not there. Error when it is there and something else.
  const Vector& numbers(std::string_view name) const;
  const Matrix& matrix(std::string_view name) const;
  const Labels& codes(std::string_view name) const;
  const Strings& texts(std::string_view name) const;

  const Vector& value() const { return numbers(kValuePart.name); }
  const Labels& label() const;  // class or cluster
  const Matrix& probabilities() const { return matrix(kProbabilitiesPart.name); }
  const Matrix& decision() const { return matrix(kDecisionPart.name); }
  const Matrix& coordinates() const { return matrix(kCoordinatesPart.name); }
  const Matrix& interval() const { return matrix(kIntervalPart.name); }  // lower, upper
  const Vector& log_density() const { return numbers(kLogDensityPart.name); }

 private:
  std::vector<PredictedPart> parts_;
};

/// What was said of some rows and then of others, as if of all at once.
Prediction stack(const std::vector<Prediction>& parts);
/// One entry for each part, by its name.
Value to_value(const Prediction& prediction);

}  // namespace lemma
