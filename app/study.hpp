// app/study.hpp: DATA and FORMULA, and how rows are set apart: what cross, tune, compare, bootstrap and curve share.
#pragma once
#include "context.hpp"
#include "data_options.hpp"
#include "ledger_flags.hpp"

#include <lemma/validate/cross.hpp>

namespace lemma::app {

struct Study {
  std::string formula, missing, coding = "treatment", weights, task;
  DataOptions data;
  LedgerFlags ledger;
  std::string plan_name, group, time, fold;
  std::optional<double> folds, repeats, test, samples;
  bool stratify = false, no_stratify = false, leave_out_unseen = false;

  /// DATA, FORMULA, and what fit takes about them.
  void add(CLI::App& command);
  void add_plan(CLI::App& command);

  Formula parsed() const;
  std::shared_ptr<const TableStream> read(const Context& context) const;
  ExperimentOptions experiment(const Context& context) const;
  /// The plan as typed; flags that it does not look at are an Error.
  Plan plan() const;
  CrossOptions cross(const Context& context) const;
  /// Tells the ledger what the rows were used for.
  void record(RowsUsed use, const TableStream& stream, const std::string& method, const Context& context,
              const std::string& model_id = {}, const std::string& model = {}) const;
};

/// Leaks as warnings, the rest as notes.
void tell(const std::vector<Leak>& leaks, const std::vector<std::string>& notes, const Context& context);

}  // namespace lemma::app
