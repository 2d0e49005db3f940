// lemma/density/isolation_forest.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <optional>

namespace lemma {

/// Isolation forest (Liu, Ting and Zhou 2008): a row that few random questions set apart from the others is an outlier.
///
/// Each tree is grown from ψ rows drawn without replacement: a node asks whether a column, drawn evenly among those in which its rows differ,
/// is below a number drawn evenly between their least and greatest value; it ends with one row, with equal ones, or at depth ⌈log₂ ψ⌉.
/// With h(x) the depth of x's leaf plus c(m) for the m rows that were left in it, c(m) = 2 (H_{m−1} − (m − 1)/m) the mean depth of m rows
/// (H the harmonic numbers),
///
///     score(x) = 2^(−mean h(x) / c(ψ))      near 1: set apart at once; about ½ and below: like the others
///     outlier  where  score(x) ≥ γ
///
/// γ is such that a row like the others is called one with a probability of at most `false_alarm`: each row is scored by the trees that
/// have not seen it, and of these n scores γ is the k-th greatest, k = ⌊false_alarm (n + 1)⌋.
///
/// Draws go by the rows' own values, so that their order does not matter.
///
/// Cost         O(trees ψ log ψ) to grow, O(trees log ψ) a row.
/// Certificate  consistent: every tree is grown anew from its seed, the rows of its sample are sent down the tree as told and counted in every
///              leaf, and γ follows from scores by trees that have not seen a row.
struct IsolationForest {
  int trees = 100;
  std::optional<int> sample;
  double false_alarm = 0.05;

  static constexpr std::string_view name = "isolation_forest";
  static constexpr MethodAbout about{.family = "density",
                                     .task = Task::density,
                                     .summary = "outliers: rows that few random questions set apart",
                                     .objective = "score = 2^(-mean depth / c), outlier where it is at least γ",
                                     .example = "lemma fit isolation_forest faithful '~ .' --false_alarm 0.02",
                                     .takes_weights = true,
                                     .uses_response = false,
                                     .random = true};
  static constexpr auto params() {
    return Listing{
        param("trees", &IsolationForest::trees, "how many are grown", between(1, 100000)),
        param("sample", &IsolationForest::sample,
              "rows that a tree is grown from; by default 256, or half of the rows where that is fewer", at_least(2)),
        param("false_alarm", &IsolationForest::false_alarm,
              "probability with which a row that is like the others is called an outlier", within(0, 1))};
  }
};
static_assert(Described<IsolationForest>);

struct IsolationForestModel : Evidence {
  IsolationForest spec;
  std::string seed;
  Index columns = 0;
  Labels starts;   // where each tree begins among all nodes, and the end
  Labels feature;  // of each node the column it asks for; −1: a leaf
  Labels right;    // where rows go that are not below the split; those below go to the next node
  Vector split;    // of a leaf how many rows were left in it
  double threshold = 0, outliers = 0;

  static constexpr auto fields() {
    using M = IsolationForestModel;
    return Listing{result("threshold", &M::threshold, "score at and above which a row is an outlier"),
                   result("outliers", &M::outliers, "how many rows of the fit are"),
                   state("seed", &M::seed, "of the draws"),
                   state("columns", &M::columns, "how many a row has"),
                   state("starts", &M::starts, "where each tree begins among all nodes, and the end"),
                   state("feature", &M::feature, "the column a node asks for; -1: a leaf"),
                   state("right", &M::right, "where rows go that are not below the split"),
                   state("split", &M::split, "below it rows go left; of a leaf how many rows were left in it")};
  }
  static constexpr auto parts() {
    using M = IsolationForestModel;
    return Listing{part({"score", "between 0 and 1: the higher, the fewer questions set the row apart"}, &M::score),
                   part({"outlier", "1 where the score is at least the threshold, else 0"}, &M::outlier)};
  }
  Index width() const { return columns; }
  void check() const;
  Vector score(const MatrixView& x) const;
  Vector outlier(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

IsolationForestModel fit(const Valid<IsolationForest>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const IsolationForestModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<IsolationForest>();

}  // namespace lemma
