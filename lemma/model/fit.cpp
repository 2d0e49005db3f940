// lemma/model/fit.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/model/any_spec.hpp>
#include <lemma/model/fit.hpp>

namespace lemma::detail {

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

MemoryRows rows_of(const MatrixView& x, const CallOptions& beside) {
  MemoryRows rows(x);
  if (beside.weights.size() > 0) rows.weights(span_of(beside.weights));
  if (beside.precision.size() > 0) rows.precision(span_of(beside.precision));
  if (beside.offset.size() > 0) rows.offset(span_of(beside.offset));
  if (!beside.clusters.empty()) rows.clusters(beside.clusters);
  return rows;
}

RowsUse training_use(const RowOptions& beside) {
  RowsUse use;
  use.weights = span_of(beside.weights);
  use.precision = span_of(beside.precision);
  use.offset = span_of(beside.offset);
  use.clusters = beside.clusters;
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

namespace {

std::string methods_that(bool MethodAbout::*take) {
  std::vector<std::string> names;
  for (const Method* method : catalog())
    if (method->about().*take) names.push_back(method->name());
  return names.empty() ? "no method yet" : join_words(names);
}

/// A method that looks at the columns alone does not pass over what was meant to be predicted.
void refuse_response(const Formula& formula) {
  const Expression& first = formula.response[0];
  const std::string name = first.kind == Expression::Kind::name ? to_text(first) : "";
  throw Error(point_at("formula", formula.text, first.place,
                       fmt::format("this method has no response: it looks at the columns alone; write '~ .' for all of "
                                   "them{}, or '~ a + b' for some",
                                   name.empty() ? "" : fmt::format(", '~ . - {}' for all but {}", name, name))));
}

/// cbind(…) is several responses, or counts, for methods that take them.
void check_responses(const Needs& needs, const Formula& formula) {
  if (formula.response.empty()) return;
  if (!needs.classes && !needs.numbers && !needs.several && !needs.counts) refuse_response(formula);
  if (needs.several || needs.counts) return;
  const Expression& first = formula.response[0];
  if (first.kind != Expression::Kind::call || first.text != "cbind") return;
  throw Error(point_at(
      "formula", formula.text, first.place,
      fmt::format("this method takes one response, and {} are {}; several are taken by {}, counts of successes and "
                  "failures by {}",
                  to_text(first), first.arguments.size(), methods_that(&MethodAbout::takes_several),
                  methods_that(&MethodAbout::takes_counts))));
}

void check_task(const Needs& needs, ResponseAs asked) {
  if (asked == ResponseAs::by_type) return;
  const bool classes = asked == ResponseAs::classes;
  if (classes ? needs.classes : needs.numbers) return;
  throw Error(fmt::format("--task {}: this method {}", classes ? "classification" : "regression",
                          needs.numbers   ? "predicts numbers"
                          : needs.classes ? "predicts classes"
                                          : "predicts no response"));
}

}  // namespace

DesignOptions design_options(const Needs& needs, const Formula& formula, DesignOptions options) {
  check_responses(needs, formula);
  if (needs.codes) {
    if (options.coding != Coding::treatment)
      throw Error("this method takes categories as they are; leave out --coding");
    options.coding = Coding::codes;
  }
  options.unseen = needs.unseen;
  if (needs.missing && options.missing == Missing::error) options.missing = Missing::native;
  check_task(needs, options.response);
  options.classify = needs.classes && (!needs.numbers || options.response == ResponseAs::classes);
  options.classify_categories = needs.classes && needs.numbers && options.response == ResponseAs::by_type;
  options.takes_offset = needs.offset;
  options.takes_counts = needs.counts;
  options.takes_several = needs.several;
  options.letters = needs.letters;
  return options;
}

}  // namespace lemma::detail
