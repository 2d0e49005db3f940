// tests/trained.hpp: a model of a method as it is typed.
#pragma once
#include <lemma/data/stream.hpp>
#include <lemma/model/any_spec.hpp>
#include <lemma/model/train.hpp>

namespace lemma {

inline TrainedModel trained(const std::string& method, const Table& table, const std::string& by) {
  const AnySpec spec = parse_method(method).completed();
  return train(spec.shared(), spec.params(), formula(by), MemoryTableStream(table));
}

}  // namespace lemma
