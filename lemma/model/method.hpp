// lemma/model/method.hpp: a method without its types, made from a spec, its fit and its model by template.
//
// A spec joins the catalog when it has, besides its params():
//     static constexpr MethodAbout about    name, family, task, formula, example, what it takes
//     Model fit(const Valid<Spec>&, const Rows&, const FitOptions&)
//     Certificate certify(const Model&, const Rows&, const Execution&)   of rows that fit the model; asked through verify()
// and its model: `spec` (with the values that were chosen), fields(), summary(names), width(), check() and its verbs.
#pragma once
#include <lemma/core/param_info.hpp>
#include <lemma/data/needs.hpp>
#include <lemma/model/action.hpp>
#include <lemma/model/any_model.hpp>
#include <lemma/model/fields.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <lemma/model/options.hpp>
#include <lemma/model/sparse_planes.hpp>
#include <optional>
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
  bool takes_clusters = false;   // rows whose errors may depend on each other
  bool takes_missing = false;    // NaN in x is its business
  bool takes_codes = false;      // categories as they are: Needs::codes
  bool takes_sparse = false;     // works on Rows::sparse() without making the rows dense
  bool takes_counts = false;     // cbind(successes, failures) as the response: proportions
  bool takes_several = false;    // cbind(y1, y2): Rows::responses
  bool takes_start = false;      // FitOptions::start: an affine map to begin with
  bool either_response = false;  // numbers or classes: the model's own task() follows the response
  bool uses_response = true;     // false: unsupervised
  int most_classes = 0;          // 0: any number
  bool random = false;           // the seed matters
  bool row_order_matters = false;
};

/// What a model after `update` is: the fit to all rows, or near to it, where what was kept of the old rows does not tell all.
enum class UpdateKind { none, near, exact };
constexpr auto names_of(UpdateKind) { return std::array<std::string_view, 3>{"none", "near", "exact"}; }

class Method {
 public:
  virtual ~Method() = default;
  virtual std::string name() const = 0;
  virtual const MethodAbout& about() const = 0;
  virtual std::vector<ParamInfo> params() const = 0;
  virtual std::vector<FieldInfo> results() const = 0;
  /// The parts that predictions of its models may have.
  virtual std::vector<PartInfo> parts() const = 0;
  /// The commands that its models have of their own: `lemma cut MODEL`.
  virtual std::vector<ActionInfo> actions() const { return {}; }
  /// Whether its models draw rows: `lemma sample`.
  virtual bool draws_rows() const = 0;
  /// What to ask of the fit to get a part that its models give under some parameters only: "--probability true".
  virtual std::string_view way_to(std::string_view part) const = 0;
  /// Whether its models give rows other coordinates, so that a step can follow it.
  virtual bool gives_coordinates() const = 0;
  /// Whether its models can take new rows in without the old ones.
  virtual UpdateKind updates() const = 0;
  /// Whether the certificate of an updated model is about all its rows together, those before the update too.
  virtual bool verifies_together() const = 0;
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

/// Error unless the rows are such as the model can have been fitted on: its kind of response, its columns, its classes.
void check_rows_of(std::string_view name, const MethodAbout& about, Index width, std::optional<Index> classes,
                   const Rows& rows);

/// A second look at a model: its certificate computed again, from the model and the rows alone. This is the door to the
/// methods' own certify(), which take for granted what is checked here.
template <class Model>
Certificate verify(const Model& model, const Rows& rows, const Execution& execution = {}) {
  using Spec = std::remove_cvref_t<decltype(model.spec)>;
  std::optional<Index> classes;
  if constexpr (CountsClasses<Model>) classes = model.class_count();
  check_rows_of(Spec::name, Spec::about, model.width(), classes, rows);
  model.check();
  return certify(model, rows, execution);
}

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
/// A part that a model may have.
struct MayOffer {
  bool offered;
  PartInfo part;
};
std::vector<PartInfo> offered_parts(std::span<const MayOffer> all);
/// What its models can say of rows, in the order in which it is written.
template <class Model>
std::vector<PartInfo> parts_of() {
  static constexpr auto own = [] {
    if constexpr (HasParts<Model>) return Model::parts();
    else return Listing<>{};
  }();
  static constexpr auto all = own.apply([](const auto&... each) {
    return std::array{MayOffer{Regressor<Model>, kValuePart},
                      MayOffer{HasInterval<Model>, kIntervalPart},
                      MayOffer{HasDeviations<Model>, kDeviationsPart},
                      MayOffer{HasSamples<Model>, kSamplesPart},
                      MayOffer{Classifier<Model> || HasTask<Model>, kClassPart},
                      MayOffer{Clusterer<Model>, kClusterPart},
                      MayOffer{HasProbabilities<Model>, kProbabilitiesPart},
                      MayOffer{HasMemberships<Model>, kMembershipsPart},
                      MayOffer{HasDecision<Model>, kDecisionPart},
                      MayOffer{Transformer<Model>, kTransformedPart},
                      MayOffer{!Transformer<Model> && HasCoordinates<Model>, kCoordinatesPart},
                      MayOffer{DensityModel<Model>, kLogDensityPart},
                      MayOffer{true, each.info}...};
  });
  return offered_parts(all);
}
/// Those of them that a model of this task has, with or without probabilities.
std::vector<PartInfo> parts_for(std::vector<PartInfo> all, Task task, bool has_probabilities);
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
  static_assert(AllFields<Model>, "a member of the model is missing from its fields()");
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
  std::vector<Index> response_classes() const override {
    if constexpr (requires { model_.response_classes(); }) return model_.response_classes();
    else static_assert(!Spec::about.takes_several, "how many classes does each response have?");
    return {};
  }
  void check() const override { model_.check(); }

