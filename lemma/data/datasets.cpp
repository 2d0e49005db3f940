// lemma/data/datasets.cpp
#include <algorithm>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/embedded.hpp>

namespace lemma {
namespace {

constexpr DatasetInfo kSets[] = {
    {"boston", "Housing values in suburbs of Boston", 506, 14, "medv", "MASS::Boston; Harrison & Rubinfeld 1978", ""},
    {"breast_cancer", "Breast cancer biopsies, Wisconsin (original)", 699, 11, "Class",
     "mlbench::BreastCancer (Wisconsin original, UCI); Wolberg & Mangasarian 1990", ""},
    {"breast_cancer_wdbc", "Breast cancer cell nuclei, Wisconsin (diagnostic)", 569, 31, "diagnosis",
     "scikit-learn load_breast_cancer (WDBC, UCI); Street, Wolberg & Mangasarian 1993", ""},
    {"crabs", "Measurements on Leptograpsus crabs", 200, 8, "sp:sex", "MASS::crabs; Campbell & Mahon 1974", ""},
    {"diabetes", "Progression of diabetes after a year", 442, 11, "progression",
     "scikit-learn load_diabetes(scaled=False); Efron, Hastie, Johnstone & Tibshirani 2004", ""},
    {"digits", "Handwritten digits, 8 x 8 pixels", 1797, 65, "digit",
     "scikit-learn load_digits (UCI optdigits test set); Alpaydin & Kaynak 1998", "digit"},
    {"dna", "Splice junctions in DNA", 3186, 181, "Class", "mlbench::DNA (StatLog); Noordewier, Towell & Shavlik 1991",
     ""},
    {"eurodist", "Road distances between 21 European cities", 21, 22, "",
     "R datasets::eurodist; Cambridge Encyclopaedia", ""},
    {"faithful", "Old Faithful geyser, 272 eruptions", 272, 2, "waiting",
     "R datasets::faithful; Azzalini & Bowman 1990", ""},
    {"geyser", "Old Faithful geyser, 299 eruptions", 299, 2, "duration", "MASS::geyser; Azzalini & Bowman 1990", ""},
    {"glass", "Fragments of glass by their chemistry", 214, 10, "Type", "mlbench::Glass (UCI); German 1987", "Type"},
    {"house_votes", "Votes of the US House of Representatives, 1984", 435, 17, "Class",
     "mlbench::HouseVotes84 (UCI); Schlimmer 1987", ""},
    {"ionosphere", "Radar returns from the ionosphere", 351, 35, "Class",
     "mlbench::Ionosphere (UCI); Sigillito et al. 1989", ""},
    {"iris", "Edgar Anderson's iris flowers", 150, 5, "species", "R datasets::iris; Fisher 1936, Anderson 1935", ""},
    {"letters", "Pictures of capital letters", 20000, 17, "lettr",
     "mlbench::LetterRecognition (UCI); Frey & Slate 1991", ""},
    {"mcycle", "Acceleration of a helmet in a simulated crash", 133, 2, "accel", "MASS::mcycle; Silverman 1985", ""},
    {"pima_diabetes", "Diabetes in Pima women, all records", 768, 9, "diabetes",
     "mlbench::PimaIndiansDiabetes (UCI); Smith et al. 1988", ""},
    {"pima_test", "Diabetes in Pima women, test part", 332, 8, "type", "MASS::Pima.te; Smith et al. 1988, Ripley 1996",
     ""},
    {"pima_train", "Diabetes in Pima women, training part", 200, 8, "type",
     "MASS::Pima.tr; Smith et al. 1988, Ripley 1996", ""},
    {"satellite", "Soil types in Landsat pixels", 6435, 37, "classes",
     "mlbench::Satellite (StatLog Landsat, UCI); Srinivasan", ""},
    {"shuttle", "States of the space shuttle", 58000, 10, "Class", "mlbench::Shuttle (StatLog, UCI); Catlett", ""},
    {"sonar", "Sonar returns: mines and rocks", 208, 61, "Class", "mlbench::Sonar (UCI); Gorman & Sejnowski 1988", ""},
    {"soybean", "Diseases of soybeans", 683, 36, "Class", "mlbench::Soybean (UCI); Michalski & Chilausky 1980", "*"},
    {"spam", "Spam e-mail by word frequencies", 4601, 58, "type",
     "kernlab::spam (UCI spambase); Hopkins, Reeber, Forman & Suermondt 1999", ""},
    {"swiss_roll", "A plane rolled up in space", 1000, 5, "t",
     "generated with numpy RandomState(20240501), 10 significant digits", ""},
    {"usarrests", "Violent crime by US state, 1973", 50, 5, "", "R datasets::USArrests; McNeil 1977", ""},
    {"uscities", "Flight distances between 10 US cities", 10, 11, "",
     "classic airline-distance table as printed in the lecture notes", ""},
    {"vehicle", "Silhouettes of vehicles", 846, 19, "Class", "mlbench::Vehicle (StatLog, UCI); Siebert 1987", ""},
    {"vowel", "British English vowels by speaker", 990, 11, "Class", "mlbench::Vowel (UCI); Deterding 1989", "V1"},
    {"wine", "Italian wines by their chemistry", 178, 14, "class", "scikit-learn load_wine (UCI); Forina et al. 1991",
     ""},
    {"xclara", "Three artificial clusters", 3000, 2, "", "cluster::xclara; Struyf, Hubert & Rousseeuw 1996", ""},
    {"zoo", "Animals by their traits", 101, 18, "type", "mlbench::Zoo (UCI); Forsyth 1990", ""},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<std::string> header_of(std::string_view csv) {
  std::string line(csv.substr(0, csv.find_first_of("\r\n")));
  std::replace(line.begin(), line.end(), ',', ' ');
  return words_of(line);
}

}  // namespace

std::span<const DatasetInfo> datasets() { return kSets; }

const DatasetInfo* find_dataset(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kSets), std::end(kSets), [&](const auto& set) { return set.name == name; });
  return found == std::end(kSets) ? nullptr : found;
}

std::vector<std::string> dataset_names() {
  std::vector<std::string> names;
  for (const auto& set : kSets) names.emplace_back(set.name);
  return names;
}

std::string_view dataset_csv(std::string_view name) {
  for (std::size_t k = 0; k < embedded::file_count; ++k) {
    const auto& file = embedded::files[k];
    if (file.name == name) return {file.begin, static_cast<std::size_t>(file.end - file.begin)};
  }
  throw Error(fmt::format("there is no built-in data set '{}'{}", name, did_you_mean(name, dataset_names())));
}

Table dataset(std::string_view name, CsvOptions options) {
  const std::string_view csv = dataset_csv(name);
  options.delimiter = ',';
  options.decimal = '.';
  options.header = true;
  options.skip = 0;
  options.comment = {};
  if (const DatasetInfo* set = find_dataset(name)) {
    const auto codes = set->categorical == "*" ? header_of(csv) : words_of(set->categorical);
    for (const auto& column : codes)
      if (options.levels.count(column) == 0) options.types.emplace(column, ReadAs::categorical);
  }
  return parse_csv(csv, options, std::string(name));
}

}  // namespace lemma
