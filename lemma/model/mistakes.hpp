// lemma/model/mistakes.hpp: functions that are turned at each mistake (Rosenblatt), in whatever space. Perceptrons of planes and of
// kernels share it; each brings what it turns and how.
#pragma once
#include <algorithm>
#include <lemma/core/parallel.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <lemma/model/path.hpp>

namespace lemma {

/// One function f + b in the course of its passes, and in its pocket the one that went longest without a mistake (Gallant).
template <class State>
struct Turning {
  State now;              // f, but for b
  double least_run = -1;  // a longer one is worth keeping
  double b = 0, updates = 0, passes = 0;
  bool separates = false;
  double run = 0, longest = least_run;  // rows without a mistake
  State pocket = now;
  double pocket_b = 0;

  /// A row that stands there `copies` times: value() is f at it, turn(s) turns f towards its side s = ±1.
  void see(bool positive, double copies, bool intercept, auto&& value, auto&& turn) {
    const double s = positive ? 1 : -1;
    for (double copy = 0; copy < copies; ++copy) {
      if (s * (value() + b) > 0) {
        run += copies - copy;
        break;
      }
      keep();
      turn(s);
      if (intercept) b += s;
      ++updates;
      run = 0;
    }
  }
  void keep() {
    if (run <= longest) return;
    longest = run;
    pocket = now;
    pocket_b = b;
  }
  /// What is given in the end: the function that separates, else the one in the pocket, where one was kept.
  void settle() {
    keep();
    if (separates || longest == least_run) return;
    now = pocket;
    b = pocket_b;
  }
};

/// Passes until every function separates, or there are no more. `pass` shows all rows to those that do not separate yet; false:
/// it was cancelled on the way.
template <class State>
void turn_until_separated(std::vector<Turning<State>>& functions, int most, const Execution& execution, auto&& pass) {
  const auto all_separate = [&] {
    return std::all_of(functions.begin(), functions.end(), [](const auto& each) { return each.separates; });
  };
  for (int round = 0; round < most && !all_separate() && !execution.cancelled(); ++round) {
    std::vector<double> before;
    for (const auto& each : functions) before.push_back(each.updates);
    if (pass())
      for (std::size_t k = 0; k < functions.size(); ++k) {
        if (functions[k].separates) continue;
        ++functions[k].passes;
        functions[k].separates = functions[k].updates == before[k];
      }
    execution.report((round + 1.0) / most, "passes");
  }
  for (auto& each : functions) each.settle();
}

/// Weights count copies. `row`: from 0.
void require_whole_weight(std::string_view method, Index row, double weight);

/// Of each function the least distance of a row from its border, negative on the wrong side, and the weight of those rows.
struct Sides {
  Vector margin, wrong;
  explicit Sides(Index functions);
  /// A row of the class `label` and weight `weight`, at which the functions are `values`.
  void see(int label, double weight, const auto& values) {
    for (Index k = 0; k < margin.size(); ++k) {
      const double side = is_positive(label, k, margin.size()) ? values(k) : -values(k);
      margin(k) = std::min(margin(k), side);
      if (!(side > 0)) wrong(k) += weight;
    }
  }
};
void compare(Comparison& same, const PathNumbers& margin, const PathNumbers& errors, const Sides& found);

/// "…: separated after 3 updates in 2 passes, margin 0.1": function k.
std::string course_in_words(const std::string& name, double updates, double passes, double errors, double margin);
/// "the classes were not separated after 200 passes: …"
std::string not_separated(int passes, double wrong, std::string_view border);

}  // namespace lemma
