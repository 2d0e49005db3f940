// lemma/neural/shared/trained.hpp: a network that was trained, whatever its layers: what the methods of the room share.
#pragma once
#include <functional>
#include <lemma/model/method.hpp>
#include <lemma/neural/shared/settings.hpp>
#include <string>

namespace lemma::neural {

/// A network and how it is trained, for the method of that name.
struct Plan {
  std::string_view method;
  Network net;
  Settings settings;
  Index channels = 0;  // of images: columns j, j + channels, … are scaled alike; 0: each column by itself
  Index scaled_with(Index column) const { return channels > 0 ? column % channels : column; }
};

struct Trained : Evidence {
  double objective = 0, loss = 0;
  Vector training_loss, validation_loss;
  std::int64_t best_epoch = 0;
  Vector restart_losses;
  Vector gradient_sizes;
  Vector gradient_errors;
  Vector weights, mean, scale, response_mean, response_scale;
  std::int64_t classes = 0;  // 0: numbers
  std::int64_t seed = 1;

  static constexpr auto trained_fields() {
    using M = Trained;
    return Listing{
        result("objective", &M::objective, "sum of the losses of the rows learned from, and the penalty"),
        result("loss", &M::loss,
               "mean loss of the rows learned from; of numbers in the units in which they were learned"),
        result("training_loss", &M::training_loss,
               "mean loss after each iteration; by batches of each epoch, each batch as it was met"),
        result("validation_loss", &M::validation_loss, "mean loss of the rows held out after each; none without"),
        result("best_epoch", &M::best_epoch, "epoch or iteration whose weights are kept; 0: those of the start"),
        result("restart_losses", &M::restart_losses,
               "where each start ended: mean loss of the rows held out, or without these the objective"),
        result("gradient_sizes", &M::gradient_sizes,
               "root mean square of the derivatives of the losses by the weights of each layer, at the start"),
        result("gradient_errors", &M::gradient_errors,
               "gradcheck: of each start the largest error of a derivative, relative to the largest; else empty"),
        state("weights", &M::weights, "of each layer W row by row, a row for each unit, then b"),
        state("mean", &M::mean, "of each column"),
        state("scale", &M::scale, "of each column"),
        state("response_mean", &M::response_mean, "of each response of numbers, as it was learned"),
        state("response_scale", &M::response_scale, "of each response of numbers, as it was learned"),
        state("classes", &M::classes, "how many classes; 0 of numbers"),
        state("seed", &M::seed, "by which the weights of the start were drawn")};
  }

  Index width() const { return mean.size(); }
  Index class_count() const { return classes; }
  Index outputs() const { return classes > 0 ? classes : response_mean.size(); }
  bool several() const { return classes == 0 && outputs() > 1; }
  std::vector<Index> response_classes() const {
    return several() ? std::vector<Index>(at(outputs()), 0) : std::vector<Index>{};
  }
  Task task() const { return classes > 0 ? Task::classification : Task::regression; }
  bool gives(std::string_view part) const { return several() == (part == kValuesPart.name); }
  /// The columns as the network takes them.
  Matrix scaled(const MatrixView& x) const;
};

/// What a trained network says of rows, its network in `plan`.
Matrix last_sums(const Trained& model, const Plan& plan, const MatrixView& x);  // z
Matrix values(const Trained& model, const Plan& plan, const MatrixView& x);     // a column for each response of numbers
Vector predict(const Trained& model, const Plan& plan, const MatrixView& x);
Labels classify(const Trained& model, const Plan& plan, const MatrixView& x);
Matrix probabilities(const Trained& model, const Plan& plan, const MatrixView& x);
Prediction prediction(const Trained& model, const Plan& plan, const MatrixView& x, const PredictOptions& options);
/// `layers`: what the network is made of; `names`: of its layers with weights.
std::string summary(const Trained& model, const Plan& plan, const std::string& layers,
                    const std::vector<std::string>& names, bool was_updated);

/// The loss, chosen by the response where it is left open; Error where it is none of the response's.
Loss chosen_loss(std::string_view method, std::optional<Loss> loss, const Rows& rows);
Index outputs_of(const Rows& rows);
/// Error unless so many weights can be trained.
void require_weights(std::string_view method, double count);
/// Error where settings do not go together.
void check_settings(std::string_view method, const Settings& settings, std::optional<Loss> loss);

/// All that is made of rows but the certificate; what was open is chosen in the plan. Gives back how its course ended.
/// `with_curvature`: the curvature of the objective in each weight is told there.
Course train(Trained& model, Plan& plan, const Rows& rows, const FitOptions& options, Vector* with_curvature = nullptr);
/// The certificate of a network that has just been trained.
void certify_now(Trained& model, const Plan& plan, const Course& course, const std::function<Certificate()>& certify);
/// Ties the sizes of the fields together; `updated`: it was, and its starts and rows held out are those of the fit no more.
void check(const Trained& model, const Plan& plan, bool was_updated);

/// What an update remembers, and what it found of the curvature; none of other networks.
struct Memory {
  const Vector *past = nullptr, *past_curvature = nullptr, *curvature = nullptr;
  bool updated() const { return past && past->size() > 0; }
};
Certificate certify(const Trained& model, const Plan& plan, const Memory& memory, const Rows& rows,
                    const Execution& execution);

// ---- Inner parts ----

/// The rows as they are learned: scaled, in an order of their own, equal ones as one.
struct Prepared {
  Examples train, held_out;
  Vector mean, scale, response_mean, response_scale;
  std::vector<std::string> constant;  // columns, or channels, that are
};
Prepared prepare(const Plan& plan, const Rows& rows, std::int64_t seed, const Execution& execution);
/// Rows of an update, in the scales of the model.
Examples prepare_more(const Trained& model, const Plan& plan, const Rows& rows, const Execution& execution);
TrainingOptions options_of(const Settings& settings);

/// A number of a row's response: of several the k-th.
inline double response(const Block& block, Index i, Index k) {
  return block.responses.empty() ? block.y[at(i)] : block.several()(i, k);
}
/// Of what the row says, whatever its place and weight.
std::uint64_t key_of_row(const Block& block, Index i);
/// Whether the row is one of those held out.
bool is_held_out(std::uint64_t key, double share, std::int64_t seed);
/// The weights that a start begins with, and its other chances.
RandomStream stream_of(std::int64_t seed, Index restart);
Vector start_of(const Plan& plan, std::int64_t seed, Index restart);
/// The start whose end was kept.
Index best_of(const Vector& restart_losses);
/// Nothing is claimed of a network so trained, and why; empty: something is.
std::string why_nothing(const Settings& settings);
Vector vector_of(const std::vector<double>& v);

}  // namespace lemma::neural
