// lemma/model/method.hpp: a method without its types, made from a spec, its fit and its model by template.
//
// A spec joins the catalog when it has, besides its params():
//     static constexpr MethodAbout about    name, family, task, formula, example, what it takes
//     Model fit(const Valid<Spec>&, const Rows&, const FitOptions&)
//     Certificate certify(const Model&, const Rows&, const Execution&)
// and its model: `spec` (with the values that were chosen), fields(), summary(names), width(), check() and its verbs.
#pragma once
#include <lemma/core/param_info.hpp>
#include <lemma/data/needs.hpp>
#include <lemma/model/any_model.hpp>
#include <lemma/model/fields.hpp>
#include <lemma/model/options.hpp>
#include <span>

namespace lemma {

/// What a method is, in one place.
struct MethodAbout {
  std::string_view family;  // its room
  Task task;
  std::string_view summary;    // one line
  std::string_view objective;  // the formula, for help and the page
  std::string_view example;    // a command line that runs as printed
  bool scans = false;          // works by passes over the rows: any size, from disk, same bits
  bool keeps_rows = false;     // the method is its rows
  bool takes_weights = false, takes_precision = false, takes_offset = false;
  bool takes_missing = false;    // NaN in x is its business
  bool takes_codes = false;      // categories as they are: Needs::codes
  bool takes_sparse = false;     // works on Rows::sparse() without making the rows dense
  bool takes_counts = false;     // cbind(successes, failures) as the response: proportions
  bool takes_start = false;      // FitOptions::start: an affine map to begin with
  bool either_response = false;  // numbers or classes: the model's own task() follows the response
  bool uses_response = true;     // false: unsupervised
  int most_classes = 0;          // 0: any number
  bool random = false;           // the seed matters
  bool row_order_matters = false;
};

class Method {
 public:
  virtual ~Method() = default;
  virtual std::string name() const = 0;
  virtual const MethodAbout& about() const = 0;
  virtual std::vector<ParamInfo> params() const = 0;
  virtual std::vector<FieldInfo> results() const = 0;
  /// Whether its models give rows other coordinates, so that a step can follow it.
  virtual bool gives_coordinates() const = 0;
  /// The parameters completed with their defaults and checked; an Error names the one that is wrong.
  virtual Value check(const Value& params) const = 0;
  /// The parameters as they are when nothing is said of them.
  virtual Value defaults() const = 0;
  /// What it needs of a table, with these parameters.
  virtual Needs needs(const Value& params) const = 0;
  virtual AnyModel fit(const Value& params, const Rows& rows, const FitOptions& options) const = 0;
  virtual AnyModel load(const Value& params, const Value& state, Evidence evidence) const = 0;
};

/// Looks a method up by name; Error with the nearest name when there is none.
const Method& find_method(std::string_view name, std::span<const Method* const> methods);

/// The spec of a method, ready for the catalog.
template <class Spec>
concept MethodSpec = Described<Spec> && requires {
  { Spec::about } -> std::convertible_to<MethodAbout>;
  Spec::name;
};

/// Refuses data a method cannot use, before any work: no rows, a response where there must be one, weights it ignores.
void check_rows(std::string_view name, const MethodAbout& about, const Rows& rows);
/// The same whatever the number of rows: their columns and their outcome alone.
void check_kind_of_rows(std::string_view name, const MethodAbout& about, const Rows& rows);

template <MethodSpec Spec>
const Method& method_of();

namespace detail {
/// A response is offset + what the columns say of it: adds the offset of the rows to values of them, where there is one.
void add_offset(Vector& values, std::span<const double> offset);
/// A model that was just fitted: Error where it is none that could be kept, because numbers overflowed on the way.
AnyModel usable(std::shared_ptr<const AnyModel::Interface> fitted);
/// The spec's own fit, found by its argument types (a member of the same name would hide it).
template <class Spec>
auto fit_of(const Valid<Spec>& spec, const Rows& rows, const FitOptions& options) {
  return fit(spec, rows, options);
}
/// What follows from the description of a method alone.
Needs usual_needs(const MethodAbout& about);
/// A spec whose parameters decide what it needs says so by `Needs needs(Needs usual) const`.
template <class Spec>
Needs needs_of(const Spec& spec) {
  if constexpr (requires { spec.needs(Needs{}); }) return spec.needs(usual_needs(Spec::about));
  else return usual_needs(Spec::about);
}
}  // namespace detail

template <MethodSpec Spec, class Model>
class SpecModel final : public AnyModel::Interface {
 public:
  explicit SpecModel(Model model) : model_(std::move(model)) {}
  const Model& model() const { return model_; }

