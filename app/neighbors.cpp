// app/neighbors.cpp: lemma neighbors DATA [QUERY]: the nearest rows of each row, and how far they are.
#include "neighbors.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/neighbors.hpp>
#include <lemma/math/moments.hpp>

namespace lemma::app {
namespace {

struct NeighborOptions {
  DataOptions data;
  std::string query, formula, metric = "euclidean", structure = "auto", id, output;
  int k = 5;
  std::optional<double> within;
  double epsilon = 0, recall = 1;
};

/// All columns of numbers, or with gower all but texts; `id` left out.
std::string usual_formula(const Table& table, bool gower, const std::string& id, Context& context) {
  std::vector<std::string> taken, left;
  for (const auto& column : table.all()) {
    if (column.name == id) continue;
    const bool takes = column.type() == ColumnType::numeric || (gower && column.type() == ColumnType::categorical);
    (takes ? taken : left).push_back(column.name);
  }
  if (taken.empty())
    throw Error("there is no column of numbers to compare rows by; say what to compare with --formula");
  if (!left.empty())
    context.note(fmt::format("note: rows are compared by {}; left out: {}", join_words(taken), join_words(left)));
  std::string out = "~";
  for (const auto& name : taken) out += fmt::format("{} `{}`", out.size() > 1 ? " +" : "", name);
  return out;
}

Metric resolved(const Metric& metric, const Matrix& x, const Design& design, const Execution& execution) {
  if (const auto* mahalanobis = metric.get<MahalanobisMetric>(); mahalanobis && mahalanobis->covariance.size() == 0) {
    if (x.rows() < 2) throw Error("one row alone has no covariance for the mahalanobis distance");
    const auto moments = scan(MemoryRows(x), Moments(x.cols()), execution);
    const Vector mean = moments.mean();
    return MahalanobisMetric{moments.covariance(moments.weight() - 1), {mean.begin(), mean.end()}};
  }
  std::vector<Index> codes;
  const auto levels = design.levels();
  for (std::size_t j = 0; j < levels.size(); ++j)
    if (!levels[j].empty()) codes.push_back(static_cast<Index>(j));
  return metric.resolved(x, codes, execution);
}

/// Names of rows: their numbers from 1, or what stands in the column of --id.
std::string name_of_row(const Table& table, const std::vector<Index>& kept, Index i, const std::string& id) {
  const Index row = kept[static_cast<std::size_t>(i)];
  return id.empty() || !table.find(id) ? std::to_string(row + 1) : table.column(id).text(row);
}

struct Found {
  NeighborLists lists;
  DesignData points, asked;
  std::string choice;
  double recall = 1;
};

Found search(const NeighborOptions& options, const Table& table, const Table* query, Context& context) {
  const Metric metric = Metric::parse(options.metric);
  const bool gower = metric.get<GowerMetric>() != nullptr;
  if (!options.id.empty()) table.column(options.id);  // Error where there is none
  DesignOptions how;
  how.coding = gower ? Coding::codes : Coding::one_hot;
  how.missing = gower ? Missing::native : Missing::error;
  how.unseen = gower ? Unseen::missing : Unseen::error;
  how.id = options.id;
  how.execution = context.execution();
  const Formula asked =
      formula(options.formula.empty() ? usual_formula(table, gower, options.id, context) : options.formula);
  if (!asked.response.empty())
    throw Error(
        fmt::format("--formula is '{}': rows are compared, and none is predicted; write ~ a + b", options.formula));
  const Design design(asked, table, how);
  Found out;
  out.points = design.train(table, context.execution());
  if (query) out.asked = design.apply(*query, {}, context.execution());
  SearchOptions by;
  by.structure = static_cast<SearchBy>(choose("--structure", options.structure, choices_of<SearchBy>()));
  by.epsilon = options.epsilon;
  by.recall = options.recall;
  const Neighbors neighbors(out.points.x, resolved(metric, out.points.x, design, context.execution()),
                            Valid<SearchOptions>(by), context.execution());
  out.choice = neighbors.choice();
  out.recall = neighbors.recall();
  const Execution execution = context.execution();
  if (options.within)
    out.lists = query ? neighbors.within(out.asked.x, *options.within, execution)
                      : neighbors.within_own(*options.within, execution);
  else
    out.lists =
        query ? neighbors.nearest(out.asked.x, options.k, execution) : neighbors.nearest_own(options.k, execution);
  return out;
}

Table listed(const NeighborOptions& options, const Found& found, const Table& table, const Table* query) {
  std::vector<std::string> asked, row;
  std::vector<double> rank, distance;
  const Table& from = query ? *query : table;
  const auto& kept = query ? found.asked.kept : found.points.kept;
  for (Index i = 0; i < found.lists.count(); ++i) {
    const auto rows = found.lists.rows_of(i);
    const auto distances = found.lists.distances_of(i);
    for (std::size_t j = 0; j < rows.size(); ++j) {
      asked.push_back(name_of_row(from, kept, i, options.id));
      rank.push_back(static_cast<double>(j + 1));
      row.push_back(name_of_row(table, found.points.kept, rows[j], options.id));
      distance.push_back(distances[j]);
    }
  }
  return Table({text(query ? "query" : "of", std::move(asked)), numeric("rank", std::move(rank)),
                text("row", std::move(row)), numeric("distance", std::move(distance))});
}

void neighbors(const NeighborOptions& options, Context& context) {
  check_outputs({options.output.empty() ? "-" : options.output}, {options.data.data, options.query});
  const Table table = options.data.table(context);
  std::optional<Table> query;
  if (!options.query.empty()) {
    ReadOptions how = options.data.read_options(context);
    how.rows.clear();  // --rows are of DATA
    query = read_table(options.query, how);
  }
  const Found found = search(options, table, query ? &*query : nullptr, context);
  const Table out = listed(options, found, table, query ? &*query : nullptr);
  if (context.json) {
    Value document = Value::object();
    document.set("data", table.source());
    if (query) document.set("query", query->source());
    document.set("metric", options.metric);
    document.set("structure", found.choice);
    document.set("recall", found.recall);
    document.set("columns", to_value(out));
    return context.print_json(document);
  }
  context.note(fmt::format("note: {}", found.choice));
  write_rows(out, options.output, context);
}

}  // namespace

void add_neighbors(CLI::App& tool, Context& context) {
  auto options = std::make_shared<NeighborOptions>();
  auto* command = add_command(tool, "neighbors", "the nearest rows of each row, and how far they are");
  options->data.add(*command, "the rows to search among: CSV, .npy or LIBSVM file, '-', or a built-in data set");
  add_option(*command, "QUERY", options->query,
             "rows whose neighbours are wanted; without it those of each row of DATA, itself left out");
  add_option(*command, "--formula", options->formula,
             "what rows are compared by: '~ a + scale(b)' (default: all columns of numbers)");
  add_option(*command, "-k,--k", options->k, "how many neighbours")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_option(*command, "--within", options->within, "all rows at most that far, in the place of the k nearest");
  add_option(*command, "--metric", options->metric,
             "distance of two rows: euclidean, manhattan, chebyshev, minkowski(3), cosine, mahalanobis, gower …")
      ->capture_default_str();
  add_option(*command, "--structure", options->structure, "auto, brute_force, kd_tree, ball_tree or projections")
      ->capture_default_str();
  add_option(*command, "--epsilon", options->epsilon,
             "a neighbour may be farther than the true one by this share; 0: exact")
      ->capture_default_str();
  add_option(*command, "--recall", options->recall,
             "share of the true neighbours that is enough, among many points of many columns; 1: all of them")
      ->capture_default_str();
  add_option(*command, "--id", options->id, "a column that names the rows, in the place of their numbers");
  add_option(*command, "-o,--output", options->output, "where to write them (default: standard output)");
  command->footer(
      "Of rows equally far, those that come first in DATA are taken. All structures find the same rows to the last "
      "bit, but for projections: they find most of them, and say which share they found of the neighbours of a "
      "sample.\n"
      "Example: lemma neighbors iris --k 3 --rows 1:50");
  command->callback([options, &context] { neighbors(*options, context); });
}

}  // namespace lemma::app
