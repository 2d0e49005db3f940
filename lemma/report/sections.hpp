// lemma/report/sections.hpp: the sections of a report, one function each. Inner header of the room.
#pragma once
#include <lemma/report/candidates.hpp>
#include <lemma/report/findings.hpp>
#include <lemma/report/report.hpp>
#include <lemma/select/compare.hpp>
#include <lemma/validate/judge.hpp>

namespace lemma::reporting {

/// Up to so many rows are drawn where each is a mark, spread over all of them.
inline constexpr Index kMostDrawn = 1'500;
Table drawn_rows(const Table& table, Index most = kMostDrawn);

/// A picture of one panel, small enough for a phone.
plot::Figure compact(plot::Figure figure);

/// The columns with their types and numbers, and pictures of those that tell most.
Section data_section(const Table& table, const Design& design, const AloneScores& scores);
Section findings_section(const std::vector<Finding>& found);

/// Every method's scores, and whether it can be told from the best.
Section comparison_section(const MethodComparison& comparison, const Candidates& candidates);
/// "0.953 [0.948, 0.958]"
std::string score_text(double value, const std::optional<Bounds>& bounds);

/// Measures, with intervals where there are some, and those of each class.
void add_judgement(const Judgement& judgement, Section& section);
void add_certificate(const Certificate& certificate, const std::string& title, Section& section);
/// What the model prints of itself.
void add_summary(const TrainedModel& trained, Section& section);
/// Every picture that the model has and these rows allow.
void add_pictures(const TrainedModel& trained, const Table& rows, const Execution& execution, Section& section);

/// Version, seed, the hash of the rows, and what was typed.
Section repeat_section(const ReportOptions& options, const std::vector<std::pair<std::string, std::string>>& more);
std::string hash_text_of(const Table& table);

}  // namespace lemma::reporting
