// lemma/model/fit.hpp: fit(spec, …) for matrices and for tables: one call for every method.
#pragma once
#include <lemma/data/design.hpp>
#include <lemma/data/formula.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/data/table.hpp>
#include <lemma/model/train.hpp>

namespace lemma {

namespace detail {
std::span<const double> span_of(const Vector& v);
/// Memory rows with what comes beside them, which must outlive them.
MemoryRows rows_of(const MatrixView& x, const CallOptions& beside);
/// Labels as codes: classes in the order of their bytes.
struct Coded {
  Labels codes;
  std::vector<std::string> classes;
};
Coded code(const std::vector<std::string>& labels);
/// The options of the user with what the method needs; Error where the two, or the formula, do not go together.
DesignOptions design_options(const Needs& needs, const Formula& formula, DesignOptions options = {});
/// The column of that name; Error with the nearest one when there is none.
Index place_of(std::string_view name, const std::vector<std::string>& names);
/// Rows to train on, with what comes beside them, which must outlive it.
RowsUse training_use(const RowOptions& beside);
}  // namespace detail

/// Regression: fit(Ols{}, X, y, {.weights = w}). The type of y is deduced, so that braces after X are always options.
template <MethodSpec Spec, class Y>
requires std::convertible_to<const Y&, VectorView>
auto fit(const Spec& spec, const MatrixView& x, const Y& y, const CallOptions& options = {}) {
  const Valid<Spec> valid(spec);
  const Vector response = VectorView(y);
  auto rows = detail::rows_of(x, options);
  rows.response(detail::span_of(response));
  check_rows(Spec::name, Spec::about, rows);
  return fit(valid, static_cast<const Rows&>(rows), FitOptions(options));
}

/// Classification: fit(Lda{}, X, labels). Classes are ordered by their bytes.
template <MethodSpec Spec, class Label>
requires std::convertible_to<Label, std::string>
auto fit(const Spec& spec, const MatrixView& x, const std::vector<Label>& labels, const CallOptions& options = {}) {
  const Valid<Spec> valid(spec);
  const auto coded = detail::code(labels);
  auto rows = detail::rows_of(x, options);
  rows.labels(coded.codes, coded.classes);
  check_rows(Spec::name, Spec::about, rows);
  return fit(valid, static_cast<const Rows&>(rows), FitOptions(options));
}

/// Unsupervised: fit(KMeans{.k = 3}, X).
template <MethodSpec Spec>
auto fit(const Spec& spec, const MatrixView& x, const CallOptions& options = {}) {
  const Valid<Spec> valid(spec);
  const auto rows = detail::rows_of(x, options);
  check_rows(Spec::name, Spec::about, rows);
  return fit(valid, static_cast<const Rows&>(rows), FitOptions(options));
}

/// A model together with all it needs to meet a raw table again: its verbs take tables as well as matrices. It is a
/// TrainedModel too, wherever one is wanted: save(fitted, "crabs.lemma"), judge(fitted, test).
template <class Model>
struct Fitted : Model {
  TrainedModel trained;  // the same model without its type, with the memory of its rows
  Design design;

  explicit Fitted(TrainedModel from)
      : Model(*model_cast<Model>(from.model)), trained(std::move(from)), design(trained.design) {}
  operator const TrainedModel&() const { return trained; }

  /// What `lemma fit` prints of it.
  using Model::summary;
  std::string summary() const { return Model::summary(trained.names()); }
  /// The coefficient of a column by its name; of several planes, or of a path of penalties, that in row `which`.
  double coefficient(std::string_view feature, Index which = 0) const requires requires(const Model& m) {
    m.coefficients;
  }
  {
    const Index j = detail::place_of(feature, design.features());
    if constexpr (requires { this->coefficients.of; }) return this->coefficients.of(which, j);
    else if constexpr (decltype(this->coefficients)::ColsAtCompileTime == 1) return this->coefficients(j);
    else return this->coefficients(which, j);
  }

  auto predict(const Table& table) const {
    const DesignData data = design.apply(table);
    if constexpr (TakesOffset<Model>) {
      return Model::predict(data.x, std::span<const double>(data.offset));
    } else {
      auto out = Model::predict(data.x);
      if constexpr (Regressor<Model>) detail::add_offset(out, data.offset);
      return out;
    }
  }
  auto predict(const MatrixView& x) const { return Model::predict(x); }
  /// The classes, as codes into design.classes().
  Labels classify(const Table& table) const {
    const DesignData data = design.apply(table);
    if constexpr (HasTask<Model> && TakesOffset<Model>)
      return Model::classify(data.x, std::span<const double>(data.offset));
    else return classify(data.x);
  }
  Labels classify(const MatrixView& x) const {
    if constexpr (HasTask<Model>) return Model::classify(x);
    else return Model::predict(x);
  }
  auto probabilities(const Table& table) const {
    const DesignData data = design.apply(table);
    if constexpr (TakesOffset<Model>) return Model::probabilities(data.x, std::span<const double>(data.offset));
    else return Model::probabilities(data.x);
  }
  auto probabilities(const MatrixView& x) const { return Model::probabilities(x); }
  auto decision(const Table& table) const {
    const DesignData data = design.apply(table);
    if constexpr (TakesOffset<Model>) return Model::decision(data.x, std::span<const double>(data.offset));
    else return Model::decision(data.x);
  }
  auto decision(const MatrixView& x) const { return Model::decision(x); }
  auto coordinates(const auto& rows) const { return Model::coordinates(x_of(rows)); }
  auto assign(const auto& rows) const { return Model::assign(x_of(rows)); }
  auto memberships(const auto& rows) const { return Model::memberships(x_of(rows)); }
  auto transform(const auto& rows) const { return Model::transform(x_of(rows)); }

 private:
  Matrix x_of(const Table& table) const { return design.apply(table).x; }
  static const MatrixView& x_of(const MatrixView& x) { return x; }
};

/// By formula: fit(Lda{}, formula("sp:sex ~ log(FL) + log(RW)"), crabs), the way that the tool goes too. The design is learned
/// from the table and kept.
template <MethodSpec Spec>
auto fit(const Spec& spec, const Formula& formula, const Table& table, const CallOptions& options = {}) {
  TrainOptions how;
  how.rows = options.rows();
  how.fit = options;
  return Fitted<typename SpecMethod<Spec>::Model>(train({std::shared_ptr<const Method>(), &method_of<Spec>()},
                                                        to_value(*Valid<Spec>(spec)), formula, MemoryTableStream(table),
                                                        how));
}

}  // namespace lemma