  const Method& method() const override { return method_of<Spec>(); }
  Task task() const override {
    if constexpr (HasTask<Model>) return model_.task();
    else return Spec::about.task;
  }
  Value params() const override { return to_value(model_.spec); }
  const Certificate& certificate() const override { return model_.certificate; }
  const std::vector<std::string>& warnings() const override { return model_.warnings; }
  Index width() const override { return model_.width(); }
  Index class_count() const override {
    static_assert(CountsClasses<Model> || !(Classifier<Model> || HasTask<Model>),
                  "how many classes does it tell apart?");
    if constexpr (CountsClasses<Model>) return model_.class_count();
    else return 0;
  }
  Index output_width() const override {
    if constexpr (Transformer<Model>) return model_.output_width();
    else if constexpr (HasCoordinates<Model>) return static_cast<Index>(model_.coordinate_names().size());
    else return 0;
  }
  void check() const override { model_.check(); }

  Prediction predict(const MatrixView& x, const PredictOptions& options) const override {
    Prediction out;
    [[maybe_unused]] const auto ask = [&](auto&& verb) {  // with the offset, where the verb takes one
      if constexpr (TakesOffset<Model>) return verb(x, options.offset);
      else return verb(x);
    };
    [[maybe_unused]] const auto predicted = [&](const auto& model) {
      return ask([&](const auto&... rows) { return model.predict(rows...); });
    };
    if constexpr (SaysAllAtOnce<Model>) {
      out = model_.prediction(x);
    } else if constexpr (HasTask<Model>) {
      if (model_.task() == Task::regression) out.value = predicted(model_);
      else out.label = ask([&](const auto&... rows) { return model_.classify(rows...); });
    } else if constexpr (Regressor<Model>) {
      out.value = predicted(model_);
    }
    if constexpr (Classifier<Model> && !SaysAllAtOnce<Model>) out.label = predicted(model_);
    if constexpr (Clusterer<Model>) out.label = model_.assign(x);
    if constexpr (HasProbabilities<Model> && !SaysAllAtOnce<Model>)
      if (task() == Task::classification)
        out.probabilities = ask([&](const auto&... rows) { return model_.probabilities(rows...); });
    if constexpr (HasMemberships<Model>) out.probabilities = model_.memberships(x);
    if constexpr (HasDecision<Model> && !SaysAllAtOnce<Model>)
      out.decision = ask([&](const auto&... rows) { return model_.decision(rows...); });
    if constexpr (HasCoordinates<Model>) {
      out.coordinates = model_.coordinates(x);
      out.coordinate_names = model_.coordinate_names();
    }
    if constexpr (Transformer<Model>) out.coordinates = model_.transform(x);
    if constexpr (DensityModel<Model>) out.log_density = model_.log_density(x);
    if (options.interval != IntervalKind::none) {
      if constexpr (HasInterval<Model>) {
        auto interval = ask([&](const MatrixView& rows, const auto&... offset) {
          return model_.interval(rows, options.interval, options.level, offset...);
        });
        out.lower = std::move(interval.lower);
        out.upper = std::move(interval.upper);
      } else {
        throw Error(std::string(Spec::name) + " has no intervals");
      }
    }
    if (options.deviations) {
      if constexpr (HasDeviations<Model>) out.deviations = model_.deviations(x);
      else throw Error(std::string(Spec::name) + " has no standard deviations of its predictions");
    }
    if (options.samples) {
      if constexpr (HasSamples<Model>) out.samples = model_.samples(x, *options.samples);
      else throw Error(std::string(Spec::name) + " draws no functions at random");
    }
    if constexpr (!TakesOffset<Model>)
      for (Vector* values : {&out.value, &out.lower, &out.upper}) detail::add_offset(*values, options.offset);
    return out;
  }
  Matrix transform(const MatrixView& x) const override {
    if constexpr (Transformer<Model>) return model_.transform(x);
    else if constexpr (HasCoordinates<Model>) return model_.coordinates(x);
    else throw Error(std::string(Spec::name) + " does not transform rows");
  }
  Matrix inverse(const MatrixView& z) const override {
    if constexpr (HasInverse<Model>) return model_.inverse(z);
    else throw Error(std::string(Spec::name) + " has no inverse");
  }
  std::vector<std::string> output_names(const std::vector<std::string>& features) const override {
    if constexpr (Transformer<Model>) return model_.output_names(features);
    else if constexpr (HasCoordinates<Model>) return model_.coordinate_names();
    else return {};
  }
  std::optional<AffineMap> affine() const override {
    if constexpr (HasAffineMap<Model>) return model_.affine();
    else return {};
  }
  std::vector<NamedColumn> diagnostics(const Block& block) const override {
    if constexpr (HasDiagnostics<Model>) return model_.diagnostics(block);
    else return {};
  }
  Value results(const Names&) const override { return write_fields(model_, true); }
  std::string summary(const Names& names) const override { return model_.summary(names); }
  Value save() const override { return write_fields(model_, false); }
  Certificate verify(const Rows& rows, const Execution& execution) const override {
    return certify(model_, rows, execution);
  }
  AnyModel update(const Rows& rows, const FitOptions& options) const override {
    if constexpr (requires { updated(model_, rows, options); }) {
      check_rows(Spec::name, Spec::about, rows);
      return detail::usable(std::make_shared<SpecModel<Spec, Model>>(updated(model_, rows, options)));
    } else {
      return AnyModel::Interface::update(rows, options);
    }
  }

