// lemma/bayes/naive_bayes/summary.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/bayes/naive_bayes/parts.hpp>
#include <lemma/core/text.hpp>

namespace lemma {
namespace {

using namespace naive_bayes;

constexpr Index kMostShown = 20;     // columns of a kind: more are words, of which the most telling are shown
constexpr std::size_t kTelling = 5;  // of each class

std::vector<Index> columns_of(const Layout& layout, ColumnKind kind) {
  std::vector<Index> out;
  for (Index j = 0; j < layout.columns(); ++j)
    if (layout.is(j, kind)) out.push_back(j);
  return out;
}

/// By how much a value of 1 speaks for a class against the one it speaks for next.
double says_for(const NaiveBayesModel& model, ColumnKind kind, Index k, Index j) {
  const auto said = [&](Index c) {
    const double log = std::log(model.parameters(c, j));
    return kind == ColumnKind::complement ? -log : log;
  };
  double next = -std::numeric_limits<double>::infinity();
  for (Index c = 0; c < model.class_count(); ++c)
    if (c != k) next = std::max(next, said(c));
  return said(k) - next;
}

/// "win (3.2), money (2.7), …" for each class.
std::string telling_columns(const NaiveBayesModel& model, const Layout& layout, ColumnKind kind,
                            const std::vector<Index>& columns, const std::vector<std::string>& classes,
                            const auto& feature) {
  std::vector<std::string> shown;
  for (Index k = 0; k < model.class_count(); ++k) {
    std::vector<std::pair<double, Index>> ranked;
    for (const Index j : columns) ranked.emplace_back(-says_for(model, kind, k, j), j);
    const std::size_t most = std::min(kTelling, ranked.size());
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most), ranked.end());
    std::vector<std::string> words;
    for (std::size_t i = 0; i < most && ranked[i].first < 0; ++i)
      words.push_back(fmt::format("{} ({})", feature(ranked[i].second), format_fixed(-ranked[i].first, 2)));
    shown.push_back(words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", ")));
  }
  return fmt::format("\n{} {} columns; those that speak most for each class, with the log odds that each adds:\n",
                     format_count(std::ssize(columns)), name_of(layout.kind[at(columns[0])])) +
         TextTable().words("", classes).words("columns", shown).str();
}

}  // namespace

std::string NaiveBayesModel::summary(const Names& names) const {
  std::vector<std::string> classes;
  for (Index k = 0; k < class_count(); ++k)
    classes.push_back(at(k) < names.classes.size() ? names.classes[at(k)] : fmt::format("class {}", k + 1));
  const auto feature = [&](Index j) {
    return at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1);
  };
  TextTable priors;
  priors.words("", classes)
      .numbers("rows", {counts.begin(), counts.end()}, 7)
      .numbers("prior", {prior.begin(), prior.end()}, 5);
  std::string out = "Classes:\n" + priors.str();
  const Layout layout(spec.kinds, levels);
  const auto column = [](const Matrix& m, Index j) {
    const Vector c = m.col(j);
    return std::vector<double>(c.begin(), c.end());
  };
  for (const auto kind : {ColumnKind::gaussian, ColumnKind::density, ColumnKind::bernoulli, ColumnKind::poisson,
                          ColumnKind::multinomial, ColumnKind::complement}) {
    if (const auto columns = columns_of(layout, kind);
        kind != ColumnKind::gaussian && kind != ColumnKind::density && std::ssize(columns) > kMostShown) {
      out += telling_columns(*this, layout, kind, columns, classes, feature);
      continue;
    }
    TextTable table;
    table.words("", classes);
    bool any = false;
    for (Index j = 0; j < width(); ++j) {
      if (!layout.is(j, kind)) continue;
      any = true;
      table.numbers(feature(j), column(parameters, j), 5);
      if (kind == ColumnKind::gaussian) table.numbers("(sd)", column(deviations, j), 4);
      if (kind == ColumnKind::density) table.numbers("(bandwidth)", column(deviations, j), 4);
    }
    constexpr std::array<std::string_view, 7> kTitles{"Means and standard deviations",
                                                      "Probabilities of values above 0",
                                                      "",
                                                      "Rates",
                                                      "Shares of the counts",
                                                      "Shares of the counts of all other classes",
                                                      "Means and bandwidths"};
    if (any)
      out += fmt::format("\n{}:\n", kTitles[static_cast<std::size_t>(kind)]) + table.str({.gap = 2, .width = 100});
  }
  for (Index j = 0; j < width(); ++j) {
    if (!layout.is(j, ColumnKind::categorical)) continue;
    TextTable table;
    table.words("", classes);
    for (Index l = 0; l < levels[at(j)]; ++l)
      table.numbers(fmt::format("level {}", l + 1), column(level_probabilities, layout.start[at(j)] + l), 4);
    out += fmt::format("\nProbabilities of the levels of {}:\n", feature(j)) + table.str({.gap = 2, .width = 100});
  }
  return out;
}

}  // namespace lemma
