// app/commands.hpp: the subcommands, one file each.
#pragma once
#include "context.hpp"

namespace CLI {
class App;
}

namespace lemma::app {

// Each adds its subcommand to the tool and what to do when it is chosen.
void add_describe(CLI::App& tool, Context& context);
void add_split(CLI::App& tool, Context& context);
void add_fit(CLI::App& tool, Context& context);
void add_predict(CLI::App& tool, Context& context);
void add_evaluate(CLI::App& tool, Context& context);
void add_cross(CLI::App& tool, Context& context);
void add_tune(CLI::App& tool, Context& context);
void add_compare(CLI::App& tool, Context& context);
void add_bootstrap(CLI::App& tool, Context& context);
void add_score_curves(CLI::App& tool, Context& context);
void add_curve(CLI::App& tool, Context& context);
void add_decide(CLI::App& tool, Context& context);
void add_generate(CLI::App& tool, Context& context);
void add_risk(CLI::App& tool, Context& context);
void add_bound(CLI::App& tool, Context& context);
void add_bias_variance(CLI::App& tool, Context& context);
void add_ledger(CLI::App& tool, Context& context);
void add_show(CLI::App& tool, Context& context);
void add_sample(CLI::App& tool, Context& context);
void add_images(CLI::App& tool, Context& context);
void add_vq(CLI::App& tool, Context& context);
void add_effect(CLI::App& tool, Context& context);
void add_update(CLI::App& tool, Context& context);
void add_verify(CLI::App& tool, Context& context);
void add_anova(CLI::App& tool, Context& context);
void add_select(CLI::App& tool, Context& context);
void add_plot(CLI::App& tool, Context& context);
void add_report(CLI::App& tool, Context& context);
void add_methods(CLI::App& tool, Context& context);
void add_datasets(CLI::App& tool, Context& context);
void add_completion(CLI::App& tool, Context& context);
void add_man(CLI::App& tool, Context& context);

/// Moves the parameters of the method that `fit` names from the arguments to the context, before the arguments are parsed:
/// only the method knows which of them take a value.
void take_method_params(const CLI::App& tool, std::vector<std::string>& arguments, Context& context);

/// `curve learning` and `curve validation` are learning_curve and validation_curve.
void join_curve_words(std::vector<std::string>& arguments);

/// `lemma --version`, and with --verbose the libraries and kernels behind it.
std::string version_text(bool verbose);

}  // namespace lemma::app
