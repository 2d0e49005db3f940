// lemma/neural/cnn/layers.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/shared/arguments.hpp>
#include <lemma/neural/cnn/layers.hpp>

namespace lemma::cnn {
namespace {

using neural::Activation;
using neural::Layer;
using neural::Shape;

constexpr double kMostUnits = 1e6, kMostSide = 1e5;
constexpr std::size_t kMostLayers = 1000;
constexpr Index kMostNumbers = 100'000'000;  // that an image or a layer has

[[noreturn]] void fail_at(ArgumentReader& reader, std::size_t place, const std::string& what) {
  reader.guarded(place, [&] { throw Error(what); });
  throw Error(what);
}

Index whole(ArgumentReader& reader, std::string_view what, double least, double most) {
  reader.at_end();  // over the blanks
  const std::size_t place = reader.place();
  const double number = reader.number();
  if (!(number >= least && number <= most) || number != std::floor(number))
    fail_at(reader, place, fmt::format("{} is a whole number from {} to {}", what, least, most));
  return static_cast<Index>(number);
}

struct Size {
  Index height, width;
};
Size size(ArgumentReader& reader, std::string_view what, double least = 1) {
  const Index height = whole(reader, what, least, kMostSide);
  return {height, reader.take('x') ? whole(reader, what, least, kMostSide) : height};
}

void open(ArgumentReader& reader, const std::string& of) {
  if (!reader.take('(')) reader.fail(fmt::format("expected '(' after {}", of));
}
void close(ArgumentReader& reader) {
  if (!reader.take(')')) reader.fail("expected ',' or ')'");
}

/// The options of a layer, and from them where its windows lie.
void windows(ArgumentReader& reader, Layer& layer, const std::optional<Shape>& image, const std::string& of) {
  reader.at_end();
  const std::size_t place = reader.place();
  const Size window = size(reader, "the side of a window");
  Size stride = layer.pools() ? window : Size{1, 1}, above{0, 0}, below{0, 0};
  while (reader.take(',')) {
    reader.at_end();
    const std::size_t at = reader.place();
    const std::string option = reader.word();
    if (layer.pools() && (option == "max" || option == "mean")) {
      layer.kind = option == "max" ? Layer::Kind::max_pool : Layer::Kind::mean_pool;
      continue;
    }
    const std::vector<std::string> known = layer.pools() ? std::vector<std::string>{"max", "mean", "stride", "pad"}
                                                         : std::vector<std::string>{"stride", "pad"};
    if (option != "stride" && option != "pad")
      fail_at(reader, at, fmt::format("{} takes {} here{}", of, join_words(known), did_you_mean(option, known)));
    if (!reader.take('=')) reader.fail(fmt::format("expected '=' after {}", option));
    if (option == "stride") {
      stride = size(reader, "a stride");
      continue;
    }
    reader.at_end();
    const std::size_t value = reader.place();
    if (const std::string word = reader.word(); word == "same") {
      above = {(window.height - 1) / 2, (window.width - 1) / 2};
      below = {window.height / 2, window.width / 2};
    } else if (!word.empty()) {
      fail_at(reader, value, "pad is a size, such as 1 or 1x2, or same");
    } else {
      above = below = size(reader, "a padding", 0);
      if (above.height >= window.height || above.width >= window.width)
        fail_at(reader, value, "a padding is smaller than the window, else windows would hold nothing of the image");
    }
  }
  close(reader);
  layer.height = window.height, layer.width = window.width;
  layer.down = stride.height, layer.right = stride.width;
  layer.above = above.height, layer.left = above.width;
  if (!image) return;
  layer.in = *image;
  const Index high = image->height + above.height + below.height, wide = image->width + above.width + below.width;
  if (high < window.height || wide < window.width)
    fail_at(reader, place,
            fmt::format("a window of {} x {} is larger than the image of {} x {} that comes here{}", window.height,
                        window.width, image->height, image->width,
                        above.height + above.width > 0 ? ", with its padding" : ""));
  layer.out.height = (high - window.height) / layer.down + 1;
  layer.out.width = (wide - window.width) / layer.right + 1;
  if (layer.pools()) layer.out.channels = image->channels;
  if (layer.out.height * layer.out.width > kMostNumbers / layer.out.channels)
    fail_at(reader, place, fmt::format("a layer gives at most {} numbers", format_count(kMostNumbers)));
}

std::vector<std::string> words() {
  std::vector<std::string> out{"conv", "pool", "dense"};
  for (const auto name : names_of(Activation{})) out.emplace_back(name);
  return out;
}

void activate(ArgumentReader& reader, std::vector<Layer>& layers, bool& activated, Activation activation,
              std::size_t place) {
  if (layers.empty()) fail_at(reader, place, "an activation comes after a layer");
  if (activated) fail_at(reader, place, "this layer has an activation already");
  if (activation == Activation::softmax && layers.back().kind != Layer::Kind::dense)
    fail_at(reader, place, "softmax is for dense layers: of an image it would make shares of all pixels together");
  layers.back().activation = activation;
  activated = true;
}

std::vector<Layer> parsed(ArgumentReader& reader, const std::optional<Shape>& image) {
  std::vector<Layer> out;
  std::optional<Shape> shape = image;
  bool activated = false;
  while (!reader.at_end()) {
    const std::size_t place = reader.place();
    const std::string word = reader.word();
    bool found = false;
    for (std::size_t a = 0; a < names_of(Activation{}).size(); ++a)
      if (word == names_of(Activation{})[a])
        activate(reader, out, activated, static_cast<Activation>(a), place), found = true;
    if (found) continue;
    if (out.size() == kMostLayers) fail_at(reader, place, fmt::format("a network has at most {} layers", kMostLayers));
    if (word != "conv" && word != "pool" && word != "dense")
      fail_at(reader, place,
              fmt::format("expected a layer (conv, pool, dense) or an activation{}", did_you_mean(word, words())));
    activated = false;
    if (word != "dense" && !out.empty() && out.back().kind == Layer::Kind::dense)
      fail_at(reader, place, fmt::format("{} takes an image, and a dense layer leaves none", word));
    open(reader, word);
    Layer layer;
    if (word == "dense") {
      layer = neural::dense_layer(shape ? shape->size() : 1, whole(reader, "the number of units", 1, kMostUnits),
                                  Activation::identity);
      if (shape) layer.in = *shape;
      close(reader);
    } else if (word == "pool") {
      layer.kind = Layer::Kind::max_pool;
      windows(reader, layer, shape, word);
    } else {
      layer.kind = Layer::Kind::convolution;
      layer.out.channels = whole(reader, "the number of filters", 1, kMostUnits);
      if (!reader.take(',')) reader.fail("expected ',' and the size of the window, as in conv(8, 3x3)");
      windows(reader, layer, shape, word);
    }
    if (shape) shape = layer.out;
    out.push_back(layer);
  }
  return out;
}

}  // namespace

Shape image_of(const std::string& text) {
  ArgumentReader reader(text);
  try {
    Shape out;
    out.height = whole(reader, "the height of an image", 1, kMostSide);
    if (!reader.take('x')) reader.fail("expected 'x' and the width, as in 28x28 or 28x28x3");
    out.width = whole(reader, "the width of an image", 1, kMostSide);
    if (reader.take('x')) out.channels = whole(reader, "the number of channels", 1, kMostSide);
    if (!reader.at_end()) reader.fail("an image is height x width, or height x width x channels");
    if (out.height * out.width > kMostNumbers / out.channels)
      throw Error(fmt::format("an image has at most {} numbers", format_count(kMostNumbers)));
    return out;
  } catch (const Error& error) { throw Error(fmt::format("cnn: image: {}", error.what())); }
}

std::vector<Layer> layers_of(const std::string& text, const std::optional<Shape>& image) {
  ArgumentReader reader(text);
  try {
    return parsed(reader, image);
  } catch (const Error& error) { throw Error(fmt::format("cnn: layers: {}", error.what())); }
}

std::string usual_layers(const Shape& image) {
  std::string out;
  Index height = image.height, width = image.width;
  for (const int filters : {16, 32}) {
    out +=
        fmt::format("conv({}, {}x{}, pad=same) relu ", filters, std::min<Index>(3, height), std::min<Index>(3, width));
    const Index down = height >= 4 ? 2 : 1, right = width >= 4 ? 2 : 1;
    if (down * right == 1) break;
    out += fmt::format("pool({}x{}) ", down, right);
    height /= down, width /= right;
    if (height < 4 && width < 4) break;
  }
  return out + "dense(64) relu";
}

Shape usual_image(Index numbers) {
  const auto side = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(numbers))));
  return side * side == numbers ? Shape{side, side, 1} : Shape{1, numbers, 1};
}

std::string text_of(const Shape& shape) {
  return fmt::format("{} x {}, {}", shape.height, shape.width, count_of(shape.channels, "channel"));
}

}  // namespace lemma::cnn
