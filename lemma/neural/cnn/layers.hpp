// lemma/neural/cnn/layers.hpp: the small language in which layers and images are written. Inner header.
//
//     layers     := ( layer [ activation ] )*
//     layer      := 'conv' '(' filters ',' size option* ')' | 'pool' '(' size option* ')' | 'dense' '(' units ')'
//     option     := ',' ( 'stride' '=' size | 'pad' '=' ( size | 'same' ) | 'max' | 'mean' )      max and mean of pools
//     size       := height 'x' width | side
//     activation := 'sigmoid' | 'tanh' | 'relu' | 'softplus' | 'softmax' | 'identity'
#pragma once
#include <lemma/neural/shared/layer.hpp>
#include <optional>
#include <string>

namespace lemma::cnn {

/// "28x28x3", or "28x28" of one channel. Error with a caret.
neural::Shape image_of(const std::string& text);
/// The hidden layers for images of that shape; where it is not known yet, the sizes are not looked at. An Error shows the text with a
/// caret under the place.
std::vector<neural::Layer> layers_of(const std::string& text, const std::optional<neural::Shape>& image);
/// Layers for images of that shape: of 8 x 8 pixels and more two convolutions, each with a pool.
std::string usual_layers(const neural::Shape& image);
/// The shape of images of so many numbers: a square of one channel where that is one, else a single line.
neural::Shape usual_image(Index numbers);

std::string text_of(const neural::Shape& shape);  // "28 x 28, 3 channels"

}  // namespace lemma::cnn
