// lemma/core/listing.hpp: a few values of different types, one after the other: what params() and fields() return.
//
// It is std::tuple without its choice of constructors. Deciding among those for a list of thirty descriptions took a compiler
// longer than everything else in a method's header (docs/decisions/0018-listing.md).
#pragma once
#include <cstddef>
#include <utility>

namespace lemma {

template <std::size_t, class T>
struct Listed {
  T value;
};

template <class Places, class... T>
struct ListedInPlaces;
template <std::size_t... I, class... T>
struct ListedInPlaces<std::index_sequence<I...>, T...> : Listed<I, T>... {
  constexpr ListedInPlaces(const T&... each) : Listed<I, T>{each}... {}
  /// f(first, second, …)
  constexpr decltype(auto) apply(auto&& f) const { return f(static_cast<const Listed<I, T>&>(*this).value...); }
  /// f(first), then f(second), …
  constexpr void for_each(auto&& f) const { (f(static_cast<const Listed<I, T>&>(*this).value), ...); }
};

template <class... T>
struct Listing : ListedInPlaces<std::index_sequence_for<T...>, T...> {
  using ListedInPlaces<std::index_sequence_for<T...>, T...>::ListedInPlaces;
  static constexpr std::size_t size = sizeof...(T);
};
template <class... T>
Listing(T...) -> Listing<T...>;

/// One listing after the other.
template <class... A, class... B>
constexpr auto joined(const Listing<A...>& a, const Listing<B...>& b) {
  return a.apply([&](const A&... first) {
    return b.apply([&](const B&... second) { return Listing<A..., B...>{first..., second...}; });
  });
}
template <class... A, class... B, class... More>
constexpr auto joined(const Listing<A...>& a, const Listing<B...>& b, const More&... more) {
  return joined(joined(a, b), more...);
}

}  // namespace lemma
