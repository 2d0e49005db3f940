// lemma/validate/curve.hpp: ROC, precision-recall, lift and calibration curves of models on rows whose classes are known.
#pragma once
#include <array>
#include <lemma/metric/curves.hpp>
#include <lemma/validate/judge.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

enum class CurveKind { roc, pr, lift, calibration };
constexpr auto names_of(CurveKind) { return std::array<std::string_view, 4>{"roc", "pr", "lift", "calibration"}; }

struct CurveOptions {
  std::string
      positive;   // the class that the curve is about, the others together being the rest; empty: the second of two
  int bins = 10;  // of a calibration curve
  Bins by = Bins::width;
  JudgeOptions judge;  // missing values, weights, execution
};

/// A model that is known by a name, such as its file.
struct NamedModel {
  std::string name;
  const TrainedModel* trained;
};

struct ModelCurve {
  std::string model, method;
  Index rows = 0;
  Table points;                   // threshold, false_positive_rate, …: see columns on the page
  std::vector<Measure> measures;  // auc; average_precision; ece and Brier's parts
  Honesty honesty;
  std::vector<std::string> notes;
};

/// Two models whose areas under the ROC curve are compared on the same rows.
struct AucPair {
  std::size_t first = 0, second = 0;
  AucComparison found;
  double adjusted = 1;  // p after Holm, over all pairs
};

struct CurveResult {
  CurveKind kind = CurveKind::roc;
  std::string data, positive;
  std::vector<ModelCurve> curves;
  std::vector<AucPair> pairs;      // of ROC curves, where all models were asked about the same rows
  std::vector<std::string> notes;  // of all of them together
};

/// Error where a model gives neither probabilities nor a decision value of two classes, or the class is none of its own. A calibration curve
/// needs probabilities.
CurveResult curve(CurveKind kind, std::span<const NamedModel> models, const TableStream& data,
                  const CurveOptions& options = {});

/// All points in one table, the model in front where there are several.
Table table_of(const CurveResult& result);
Value to_value(const CurveResult& result);
/// Areas and errors, and whether two models differ. The points are for files.
std::string text(const CurveResult& result);

}  // namespace lemma
