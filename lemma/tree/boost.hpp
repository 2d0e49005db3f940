// lemma/tree/boost.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <lemma/tree/boost/loss.hpp>
#include <lemma/tree/shared/nodes.hpp>

namespace lemma {

/// What a round adds: a tree, or a line in the one column that helps most.
enum class BoostBase { tree, linear };
constexpr auto names_of(BoostBase) { return std::array<std::string_view, 2>{"tree", "linear"}; }

/// Which leaf is split next, where their number is limited: the one that gains most, or the one nearest to the root.
enum class BoostGrowth { best, level };
constexpr auto names_of(BoostGrowth) { return std::array<std::string_view, 2>{"best", "level"}; }

/// Where a column of numbers may be split: at a few hundred quantiles, or between any two neighbouring values.
enum class BoostSplits { binned, exact };
constexpr auto names_of(BoostSplits) { return std::array<std::string_view, 2>{"binned", "exact"}; }

/// Gradient boosting: a score is a sum of many small trees, each grown where the ones before it are wrong:
///
///     f₀ = the best constant,     f_r = f_{r−1} + ν T_r,     minimising Σ w ℓ(y, f)
///
/// With g = w ∂ℓ/∂f and h = w ∂²ℓ/∂f² of each row at f_{r−1}, and their sums G, H over the rows of a node, T_r splits a node where
///
///     ½ [ G_left² / (H_left + λ) + G_right² / (H_right + λ) − G² / (H + λ) ]          (|G| less l1, λ = l2)
///
/// is greatest. The value of a leaf makes the loss of its rows least: the mean of the residuals (squared), a quantile of them
/// (absolute, quantile), the logarithm of a ratio (exponential, poisson, gamma, tweedie), or Newton's step −G / (H + λ)
/// (logistic, softmax, huber, where h = w, and all but quantiles when l1 or l2 is not 0). Numbers are cut into at most 255 bins,
/// categories are put in the order of G / H and cut there, what is missing goes to the side that gains more.
///
/// Slopes are rounded to whole numbers before they are added by bins, so that trees do not depend on the order of the rows.
/// Rows are held out, or left out of a round, by what they say (a hash of the row), for the same reason.
///
/// Cost         O(n p) to bin, then O(n p) for each level of each tree at worst, of which the larger child of a split is had by a
///              difference. Memory: 2 p bytes and about 50 for each row (the codes, score, slopes), in a mapped file where the
///              rows are streamed; with `base = linear` about 40 for each row, and a pass for each round.
/// Certificate  consistent: with the rows sent through the stored trees one by one, the losses told are theirs after every round,
///              and never rose (but for logistic and softmax, and with sampling); each leaf's value is the step from G and H counted anew (not
///              with one-side sampling, nor with directions); its weight, every threshold (midway between neighbouring values),
///              directions of missing values and the gains told are too. It does not say that a split is the best of its node.
struct Boost {
  std::optional<BoostLoss> loss;
  int rounds = 100;
  double shrinkage = 0.1;
  BoostBase base = BoostBase::tree;
  int depth = 6;
  std::optional<int> leaves;
  BoostGrowth growth = BoostGrowth::best;
  BoostSplits splits = BoostSplits::binned;
  int bins = 255;
  double min_rows = 20;
  double min_hessian = 1e-3;
  double min_gain = 0;
  double l1 = 0;
  double l2 = 0;
  double share = 1;
  double columns = 1;
  std::optional<double> top;
  double other = 0.1;
  double validation = 0;
  int patience = 10;
  double alpha = 0.5;
  double delta = 1;
  double power = 1.5;
  std::vector<std::string> increasing;
  std::vector<std::string> decreasing;
  std::vector<std::string> interactions;
  double category_smoothing = 10;
  double category_l2 = 10;
  double category_rows = 20;
  int category_levels = 32;

