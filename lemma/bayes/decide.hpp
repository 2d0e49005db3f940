// lemma/bayes/decide.hpp
#pragma once
#include <lemma/model/any_spec.hpp>
#include <lemma/model/bayes_rule.hpp>

namespace lemma {

/// Every mistake costs 1.
enum class Losses { equal };
constexpr auto names_of(Losses) { return std::array<std::string_view, 1>{"equal"}; }

/// Bayes' rule after any classifier with probabilities p: mistakes that do not all cost the same, and rows that are better not decided.
///
///     class    argmin_l Σₖ pₖ L(k, l)                 L(k, l): what it costs to say l where k is true
///     decided  the same, or nothing where even that costs more than `reject` (Chow 1970)
///
/// Nothing is learned beyond the method inside: whoever has its model and other losses makes another rule of it without the rows
/// (`lemma decide MODEL`).
///
/// Cost         that of the method inside, and O(K²) for each row.
/// Certificate  that of the method inside.
struct Decide {
  std::optional<AnySpec> base;
  std::variant<Losses, Matrix> losses = Losses::equal;
  std::optional<double> reject;

  static constexpr std::string_view name = "decide";
  static constexpr MethodAbout about{
      .family = "bayes",
      .task = Task::classification,
      .summary = "Bayes' rule with a loss matrix and a reject option, after any classifier with probabilities",
      .objective = "class = argmin over l of Σₖ p(k | x) L(k, l); withheld where that is above `reject`",
      .example = "lemma fit decide pima_train 'type ~ .' --base lda --reject 0.1",
      .takes_weights = true,
      .random = true};
  static constexpr auto params() {
    return Listing{
        param("base", &Decide::base, "the method whose probabilities are decided by (default: lda)"),
        param("losses", &Decide::losses,
              "what it costs to say the class of the column where that of the row is true; equal: 1 for every mistake",
              at_least(0)),
        param("reject", &Decide::reject, "what it costs to say nothing (default: something is always said)",
              at_least(0))};
  }
  /// The method inside, with all its parameters.
  AnySpec inside() const;
  Needs needs(Needs usual) const;
};
static_assert(Described<Decide>);

struct DecideModel : Evidence {
  Decide spec;
  AnyModel base;

  static constexpr auto fields() {
    return Listing{state("base", &DecideModel::base, "the method inside, fitted to the rows")};
  }
  static constexpr auto parts() {
    return Listing{part({"decided", "the class decided for; nothing where the row is withheld", Given::by_default,
                         PartColumns::itself, "decided", true},
                        &DecideModel::decided),
                   part({"expected_loss", "of the decision, or the price of withholding it", Given::asked},
                        &DecideModel::expected_loss)};
  }
  Index width() const { return base->width(); }
  Index class_count() const { return base->class_count(); }
  const Matrix* given_losses() const { return std::get_if<Matrix>(&spec.losses); }  // nullptr: equal ones
  Matrix losses() const { return given_losses() ? *given_losses() : zero_one_losses(class_count()); }
  bool gives(std::string_view part) const { return part != "decided" || spec.reject.has_value(); }
  void check() const;
  Matrix probabilities(const MatrixView& x) const;
  Labels predict(const MatrixView& x) const;  // the best class, withheld or not
  Labels decided(const MatrixView& x) const;  // −1: withheld
  Vector expected_loss(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

DecideModel fit(const Valid<Decide>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const DecideModel& model, const Rows& rows, const Execution& execution);

/// The rule after a model that is fitted already; of one that has a rule, another in its place. Error when it gives no probabilities.
AnyModel decided_by(const AnyModel& model, std::optional<Matrix> losses, std::optional<double> reject);

extern template const Method& method_of<Decide>();

}  // namespace lemma
