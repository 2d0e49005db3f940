// lemma/model/fit.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/model/fit.hpp>

namespace lemma::detail {

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

MemoryRows rows_of(const MatrixView& x, const CallOptions& beside) {
  MemoryRows rows(x);
  if (beside.weights.size() > 0) rows.weights(span_of(beside.weights));
  if (beside.precision.size() > 0) rows.precision(span_of(beside.precision));
  if (beside.offset.size() > 0) rows.offset(span_of(beside.offset));
  return rows;
}

RowsUse training_use(const RowOptions& beside) {
  RowsUse use;
  use.weights = span_of(beside.weights);
  use.precision = span_of(beside.precision);
  use.offset = span_of(beside.offset);
  return use;
}

Index place_of(std::string_view name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(fmt::format("there is no column '{}' among the features{}", name, did_you_mean(name, names)));
  return found - names.begin();
}

Coded code(const std::vector<std::string>& labels) {
  Coded out{{}, labels};
  std::sort(out.classes.begin(), out.classes.end());
  out.classes.erase(std::unique(out.classes.begin(), out.classes.end()), out.classes.end());
  for (const auto& label : labels)
    out.codes.push_back(
        static_cast<int>(std::lower_bound(out.classes.begin(), out.classes.end(), label) - out.classes.begin()));
  return out;
}

DesignOptions design_options(const Needs& needs, DesignOptions options) {
  if (needs.codes) {
    if (options.coding != Coding::treatment)
      throw Error("this method takes categories as they are; leave out --coding");
    options.coding = Coding::codes;
  }
  options.unseen = needs.unseen;
  if (needs.missing && options.missing == Missing::error) options.missing = Missing::native;
  options.classify = needs.classes && (!needs.numbers || needs.prefers_classes);
  options.classify_categories = needs.classes && needs.numbers;
  options.takes_offset = needs.offset;
  options.takes_counts = needs.counts;
  options.letters = needs.letters;
  return options;
}

}  // namespace lemma::detail
