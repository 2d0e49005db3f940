// lemma/neural/cnn.hpp
#pragma once
#include <lemma/neural/shared/trained.hpp>

namespace lemma {

/// A convolutional network, of images given as columns: layers of filters that look at every place alike, pools, dense layers.
///
///     conv(f, h x w)   z(y, x, k) = b_k + Σ_i,j,c W(k; i, j, c) a(y + i, x + j, c),    k = 1 … f, then an activation
///     pool(h x w)      of each channel the largest (or the mean) of a window
///     dense(m)         z = W a + b of all numbers,    and a last dense layer for the response
///
///     minimise J = Σ w loss(z, y) + ½ λ Σ W²        losses, training and what is said of it are those of mlp
///
/// A row is an image pixel row by pixel row, the channels of a pixel side by side. A convolution is one product of matrices for each
/// image: its windows, one below the other, times the filters; their shapes are fixed by the layer (shared/network.hpp). Inside, each
/// channel has mean 0 and standard deviation 1 over all its pixels.
///
/// Cost         n images and M multiplications for one: O(n M) for an epoch; memory 2 n p for the images, 4 P for P weights and what
///              belongs to them, and for each piece of a batch that a thread is at (at most 32 images) its activations.
/// Certificate  that of mlp: all rows at once, stationary, by plain loops over the pixels in which no matrix is multiplied; by batches,
///              or stopped early, nothing is claimed.
struct Cnn {
  std::optional<std::string> layers, image;
  std::optional<neural::Loss> loss;
  double decay = 1;
  std::optional<neural::Solver> solver;
  double tolerance = 1e-5;
  int max_iterations = 20000;
  int epochs = 30;
  int batch = 32;
  std::optional<double> step;
  double fade = 0;
  double momentum = 0.9;
  double dropout = 0;
  double noise = 0;
  double validation = 0;
  int patience = 10;
  int restarts = 1;
  std::optional<neural::Init> init;
  bool standardize = true;
  bool gradcheck = false;
  std::vector<double> rates;
  std::optional<std::string> checkpoint;
  std::optional<neural::Precision> precision;

  static constexpr std::string_view name = "cnn";
  static constexpr MethodAbout about{
      .family = "neural",
      .task = Task::classification,
      .summary = "a convolutional network of images, for classes or numbers, one response or several",
      .objective = "minimise sum of w loss(z, y) + decay/2 |W|^2, z by layers: windows times filters, pools, dense",
      .example = "lemma fit cnn digits 'factor(digit) ~ .' --image 8x8 --epochs 5",
      .takes_weights = true,
      .takes_several = true,
      .takes_start = true,
      .either_response = true,
      .random = true};
  static constexpr auto params() {
    return joined(
        Listing{param("layers", &Cnn::layers,
                      "the hidden layers, such as 'conv(8, 3x3) relu pool(2x2) dense(64) relu'; auto: by the image"),
                param("image", &Cnn::image,
                      "height x width x channels of the image that the columns are; auto: a square of one channel, or "
                      "a single line"),
                param("loss", &Cnn::loss, "what is made small; auto: cross_entropy of classes, squared of numbers")},
        neural::settings_params<Cnn>(
            "channels, and responses of squared and absolute, of mean 0 and standard deviation 1 inside"));
  }
  void check() const;
};
static_assert(Described<Cnn>);

inline constexpr PartInfo kActivationsPart{"activations", "what each hidden layer gives, number by number",
                                           Given::asked, PartColumns::own};

struct CnnModel : neural::Trained {
  using Base = neural::Trained;
  Cnn spec;        // with what was chosen
  Matrix filters;  // of the first convolution

  static constexpr auto fields() {
    return joined(trained_fields(),
                  Listing{result("filters", &CnnModel::filters,
                                 "of the first convolution, a row for each: its window pixel row by pixel row, the "
                                 "channels of a pixel side by side")});
  }
  static constexpr auto parts() {
    return Listing{part(kValuesPart, &CnnModel::values), part(kActivationsPart, &CnnModel::activations)};
  }
  bool gives(std::string_view part) const { return part == kActivationsPart.name || Trained::gives(part); }

  neural::Plan plan() const;
  void check() const;

  NamedMatrix activations(const MatrixView& x, const PredictOptions& options) const;
  Matrix values(const MatrixView& x) const { return neural::values(*this, plan(), x); }
  Vector predict(const MatrixView& x) const { return neural::predict(*this, plan(), x); }
  Labels classify(const MatrixView& x) const { return neural::classify(*this, plan(), x); }
  Matrix probabilities(const MatrixView& x) const { return neural::probabilities(*this, plan(), x); }
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const {
    return neural::prediction(*this, plan(), x, options);
  }
  std::string summary(const Names& names) const;
};

/// The layer that the filters are of; its number counted from 0, −1 where there is none.
Index first_convolution(const neural::Network& net);

CnnModel fit(const Valid<Cnn>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const CnnModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Cnn>();

}  // namespace lemma