  static constexpr std::string_view name = "boost";
  static constexpr MethodAbout about{
      .family = "tree",
      .task = Task::regression,
      .summary = "gradient boosting: a sum of small trees, or of lines, each made for what the others leave",
      .objective =
          "minimise sum of w loss(y, f), f = f0 + shrinkage (T1 + T2 + ...); leaves by the least loss or a Newton step",
      .example = "lemma fit boost boston 'medv ~ .' --rounds 200 --depth 3",
      .scans = true,
      .takes_weights = true,
      .takes_missing = true,
      .takes_codes = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("loss", &Boost::loss,
              "what is made small; auto: squared of numbers, logistic of two classes, softmax of more"),
        param("rounds", &Boost::rounds, "trees (of several classes: of each class), or lines", between(1, 100000)),
        param("shrinkage", &Boost::shrinkage, "share of each step that is taken",
              Range{.low = 0, .high = 1, .low_open = true}, Step::logarithmic),
        param("base", &Boost::base, "what a round adds: a tree, or a line in one column (L2Boost, componentwise)"),
        param("depth", &Boost::depth, "most questions on the way to a leaf; 1: stumps", between(1, 60)),
        param("leaves", &Boost::leaves, "most leaves of a tree; auto: as many as the depth allows",
              between(2, 1 << 20)),
        param("growth", &Boost::growth, "which leaf is split next where `leaves` ends the growth"),
        param("splits", &Boost::splits, "numbers are split at quantiles, or exactly: between any two values"),
        param("bins", &Boost::bins, "most bins of a column of numbers", between(2, 255)),
        param("min_rows", &Boost::min_rows, "least weight of the rows of a leaf", at_least(0)),
        param("min_hessian", &Boost::min_hessian, "least sum of second derivatives in a leaf", at_least(0)),
        param("min_gain", &Boost::min_gain, "a split must lower the sum of losses by more than this", at_least(0)),
        param("l1", &Boost::l1, "penalty on the size of a leaf's value", at_least(0)),
        param("l2", &Boost::l2, "penalty on half its square", at_least(0)),
        param("share", &Boost::share, "of the rows that grow each tree", Range{.low = 0, .high = 1, .low_open = true}),
        param("columns", &Boost::columns, "share of the columns that each tree may ask",
              Range{.low = 0, .high = 1, .low_open = true}),
        param("top", &Boost::top,
              "one-side sampling: share of the rows with the largest slopes, all of which grow the tree; auto: all "
              "rows do",
              within(0, 1)),
        param("other", &Boost::other, "one-side sampling: share of all rows drawn from the others, and weighted up",
              within(0, 1)),
        param("validation", &Boost::validation, "share of the rows held out to stop by; 0: none",
              Range{.low = 0, .high = 1, .high_open = true}),
        param("patience", &Boost::patience, "rounds without a lower loss of the rows held out after which it stops",
              at_least(1)),
        param("alpha", &Boost::alpha, "loss quantile: the level", within(0, 1)),
        param("delta", &Boost::delta, "loss huber: the size of a residual from which it counts linearly", above(0)),
        param("power", &Boost::power, "loss tweedie: the variance is mean^power", within(1, 2)),
        param("increasing", &Boost::increasing, "columns with which the prediction must not fall"),
        param("decreasing", &Boost::decreasing, "columns with which the prediction must not rise"),
        param("interactions", &Boost::interactions,
              "groups of columns, a:b:c, that may be asked on one path; columns of no group are one more"),
        param("category_smoothing", &Boost::category_smoothing,
              "of more than 4 categories: added to H where they are put in order", at_least(0)),
        param("category_l2", &Boost::category_l2, "of more than 4 categories: added to l2 where splits are compared",
              at_least(0)),
        param("category_rows", &Boost::category_rows,
              "of more than 4 categories: rows of a node that one must have to be asked for by name", at_least(0)),
        param("category_levels", &Boost::category_levels, "most categories on one side of a split", at_least(1))};
  }
  void check() const;
  bool draws_each_round() const { return share < 1 || columns < 1 || top; }
  Needs needs(Needs usual) const {
    usual.codes = usual.missing = base == BoostBase::tree;
    return usual;
  }
};
static_assert(Described<Boost>);

