// lemma/cluster/shared/cluster_counts.hpp: how many clusters: a number, or several to choose from.
//
//     --k 3     --k 1:10     --k 2,4,8         KMeans{.k = 3}     KMeans{.k = {2, 4, 8}}
#pragma once
#include <cmath>
#include <initializer_list>
#include <lemma/core/param_info.hpp>

namespace lemma {

struct ClusterCounts {
  std::vector<double> of;  // none: left to the method

  ClusterCounts() = default;
  ClusterCounts(int k) : of{static_cast<double>(k)} {}
  ClusterCounts(std::initializer_list<int> all) : of(all.begin(), all.end()) {}

  explicit operator bool() const { return !of.empty(); }
  bool are_several() const { return of.size() > 1; }
  /// The one number.
  int operator*() const { return static_cast<int>(of.front()); }
  void reset() { of.clear(); }
  bool operator==(const ClusterCounts&) const = default;
};

/// null, a number, or numbers.
template <>
struct Codec<ClusterCounts> {
  static Value write(const ClusterCounts& counts) {
    if (!counts) return Value();
    if (!counts.are_several()) return static_cast<std::int64_t>(*counts);
    return Codec<std::vector<double>>::write(counts.of);
  }
  static void read(ClusterCounts& field, const Value& value, const std::string& where) {
    field.reset();
    if (value.is_null()) return;
    if (!value.is_number() && !value.is_array() && !value.is_list()) refuse(where, value, "a whole number, or several");
    Codec<std::vector<double>>::read(field.of, value, where);
    for (const double each : field.of)
      if (each != std::floor(each) || std::abs(each) > 1e9) refuse(where, value, "a whole number, or several");
  }
  static void check(const ClusterCounts& counts, const Range& range, const std::string& where) {
    Codec<std::vector<double>>::check(counts.of, range, where);
  }
};
template <>
struct detail::Describe<ClusterCounts> {
  static void kind(ParamInfo& info) {
    info.kind = ParamInfo::Kind::numbers;
    info.optional = true;
  }
  static void parts(const std::string&, std::vector<ParamInfo>&) {}
};

}  // namespace lemma
