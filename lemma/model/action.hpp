// lemma/model/action.hpp: commands of a family: what is made of a fitted model without its data: a hierarchy cut, a tree pruned.
//
// A model declares them as it declares its fields:
//     static constexpr auto actions() { return Listing{action("cut", "the rows in groups", &Hierarchy::cut)}; }
// The verb takes the checked parameters, a described struct such as Valid<Cut>, and returns a Prediction (what it says of the
// training rows) or a model of its own kind. `lemma cut MODEL --height 3`, its help and its file follow from that.
#pragma once
#include <lemma/core/param_info.hpp>
#include <lemma/model/any_model.hpp>
#include <variant>

namespace lemma {

struct ActionInfo {
  std::string name, meaning;
  std::vector<ParamInfo> params;
  bool gives_model;
};

template <class Model, class Result, class Options>
struct ModelAction {
  std::string_view name, meaning;
  Result (Model::*verb)(const Valid<Options>&) const;

  ActionInfo info() const {
    return {std::string(name), std::string(meaning), param_infos<Options>(), !std::is_same_v<Result, Prediction>};
  }
};
template <class Model, class Result, class Options>
constexpr ModelAction<Model, Result, Options> action(std::string_view name, std::string_view meaning,
                                                     Result (Model::*verb)(const Valid<Options>&) const) {
  static_assert(std::is_same_v<Result, Prediction> || std::is_same_v<Result, Model>,
                "an action says something of the training rows, or makes another model");
  return {name, meaning, verb};
}

template <class M>
concept HasActions = requires {
  M::actions();
};

}  // namespace lemma
