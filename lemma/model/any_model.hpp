// lemma/model/any_model.hpp: a fitted model without its type: the same verbs for the command line, Python and the store.
#pragma once
#include <lemma/core/value.hpp>
#include <lemma/model/concepts.hpp>
#include <memory>
#include <optional>
#include <span>
#include <variant>

namespace lemma {

class AnyModel;
class Method;
struct FitOptions;

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
    /// The same of rows without their zeros, never made dense; nothing where it cannot do without.
    virtual std::optional<Prediction> predict_sparse(const Csr&, const PredictOptions&, const Execution&) const {
      return {};
    }
    virtual Matrix transform(const MatrixView& x) const = 0;  // Error when it is no transformer
    virtual Matrix inverse(const MatrixView& z) const = 0;    // Error when there is none
    virtual std::vector<std::string> output_names(const std::vector<std::string>& features) const = 0;
    virtual std::optional<AffineMap> affine() const = 0;
    virtual std::vector<NamedColumn> diagnostics(const Block& block) const = 0;  // empty when there are none
    virtual std::vector<PartInfo> parts() const = 0;  // of its predictions: what this model can be asked for
    /// Rows drawn from what it has learned; Error when it is no density.
    virtual DrawnRows draw(Index count, std::uint64_t seed) const;
    /// What a command of its family makes of it: something said of its training rows, or another model; Error when there is no
    /// such command.
    virtual std::variant<Prediction, AnyModel> act(std::string_view action, const Value& params) const;
    virtual Value results(const Names& names) const = 0;
    virtual std::string summary(const Names& names) const = 0;
    virtual Value save() const = 0;
    virtual Certificate verify(const Rows& rows, const Execution& execution) const = 0;
    virtual Index width() const = 0;         // columns it expects
    virtual Index class_count() const = 0;   // classes it tells apart; 0: it predicts none
    virtual Index output_width() const = 0;  // columns of transform(); 0: it gives no coordinates
    /// Of several responses: how many classes each has, 0 where it is a number. Empty: it was fitted to one.
    virtual std::vector<Index> response_classes() const { return {}; }
    /// Error unless its numbers fit together and can be used: what holds of every model that was fitted or loaded.
    virtual void check() const = 0;
    /// The model after these rows too, from what it knows of those before; Error where it does not keep that.
    virtual AnyModel update(const Rows& rows, const FitOptions& options) const;
  };

  AnyModel() = default;  // none yet: a field that is still to be read
  explicit AnyModel(std::shared_ptr<const Interface> model) : model_(std::move(model)) {}
  const Interface* operator->() const { return model_.get(); }

  /// predict with the width (and the number of offsets) checked first: the message names the method and both numbers. A part
  /// that the model does not give is an Error that says which ones it does.
  Prediction predict(const MatrixView& x, const PredictOptions& options = {}) const;

 private:
  std::shared_ptr<const Interface> model_;
};

}  // namespace lemma