  Prediction predict(const MatrixView& x, const PredictOptions& options) const override {
    Prediction out;
    if constexpr (SaysAllAtOnce<Model>) {
      out = model_.prediction(x, options);
      std::erase_if(out.parts(), [&](const PredictedPart& each) { return !options.asks(each.info); });
      say_spread(x, options, out);
    } else {
      say_value(x, options, out);
      say_spread(x, options, out);
      say_classes(x, options, out);
    }
    if constexpr (HasMemberships<Model>)
      if (options.asks(kMembershipsPart)) out.add(kMembershipsPart, model_.memberships(x));
    if constexpr (Transformer<Model>) {
      if (options.asks(kTransformedPart)) out.add(kTransformedPart, model_.transform(x));
    } else if constexpr (HasCoordinates<Model> && !SaysAllAtOnce<Model>) {
      if (options.asks(kCoordinatesPart)) out.add(kCoordinatesPart, model_.coordinates(x), model_.coordinate_names());
    }
    if constexpr (DensityModel<Model>)
      if (options.asks(kLogDensityPart)) out.add(kLogDensityPart, model_.log_density(x));
    if constexpr (HasParts<Model>) Model::parts().for_each([&](const auto& each) { say(each, x, options, out); });
    return out;
  }
  std::optional<Prediction> predict_sparse(const Csr& x, const PredictOptions& options,
                                           const Execution& execution) const override {
    if constexpr (SaysByPlanes<Model>) {
      if (!asks_for_planes_alone(options, HasParts<Model>)) return {};
      const Matrix planes = sparse_planes(model_.affine(), x, Model::kPlaneSum, execution);
      Prediction out;
      if (task() == Task::regression && options.asks(kValuePart)) {
        if constexpr (requires { Model::value_of(planes); }) out.add(kValuePart, Model::value_of(planes));
        else out.add(kValuePart, Vector(planes.col(0)));
      }
      if (task() == Task::classification && options.asks(kClassPart)) out.add(kClassPart, greatest_class(planes));
      if constexpr (HasProbabilities<Model>)
        if (task() == Task::classification && options.asks(kProbabilitiesPart))
          out.add(kProbabilitiesPart, Model::probabilities_of(planes));
      if constexpr (HasDecision<Model>)
        if (options.asks(kDecisionPart)) out.add(kDecisionPart, planes);
      return out;
    }
    return {};
  }
  std::vector<PartInfo> parts() const override {
    bool has_probabilities = true;
    if constexpr (requires { model_.has_probabilities(); }) has_probabilities = model_.has_probabilities();
    auto all = detail::parts_for(detail::parts_of<Model>(), task(), has_probabilities);
    std::erase_if(all, [&](const PartInfo& each) { return !gives(each); });
    return all;
  }
  std::variant<Prediction, AnyModel> act(std::string_view name, const Value& params) const override {
    std::optional<std::variant<Prediction, AnyModel>> out;
    [[maybe_unused]] const auto attempt =
        [&]<class Result, class Options>(const ModelAction<Model, Result, Options>& each) {
          if (each.name != name) return;
          auto made = (model_.*each.verb)(Valid<Options>(from_value<Options>(params)));
          if constexpr (std::is_same_v<Result, Prediction>) out = std::move(made);
          else out = detail::usable(std::make_shared<SpecModel<Spec, Model>>(std::move(made)));
        };
    if constexpr (HasActions<Model>) Model::actions().for_each(attempt);
    return out ? *std::move(out) : AnyModel::Interface::act(name, params);
  }
  DrawnRows draw(Index count, std::uint64_t seed) const override {
    if constexpr (DrawsRows<Model>) return model_.draw(count, seed);
    else return AnyModel::Interface::draw(count, seed);
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
    return lemma::verify(model_, rows, execution);
  }
  AnyModel update(const Rows& rows, const FitOptions& options) const override {
    static_assert(
        requires { Model::kUpdates; } == requires { updated(model_, rows, options); },
        "what is a model after its update?");
    if constexpr (requires { updated(model_, rows, options); }) {
      check_rows(Spec::name, Spec::about, rows);
      return detail::usable(std::make_shared<SpecModel<Spec, Model>>(updated(model_, rows, options)));
    } else {
      return AnyModel::Interface::update(rows, options);
    }
  }

