// lemma/plot/pictures_test.hpp: what tests of pictures share: models fitted by their text, and the marks of a panel.
#pragma once
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/train.hpp>
#include <lemma/plot/model.hpp>
#include <tests/message_of.hpp>

namespace lemma::plot {

template <class M>
std::vector<M> marks(const Figure& figure, std::size_t panel = 0) {
  std::vector<M> out;
  for (const Mark& mark : figure.panels.at(panel).marks)
    if (const auto* found = std::get_if<M>(&mark)) out.push_back(*found);
  return out;
}

inline TrainedModel trained(const std::string& method, const std::string& text, const Table& table) {
  Value params;
  const auto chosen = method_from(method, catalog(), params);
  return train(chosen, params, formula(text), MemoryTableStream(table));
}

}  // namespace lemma::plot