 private:
  Model model_;
};

template <MethodSpec Spec>
class SpecMethod final : public Method {
 public:
  using Model = decltype(detail::fit_of(std::declval<const Valid<Spec>&>(), std::declval<const Rows&>(),
                                        std::declval<const FitOptions&>()));

  std::string name() const override { return std::string(Spec::name); }
  const MethodAbout& about() const override { return Spec::about; }
  std::vector<ParamInfo> params() const override { return param_infos<Spec>(); }
  std::vector<FieldInfo> results() const override { return field_infos<Model>(); }
  bool gives_coordinates() const override { return Transformer<Model> || HasCoordinates<Model>; }
  Value check(const Value& params) const override { return to_value(*Valid<Spec>(from_value<Spec>(params))); }
  Value defaults() const override { return to_value(Spec{}); }
  Needs needs(const Value& params) const override { return detail::needs_of(from_value<Spec>(params)); }
  AnyModel fit(const Value& params, const Rows& rows, const FitOptions& options) const override {
    const Valid<Spec> spec(from_value<Spec>(params));
    check_rows(Spec::name, Spec::about, rows);
    return detail::usable(std::make_shared<SpecModel<Spec, Model>>(detail::fit_of(spec, rows, options)));
  }
  AnyModel load(const Value& params, const Value& state, Evidence evidence) const override {
    Model model;
    model.spec = *Valid<Spec>(from_value<Spec>(params));
    static_cast<Evidence&>(model) = std::move(evidence);
    read_fields(model, state);
    model.check();
    return AnyModel(std::make_shared<SpecModel<Spec, Model>>(std::move(model)));
  }
};

template <MethodSpec Spec>
const Method& method_of() {
  static const SpecMethod<Spec> method;
  return method;
}

/// The typed model inside, or nullptr when it is another.
template <class Model>
const Model* model_cast(const AnyModel& any) {
  using Spec = std::remove_cvref_t<decltype(Model::spec)>;
  const auto* inner = dynamic_cast<const SpecModel<Spec, Model>*>(any.operator->());
  return inner ? &inner->model() : nullptr;
}

}  // namespace lemma