 private:
  /// Whether this model has what a part needs: where that depends on how it was fitted, `bool gives(name) const` says so.
  bool gives([[maybe_unused]] const PartInfo& part) const {
    if constexpr (requires { model_.gives(part.name); }) return model_.gives(part.name);
    else return true;
  }
  /// A verb with the offset, where it takes one.
  auto with_offset(const MatrixView& x, const PredictOptions& options, auto&& verb) const {
    if constexpr (TakesOffset<Model>) return verb(x, options.offset);
    else return verb(x);
  }
  Vector shifted(Vector values, const PredictOptions& options) const {
    if constexpr (!TakesOffset<Model>) detail::add_offset(values, options.offset);
    return values;
  }
  void say_value(const MatrixView& x, const PredictOptions& options, Prediction& out) const {
    if constexpr (Regressor<Model>)
      if (task() == Task::regression && options.asks(kValuePart))
        out.add(kValuePart,
                shifted(with_offset(x, options, [&](const auto&... a) { return model_.predict(a...); }), options));
  }
  /// Intervals, deviations and samples: each has an option of its own.
  void say_spread(const MatrixView& x, const PredictOptions& options, Prediction& out) const {
    if (options.interval != IntervalKind::none) {
      if constexpr (HasInterval<Model>) {
        const auto found = with_offset(x, options, [&](const MatrixView& rows, const auto&... offset) {
          return model_.interval(rows, options.interval, options.level, offset...);
        });
        Matrix both(x.rows(), 2);
        both << shifted(found.lower, options), shifted(found.upper, options);
        out.add(kIntervalPart, std::move(both), {"lower", "upper"});
      } else {
        throw Error(std::string(Spec::name) + " has no intervals");
      }
    }
    if (options.deviations) {
      if constexpr (HasDeviations<Model>) out.add(kDeviationsPart, model_.deviations(x), {"sd", "sd_observation"});
      else throw Error(std::string(Spec::name) + " has no standard deviations of its predictions");
    }
    if (options.samples) {
      if constexpr (HasSamples<Model>) out.add(kSamplesPart, model_.samples(x, *options.samples));
      else throw Error(std::string(Spec::name) + " draws no functions at random");
    }
  }
  void say_classes(const MatrixView& x, const PredictOptions& options, Prediction& out) const {
    [[maybe_unused]] const bool classes = task() == Task::classification;
    if constexpr (HasTask<Model>) {
      if (classes && options.asks(kClassPart))
        out.add(kClassPart, with_offset(x, options, [&](const auto&... a) { return model_.classify(a...); }));
    } else if constexpr (Classifier<Model>) {
      if (options.asks(kClassPart))
        out.add(kClassPart, with_offset(x, options, [&](const auto&... a) { return model_.predict(a...); }));
    }
    if constexpr (Clusterer<Model>)
      if (options.asks(kClusterPart)) out.add(kClusterPart, model_.assign(x));
    if constexpr (HasProbabilities<Model>)
      if (classes && options.asks(kProbabilitiesPart))
        out.add(kProbabilitiesPart,
                with_offset(x, options, [&](const auto&... a) { return model_.probabilities(a...); }));
    if constexpr (HasDecision<Model>)
      if (options.asks(kDecisionPart))
        out.add(kDecisionPart, with_offset(x, options, [&](const auto&... a) { return model_.decision(a...); }));
  }
  void say(const auto& part, const MatrixView& x, const PredictOptions& options, Prediction& out) const {
    if (!options.asks(part.info) || !gives(part.info)) return;
    auto said = [&] {
      if constexpr (requires { (model_.*part.verb)(x, options); }) return (model_.*part.verb)(x, options);
      else return (model_.*part.verb)(x);
    }();
    if constexpr (std::is_same_v<decltype(said), NamedMatrix>)
      out.add(part.info, std::move(said.values), std::move(said.columns));
    else out.add(part.info, std::move(said));
  }

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
  std::vector<PartInfo> parts() const override { return detail::parts_of<Model>(); }
  std::vector<ActionInfo> actions() const override {
    std::vector<ActionInfo> out;
    if constexpr (HasActions<Model>) Model::actions().for_each([&](const auto& each) { out.push_back(each.info()); });
    return out;
  }
  bool draws_rows() const override { return DrawsRows<Model>; }
  std::string_view way_to(std::string_view part) const override {
    if constexpr (requires { Spec::way_to(part); }) return Spec::way_to(part);
    else return {};
  }
  bool gives_coordinates() const override { return Transformer<Model> || HasCoordinates<Model>; }
  bool verifies_together() const override {
    if constexpr (requires { Model::kVerifiesTogether; }) return Model::kVerifiesTogether;
    else return updates() == UpdateKind::exact;
  }
  UpdateKind updates() const override {
    if constexpr (requires { Model::kUpdates; }) return Model::kUpdates;
    else return UpdateKind::none;
  }
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
