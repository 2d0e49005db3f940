// lemma/geometry/graph/shortest_paths.cpp: Dijkstra (1959) with a heap of four children each, from several sources at once.
//
// A length is the least, over all ways, of the weights added up from the source on. Rounding is monotone, so that least
// is one number whatever order equals are settled in, and whatever order vertices are looked at: the ways from sources
// that lie together share one heap. A vertex is looked at when the least of what became shorter since the last time comes
// first, which is seldom more than once.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/graph.hpp>
#include <lemma/math/simd/relax.hpp>

namespace lemma {
namespace {

constexpr Index kTogether = simd::kSources;

class Dijkstra {
 public:
  explicit Dijkstra(const Graph& graph) : graph_(graph), place_(at(graph.count())), first_(at(graph.count())) {
    for (Index i = 0; i < graph.count(); ++i) most_edges_ = std::max(most_edges_, graph.neighbors_of(i).size());
    length_.resize(at(kTogether * graph.count()));
    least_.resize(most_edges_);
  }

  /// From up to kTogether sources; length(k, j) tells what was found.
  void run(std::span<const Index> sources) {
    begin();
    for (std::size_t k = 0; k < sources.size(); ++k) open(static_cast<std::int32_t>(sources[k]), k, 0);
    go_on();
  }
  void run(std::span<const std::int32_t> doors, std::span<const double> far) {
    begin();
    for (std::size_t k = 0; k < doors.size(); ++k)
      if (far[k] < length_[at(doors[k] * kTogether)]) open(doors[k], 0, far[k]);
    go_on();
  }
  double length(std::size_t k, Index j) const { return length_[at(j * kTogether) + k]; }

 private:
  static constexpr Index kNowhere = -1;

  void begin() {
    std::fill(length_.begin(), length_.end(), HUGE_VAL);
    std::fill(place_.begin(), place_.end(), kNowhere);
  }
  void open(std::int32_t vertex, std::size_t k, double length) {
    length_[at(vertex * kTogether) + k] = length;
    shorten(vertex, length);
  }

  void go_on() {
    double from[kTogether];
    while (!heap_.empty()) {
      const Index i = take_first();
      std::copy_n(&length_[at(i * kTogether)], kTogether, from);
      const auto to = graph_.neighbors_of(i);
      simd::relax(from, to, graph_.weights_of(i), length_.data(), least_.data());
      for (std::size_t k = 0; k < to.size(); ++k)
        if (least_[k] < HUGE_VAL) shorten(to[k], least_[k]);
    }
  }

  /// What became shorter at the vertex, at least `length`, waits to be passed on.
  void shorten(std::int32_t vertex, double length) {
    Index i = place_[at(vertex)];
    if (i == kNowhere) {
      i = static_cast<Index>(heap_.size());
      heap_.push_back(vertex);
    } else if (!(length < first_[at(vertex)])) {
      return;
    }
    first_[at(vertex)] = length;
    for (; i > 0 && length < first_of(heap_[at((i - 1) / 4)]); i = (i - 1) / 4) put(heap_[at((i - 1) / 4)], i);
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
        if (first_of(heap_[at(child)]) < first_of(heap_[at(least)])) least = child;
      if (!(first_of(heap_[at(least)]) < first_of(last))) break;
      put(heap_[at(least)], i);
      i = least;
    }
    put(last, i);
    return first;
  }

  double first_of(std::int32_t vertex) const { return first_[at(vertex)]; }
  void put(std::int32_t vertex, Index i) {
    heap_[at(i)] = vertex;
    place_[at(vertex)] = i;
  }

  const Graph& graph_;
  std::size_t most_edges_ = 0;
  std::vector<double> length_, least_;
  std::vector<Index> place_;   // in the heap
  std::vector<double> first_;  // by which the heap is ordered: the least length that is not passed on yet
  std::vector<std::int32_t> heap_;
};

/// Numbers of sources that lie together, up to kTogether in a group: those first met when going outwards from one of them.
std::vector<std::vector<Index>> groups_of(const Graph& graph, std::span<const Index> sources) {
  constexpr std::size_t kFar = 8 * kTogether;  // vertices that are looked at for a group
  std::vector<std::vector<Index>> at_vertex(at(graph.count()));
  for (std::size_t s = sources.size(); s-- > 0;) at_vertex[at(sources[s])].push_back(static_cast<Index>(s));
  std::vector<Index> met(at(graph.count()), -1), queue;
  std::vector<std::vector<Index>> out;
  for (const Index source : sources) {
    if (at_vertex[at(source)].empty()) continue;
    queue.assign(1, source);
    met[at(source)] = static_cast<Index>(out.size());
    std::vector<Index> group;
    for (std::size_t q = 0; q < std::min(queue.size(), kFar) && group.size() < at(kTogether); ++q) {
      std::vector<Index>& here = at_vertex[at(queue[q])];
      for (; !here.empty() && group.size() < at(kTogether); here.pop_back()) group.push_back(here.back());
      for (const Index next : graph.neighbors_of(queue[q])) {
        if (met[at(next)] == static_cast<Index>(out.size())) continue;
        met[at(next)] = static_cast<Index>(out.size());
        queue.push_back(next);
      }
    }
    out.push_back(std::move(group));
  }
  return out;
}

}  // namespace

Matrix shortest_paths(const Graph& graph, std::span<const Index> sources, const Execution& execution) {
  for (const Index source : sources)
    if (source < 0 || source >= graph.count())
      throw Error(fmt::format("there is no vertex {} among {}", source + 1, graph.count()));
  const auto groups = groups_of(graph, sources);
  constexpr Index kRuns = 4;  // groups that one heap serves
  const auto count = static_cast<Index>(groups.size());
  Matrix out(static_cast<Index>(sources.size()), graph.count());
  parallel_for((count + kRuns - 1) / kRuns, execution, [&](Index block) {
    Dijkstra dijkstra(graph);
    std::vector<Index> from;
    for (Index g = block * kRuns; g < std::min((block + 1) * kRuns, count); ++g) {
      const std::vector<Index>& group = groups[at(g)];
      from.clear();
      for (const Index s : group) from.push_back(sources[at(s)]);
      dijkstra.run(from);
      for (std::size_t k = 0; k < group.size(); ++k)
        for (Index j = 0; j < graph.count(); ++j) out(group[k], j) = dijkstra.length(k, j);
    }
  });
  return out;
}

Vector shortest_paths_from(const Graph& graph, std::span<const std::int32_t> doors, std::span<const double> far) {
  require(doors.size() == far.size(), "each door has a distance");
  Vector out(graph.count());
  Dijkstra dijkstra(graph);
  dijkstra.run(doors, far);
  for (Index j = 0; j < graph.count(); ++j) out(j) = dijkstra.length(0, j);
  return out;
}

}  // namespace lemma