struct BoostModel : Evidence {
  Boost spec;
  std::int64_t classes = 0;  // 0: numbers
  std::int64_t used_rounds = 0;
  Vector start;             // the score of every row before the first round, of each output
  Vector importance;        // gains of each column's splits, added
  double initial_loss = 0;  // mean loss of the start
  Vector training_loss, validation_loss;
  Matrix coefficients;  // base = linear: of each output
  Vector intercepts;
  TreeNodes trees;      // round by round, of each output in turn
  Vector values;        // of each leaf, shrunk: what it adds to the score
  Vector cover;         // weight of the rows that grew it
  Labels step_columns;  // base = linear: of each round and output
  Vector step_slopes, step_intercepts, centre;
  std::int64_t seed = 0;  // where chance took part

  static constexpr auto fields() {
    using M = BoostModel;
    return Listing{
        result("classes", &M::classes, "how many classes; 0 of numbers"),
        result("used_rounds", &M::used_rounds, "rounds that predictions are made of"),
        result("start", &M::start, "score before the first round, of each output"),
        result("importance", &M::importance, "by how much the splits, or lines, of each column lowered the loss",
               kByFeature),
        result("initial_loss", &M::initial_loss, "mean loss of the start"),
        result("training_loss", &M::training_loss, "mean loss of the training rows after each round"),
        result("validation_loss", &M::validation_loss, "mean loss of the rows held out after each round; none without"),
        result("coefficients", &M::coefficients, "base linear: slope of each column; a row for each output",
               kByFeature),
        result("intercepts", &M::intercepts, "base linear: of each output"),
        state("trees", &M::trees, "the trees, round by round, of each output in turn"),
        state("values", &M::values, "what each leaf adds to the score"),
        state("cover", &M::cover, "weight of the rows of each leaf"),
        state("step_columns", &M::step_columns, "base linear: column of each step, from 0"),
        state("step_slopes", &M::step_slopes, "base linear: slope of each step"),
        state("step_intercepts", &M::step_intercepts, "base linear: value of each step at the mean of its column"),
        state("centre", &M::centre, "base linear: mean of each column"),
        state("seed", &M::seed, "seed of the rows and columns that were drawn; 0: none were")};
  }
  static constexpr auto parts() {
    return Listing{
        part({"staged", "the prediction after each round (of classes: probabilities)", Given::asked, PartColumns::own},
             &BoostModel::staged),
        part({"shap", "what each column adds to the score of the row (SHAP values), of each output", Given::asked,
              PartColumns::features},
             &BoostModel::shap),
        part({"shap_base", "the score that SHAP values are added to", Given::asked, PartColumns::classes},
             &BoostModel::shap_base),
        part({"leaf", "the leaf of each tree, counted from 1 in the tree", Given::asked, PartColumns::numbered},
             &BoostModel::leaf)};
  }
  Index width() const { return importance.size(); }
  Index class_count() const { return classes; }
  Index outputs() const { return start.size(); }
  Task task() const { return classes > 0 ? Task::classification : Task::regression; }
  boost::Loss loss() const;
  bool draws() const { return spec.draws_each_round() || spec.validation > 0; }
  void check() const;
  void check_stop() const;
  void check_lines() const;

  Matrix scores(const MatrixView& x) const;  // a column for each output
  Vector predict(const MatrixView& x) const;
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;
  Matrix decision(const MatrixView& x) const { return scores(x); }
  NamedMatrix staged(const MatrixView& x) const;
  Matrix shap(const MatrixView& x) const;
  Matrix shap_base(const MatrixView& x) const;
  Matrix leaf(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

BoostModel fit(const Valid<Boost>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const BoostModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Boost>();

}  // namespace lemma
