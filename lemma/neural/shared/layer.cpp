// lemma/neural/shared/layer.cpp
#include <algorithm>
#include <lemma/neural/shared/layer.hpp>

namespace lemma::neural {
namespace {

/// What of a window lies in the image, along one side: pixels [first, last); the window begins at pixel `start`, which may lie beyond.
struct Held {
  Index start, first, last;
};
Held held(Index place, Index step, Index beyond, Index window, Index side) {
  const Index start = place * step - beyond;
  return {start, std::max<Index>(0, start), std::min(side, start + window)};
}

/// visit(place, rows, columns) for each window.
void for_each_window(const Layer& layer, const auto& visit) {
  for (Index y = 0; y < layer.out.height; ++y) {
    const Held rows = held(y, layer.down, layer.above, layer.height, layer.in.height);
    for (Index x = 0; x < layer.out.width; ++x)
      visit(y * layer.out.width + x, rows, held(x, layer.right, layer.left, layer.width, layer.in.width));
  }
}

}  // namespace

Layer dense_layer(Index in, Index out, Activation activation) {
  return {Layer::Kind::dense, {1, 1, in}, {1, 1, out}, activation};
}

template <class T>
void windows_of(const Layer& layer, const T* image, MatrixOf<T>& windows) {
  const Index channels = layer.in.channels, line = layer.width * channels;
  windows.resize(layer.places(), layer.fan_in());
  for_each_window(layer, [&](Index place, const Held& rows, const Held& columns) {
    T* to = windows.row(place).data();
    const bool whole = rows.last - rows.first == layer.height && columns.last - columns.first == layer.width;
    if (!whole) std::fill_n(to, layer.fan_in(), T(0));
    const Index count = (columns.last - columns.first) * channels;
    to += (rows.first - rows.start) * line + (columns.first - columns.start) * channels;
    const T* from = image + (rows.first * layer.in.width + columns.first) * channels;
    for (Index y = rows.first; y < rows.last; ++y, to += line, from += layer.in.width * channels)
      for (Index i = 0; i < count; ++i) to[i] = from[i];
  });
}

template <class T>
void add_windows(const Layer& layer, const MatrixOf<T>& windows, T* image) {
  const Index channels = layer.in.channels, line = layer.width * channels;
  for_each_window(layer, [&](Index place, const Held& rows, const Held& columns) {
    const Index count = (columns.last - columns.first) * channels;
    const T* from =
        windows.row(place).data() + (rows.first - rows.start) * line + (columns.first - columns.start) * channels;
    T* to = image + (rows.first * layer.in.width + columns.first) * channels;
    for (Index y = rows.first; y < rows.last; ++y, from += line, to += layer.in.width * channels)
      for (Index i = 0; i < count; ++i) to[i] += from[i];
  });
}

template <class T>
void pool(const Layer& layer, const T* image, T* out, std::int32_t* chosen) {
  const Index channels = layer.in.channels;
  for_each_window(layer, [&](Index place, const Held& rows, const Held& columns) {
    T* to = out + place * channels;
    std::int32_t* of = chosen + place * channels;
    bool first = true;
    for (Index y = rows.first; y < rows.last; ++y)
      for (Index x = columns.first; x < columns.last; ++x) {
        const Index pixel = (y * layer.in.width + x) * channels;
        const T* from = image + pixel;
        if (layer.kind == Layer::Kind::mean_pool) {
          for (Index c = 0; c < channels; ++c) to[c] = first ? from[c] : to[c] + from[c];
        } else {
          for (Index c = 0; c < channels; ++c)
            if (first || from[c] > to[c]) to[c] = from[c], of[c] = static_cast<std::int32_t>(pixel + c);
        }
        first = false;
      }
    if (layer.kind != Layer::Kind::mean_pool) return;
    const auto count = static_cast<T>((rows.last - rows.first) * (columns.last - columns.first));
    for (Index c = 0; c < channels; ++c) to[c] /= count;
  });
}

template <class T>
void pool_back(const Layer& layer, const T* delta, const std::int32_t* chosen, T* before) {
  const Index channels = layer.in.channels;
  std::fill_n(before, layer.in.size(), T(0));
  if (layer.kind == Layer::Kind::max_pool) {
    for (Index i = 0; i < layer.out.size(); ++i) before[chosen[i]] += delta[i];
    return;
  }
  for_each_window(layer, [&](Index place, const Held& rows, const Held& columns) {
    const T share = 1 / static_cast<T>((rows.last - rows.first) * (columns.last - columns.first));
    for (Index y = rows.first; y < rows.last; ++y)
      for (Index x = columns.first; x < columns.last; ++x)
        for (Index c = 0; c < channels; ++c)
          before[(y * layer.in.width + x) * channels + c] += share * delta[place * channels + c];
  });
}

template void windows_of(const Layer&, const double*, MatrixOf<double>&);
template void add_windows(const Layer&, const MatrixOf<double>&, double*);
template void pool(const Layer&, const double*, double*, std::int32_t*);
template void pool_back(const Layer&, const double*, const std::int32_t*, double*);
template void windows_of(const Layer&, const float*, MatrixOf<float>&);
template void add_windows(const Layer&, const MatrixOf<float>&, float*);
template void pool(const Layer&, const float*, float*, std::int32_t*);
template void pool_back(const Layer&, const float*, const std::int32_t*, float*);

}  // namespace lemma::neural
