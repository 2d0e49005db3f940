// lemma/report/model_section.cpp: one model: how good it is, its evidence, what it says of itself, its pictures.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/core/version.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/plot/model.hpp>
#include <lemma/report/sections.hpp>

namespace lemma::reporting {
namespace {

std::string strength_text(Strength strength) {
  switch (strength) {
    case Strength::optimal: return "optimal, there is no better one";
    case Strength::stationary: return "stationary, no small step makes it better";
    case Strength::consistent: return "consistent, its own rule gives it again";
    default: return "nothing is claimed";
  }
}

/// A curve over all rows is exact however many there are; where rows are marks, some stand for all.
bool takes_all_rows(std::string_view kind) {
  constexpr std::array<std::string_view, 5> kCurves{"roc", "precision_recall", "lift", "calibration", "confusion"};
  return std::find(kCurves.begin(), kCurves.end(), kind) != kCurves.end();
}

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return (std::isalnum(c) && c < 128) ||
           std::string_view("_./:=+,@%-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string command_line(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + shell_word(word);
  return out;
}

plot::Figure compact(plot::Figure figure) {
  if (figure.panels.size() > 1 || figure.panels.empty()) return figure;
  const bool names = figure.panels[0].y.kind == plot::ScaleKind::factor;  // a row of pixels for each
  figure.width = std::min(figure.width, figure.legend.entries.empty() && !figure.legend.ramp ? 520.0 : 600.0);
  if (!names) figure.height = std::min(figure.height, 380.0);
  return figure;
}

void add_judgement(const Judgement& judgement, Section& section) {
  Sheet sheet{fmt::format("How good it is on {}", count_of(judgement.rows, "row")),
              {{"measure", {}}, {"value", {}, true}, {"95 % interval", {}, true}, {"meaning", {}}}};
  for (const Measure& each : judgement.measures) {
    if (std::isnan(each.value)) continue;
    sheet.columns[0].cells.push_back(each.name);
    sheet.columns[1].cells.push_back(format_significant(each.value, 4));
    sheet.columns[2].cells.push_back(each.bounds ? fmt::format("[{}, {}]", format_significant(each.bounds->lower, 4),
                                                               format_significant(each.bounds->upper, 4))
                                                 : "");
    sheet.columns[3].cells.push_back(each.meaning);
  }
  if (sheet.rows() > 0) section.blocks.emplace_back(std::move(sheet));
  if (judgement.per_class.size() != judgement.classes.size() || judgement.classes.empty()) return;
  Sheet classes{"By class",
                {{"class", {}}, {"rows", {}, true}, {"precision", {}, true}, {"recall", {}, true}, {"F1", {}, true}}};
  for (std::size_t k = 0; k < judgement.classes.size(); ++k) {
    const ClassScore& each = judgement.per_class[k];
    classes.columns[0].cells.push_back(judgement.classes[k]);
    classes.columns[1].cells.push_back(format_significant(each.rows, 6));
    std::size_t column = 2;
    for (const double value : {each.precision, each.recall, each.f1})
      classes.columns[column++].cells.push_back(std::isnan(value) ? "" : format_fixed(value, 3));
  }
  section.blocks.emplace_back(std::move(classes));
}

void add_certificate(const Certificate& certificate, const std::string& title, Section& section) {
  const std::string sentence = residues_bounded(certificate.message);
  if (!certificate.claims()) {
    section.blocks.emplace_back(Notice{Notice::Kind::note, title + ": nothing is claimed", sentence});
    return;
  }
  section.blocks.emplace_back(Notice{certificate.holds() ? Notice::Kind::good : Notice::Kind::warning,
                                     fmt::format("{} {}: {}", title, certificate.holds() ? "holds" : "DOES NOT HOLD",
                                                 strength_text(certificate.strength)),
                                     fmt::format("{} Measured by: {}, {} (allowed {}).", sentence, certificate.kind,
                                                 residue_text(certificate.value, certificate.tolerance, 3),
                                                 format_significant(certificate.tolerance, 3))});
}

void add_summary(const TrainedModel& trained, Section& section) {
  for (const auto& warning : trained.model->warnings())
    section.blocks.emplace_back(Notice{Notice::Kind::warning, "The fit warns", warning});
  for (const auto& note : trained.notes) section.blocks.emplace_back(Paragraph{"Note of the fit: " + note + "."});
  std::string text = trained.model->summary(trained.names());
  constexpr std::size_t kMost = 12'000;
  if (text.size() > kMost) {
    text.resize(text.rfind('\n', kMost));
    text += "\n… (`lemma show` prints all of it)";
  }
  section.blocks.emplace_back(Code{"What the model says of itself", text});
}

void add_pictures(const TrainedModel& trained, const Table& rows, const Execution& execution, Section& section) {
  const auto all = plot::pictures_of(trained);
  const Table some = drawn_rows(rows);
  double done = 0;
  const bool biplot = std::ranges::any_of(all, [](const auto& each) { return each.name == "biplot"; });
  for (const plot::ModelPicture& each : all) {
    if (each.name == "scores" && biplot) continue;  // the same points
    execution.report(done++ / static_cast<double>(all.size()), fmt::format("drawing {}", each.name));
    ask();
    try {
      plot::Figure figure =
          plot::draw(each.name, trained, each.of_rows ? (takes_all_rows(each.name) ? &rows : &some) : nullptr);
      figure.title = std::string(each.name);
      std::replace(figure.title.begin(), figure.title.end(), '_', ' ');
      figure.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(figure.title[0])));
      section.blocks.emplace_back(Picture{std::string(each.name), compact(std::move(figure))});
    } catch (const Error& error) {
      section.blocks.emplace_back(
          Paragraph{fmt::format("The picture `{}` is not drawn: {}.", each.name, error.what())});
    }
  }
}

std::string hash_text_of(const Table& table) {
  std::uint64_t hash = hash_text(fmt::format("{} rows", table.rows()));
  for (const Column& column : table.all()) {
    ask();
    hash = hash_text(column.name, hash);
    if (column.type() == ColumnType::numeric) hash = hash_numbers(column.numbers().values, hash);
    else
      for (Index i = 0; i < column.rows(); ++i)
        hash = hash_text(column.is_missing(i) ? std::string("\x1f") : column.text(i), hash);
  }
  return fmt::format("{:016x}", hash);
}

Section repeat_section(const ReportOptions& options, const std::vector<std::pair<std::string, std::string>>& more) {
  Section out{"repeat", "How to repeat it"};
  Sheet sheet{"What this page was made from", {{"what", {}}, {"value", {}}}};
  const auto add = [&](const std::string& what, const std::string& value) {
    sheet.columns[0].cells.push_back(what), sheet.columns[1].cells.push_back(value);
  };
  for (const auto& [what, value] : more) add(what, value);
  add("seed", std::to_string(options.seed));
  add("Lemma", fmt::format("{}, {} kernels", kVersion, simd::level()));
  out.blocks.emplace_back(std::move(sheet));
  if (!options.command.empty()) out.blocks.emplace_back(Code{"The command that made this page", options.command});
  out.blocks.emplace_back(Paragraph{
      "The same data, seed, version and kernels give this page again, byte for byte, on any number of threads."});
  return out;
}

}  // namespace lemma::reporting
