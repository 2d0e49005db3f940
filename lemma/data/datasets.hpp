// lemma/data/datasets.hpp: the data sets that come with the library.
#pragma once
#include <lemma/data/csv.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

struct DatasetInfo {
  std::string_view name;
  std::string_view title;
  Index rows, columns;
  std::string_view response;     // empty when there is none
  std::string_view source;       // who is to be credited
  std::string_view categorical;  // columns whose numbers are codes of classes, separated by blanks; "*" is all of them
};

/// Every built-in data set, in the order of their names.
std::span<const DatasetInfo> datasets();
const DatasetInfo* find_dataset(std::string_view name);  // nullptr when there is none
std::vector<std::string> dataset_names();

/// The table, with codes of classes as categories. `options` says more about types; they win. Error with "did you mean"
/// when there is no such set.
Table dataset(std::string_view name, CsvOptions options = {});
std::string_view dataset_csv(std::string_view name);

}  // namespace lemma
