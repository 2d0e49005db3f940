// lemma/model/any_model.hpp: a fitted model without its type: the same verbs for the command line, Python and the store.
#pragma once
#include <lemma/core/value.hpp>
#include <lemma/model/concepts.hpp>
#include <memory>
#include <optional>
#include <span>

namespace lemma {

class AnyModel;
class Method;
struct FitOptions;

struct PredictOptions {
  IntervalKind interval = IntervalKind::none;
  double level = 0.95;
  bool deviations = false;               // standard deviations too
  std::optional<SampleOptions> samples;  // functions drawn at random too
  std::span<const double> offset;        // known part of each row's linear predictor; empty: none
};

/// Whatever a model says of new rows; what it does not offer is empty.
struct Prediction {
  Vector value;                               // regression
  Vector lower, upper;                        // when an interval was asked for
  Matrix deviations;                          // when asked for: of the value, and of an observation
  Matrix samples;                             // when asked for: a column for each function drawn
  Labels label;                               // class or cluster
  Matrix probabilities;                       // one column per class or cluster
  Matrix decision;                            // linear predictor or discriminant functions
  Matrix coordinates;                         // transformed rows, or discriminant coordinates
  std::vector<std::string> coordinate_names;  // one per column of coordinates
  Vector log_density;
};

/// A model whose verbs share most of their work says all it has to say of rows at once.
template <class M>
concept SaysAllAtOnce = requires(const M& m, const MatrixView& x) {
  { m.prediction(x) } -> std::same_as<Prediction>;
};

/// What was said of some rows and then of others, as if of all at once.
Prediction stack(const std::vector<Prediction>& parts);

class AnyModel {
 public:
  /// What stands behind an AnyModel. SpecModel<…> (method.hpp) and PipelineModel implement it.
  class Interface {
   public:
    virtual ~Interface() = default;
    virtual const Method& method() const = 0;
    virtual Task task() const = 0;  // its method's, or what the response made of it
    virtual Value params() const = 0;
    virtual const Certificate& certificate() const = 0;
    virtual const std::vector<std::string>& warnings() const = 0;
    virtual Prediction predict(const MatrixView& x, const PredictOptions& options) const = 0;
    virtual Matrix transform(const MatrixView& x) const = 0;  // Error when it is no transformer
    virtual Matrix inverse(const MatrixView& z) const = 0;    // Error when there is none
    virtual std::vector<std::string> output_names(const std::vector<std::string>& features) const = 0;
    virtual std::optional<AffineMap> affine() const = 0;
    virtual std::vector<NamedColumn> diagnostics(const Block& block) const = 0;  // empty when there are none
    virtual Value results(const Names& names) const = 0;
    virtual std::string summary(const Names& names) const = 0;
    virtual Value save() const = 0;
    virtual Certificate verify(const Rows& rows, const Execution& execution) const = 0;
    virtual Index width() const = 0;         // columns it expects
    virtual Index class_count() const = 0;   // classes it tells apart; 0: it predicts none
    virtual Index output_width() const = 0;  // columns of transform(); 0: it gives no coordinates
    /// Error unless its numbers fit together and can be used: what holds of every model that was fitted or loaded.
    virtual void check() const = 0;
    /// The model after these rows too, from what it knows of those before; Error where it does not keep that.
    virtual AnyModel update(const Rows& rows, const FitOptions& options) const;
  };

  AnyModel() = default;  // none yet: a field that is still to be read
  explicit AnyModel(std::shared_ptr<const Interface> model) : model_(std::move(model)) {}
  const Interface* operator->() const { return model_.get(); }

  /// predict with the width (and the number of offsets) checked first: the message names the method and both numbers.
  Prediction predict(const MatrixView& x, const PredictOptions& options = {}) const;

 private:
  std::shared_ptr<const Interface> model_;
};

}  // namespace lemma
