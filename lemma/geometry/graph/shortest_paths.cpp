// lemma/geometry/graph/shortest_paths.cpp: Dijkstra (1959) with a heap of four children each.
//
// A length is the least, over all ways, of the weights added up from the source on. Rounding is monotone, so that least
// is one number whatever order equals are settled in.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/graph.hpp>

namespace lemma {
namespace {

class Dijkstra {
 public:
  explicit Dijkstra(const Graph& graph) : graph_(graph), place_(at(graph.count())) {}

  void run(Index source, double* length) {
    begin(length);
    shorten(static_cast<std::int32_t>(source), 0);
    go_on();
  }
  void run(std::span<const std::int32_t> doors, std::span<const double> far, double* length) {
    begin(length);
    for (std::size_t k = 0; k < doors.size(); ++k)
      if (far[k] < length[doors[k]]) shorten(doors[k], far[k]);
    go_on();
  }

 private:
  static constexpr Index kNowhere = -1;

  void begin(double* length) {
    length_ = length;
    std::fill_n(length, graph_.count(), HUGE_VAL);
    std::fill(place_.begin(), place_.end(), kNowhere);
  }

  void go_on() {
    while (!heap_.empty()) {
      const Index i = take_first();
      const auto to = graph_.neighbors_of(i);
      const auto weight = graph_.weights_of(i);
      for (std::size_t k = 0; k < to.size(); ++k)
        if (const double way = length_[i] + weight[k]; way < length_[to[k]]) shorten(to[k], way);
    }
  }

  void shorten(std::int32_t vertex, double length) {
    length_[vertex] = length;
    Index i = place_[at(vertex)];
    if (i == kNowhere) {
      i = static_cast<Index>(heap_.size());
      heap_.push_back(vertex);
    }
    for (; i > 0 && length < length_[heap_[at((i - 1) / 4)]]; i = (i - 1) / 4) put(heap_[at((i - 1) / 4)], i);
    put(vertex, i);
  }

  Index take_first() {
    const std::int32_t first = heap_.front(), last = heap_.back();
    heap_.pop_back();
    place_[at(first)] = kNowhere;
    const Index size = static_cast<Index>(heap_.size());
    if (size == 0) return first;
    Index i = 0;
    while (4 * i + 1 < size) {
      Index least = 4 * i + 1;
      for (Index child = least + 1; child < std::min(4 * i + 5, size); ++child)
        if (length_[heap_[at(child)]] < length_[heap_[at(least)]]) least = child;
      if (!(length_[heap_[at(least)]] < length_[last])) break;
      put(heap_[at(least)], i);
      i = least;
    }
    put(last, i);
    return first;
  }

  void put(std::int32_t vertex, Index i) {
    heap_[at(i)] = vertex;
    place_[at(vertex)] = i;
  }

  const Graph& graph_;
  double* length_ = nullptr;
  std::vector<Index> place_;  // in the heap
  std::vector<std::int32_t> heap_;
};

}  // namespace

Matrix shortest_paths(const Graph& graph, std::span<const Index> sources, const Execution& execution) {
  for (const Index source : sources)
    if (source < 0 || source >= graph.count())
      throw Error(fmt::format("there is no vertex {} among {}", source + 1, graph.count()));
  constexpr Index kTogether = 8;  // sources that one heap serves
  const auto count = static_cast<Index>(sources.size());
  Matrix out(count, graph.count());
  parallel_for((count + kTogether - 1) / kTogether, execution, [&](Index block) {
    Dijkstra dijkstra(graph);
    for (Index s = block * kTogether; s < std::min((block + 1) * kTogether, count); ++s)
      dijkstra.run(sources[at(s)], out.row(s).data());
  });
  return out;
}

Vector shortest_paths_from(const Graph& graph, std::span<const std::int32_t> doors, std::span<const double> far) {
  require(doors.size() == far.size(), "each door has a distance");
  Vector out(graph.count());
  Dijkstra(graph).run(doors, far, out.data());
  return out;
}

}  // namespace lemma
