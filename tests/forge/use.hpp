// tests/forge/use.hpp: everything that the tool does with a model file, done with one that may be forged.
#pragma once
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/data/stream/rows.hpp>
#include <lemma/model/store.hpp>
#include <lemma/select/anova.hpp>
#include <lemma/validate/judge.hpp>

namespace lemma::forge {

/// What went wrong: something that is neither an answer nor an Error.
using Report = std::function<void(const std::string& what)>;

/// The model may refuse (Error); all else is reported.
inline void attempt(const char* what, const Report& report, auto&& work) {
  try {
    work();
  } catch (const Error&) {
  } catch (const std::exception& error) { report(std::string(what) + " threw " + error.what()); }
}

/// The parts of a prediction are as many as the rows and as the names that front ends have for them.
inline void check_prediction(const TrainedModel& model, const Prediction& p, Index rows, const Report& report) {
  const auto must = [&](bool holds, const char* what) {
    if (!holds) report(what);
  };
  const auto classes = static_cast<Index>(model.design.classes().size());
  for (const PredictedPart& part : p.parts()) {
    must(part.rows() == rows, "a prediction has not one row for each row");
    must(part.info.columns != PartColumns::classes || part.width() <= std::max<Index>(classes, 1),
         "there are more columns than classes");
    must(part.columns.empty() || static_cast<Index>(part.columns.size()) == part.width(),
         "there is not one name for each column");
    if (!part.info.of_classes) continue;
    for (const int label : std::get<Labels>(part.data))
      must(label >= 0 && label < classes, "a label is none of the classes");
  }
  must(p.probabilities().size() == 0 || p.probabilities().cols() == classes,
       "there is not one probability for each class");
}

inline void use_predictions(const TrainedModel& model, const Table& table, const Report& report) {
  const DesignData data = model.design.apply(table);
  for (const IntervalKind interval : {IntervalKind::none, IntervalKind::confidence, IntervalKind::prediction})
    for (const bool deviations : {false, true})
      attempt("predict", report, [&] {
        PredictOptions options;
        options.what = {"all"};
        options.interval = interval;
        options.deviations = deviations;
        check_prediction(model, model.predict(data, options), data.x.rows(), report);
      });
  attempt("samples", report, [&] {
    PredictOptions options;
    options.samples = SampleOptions{};
    check_prediction(model, model.predict(data, options), data.x.rows(), report);
  });
  attempt("diagnostics", report, [&] {
    if (!data.has_response) return;
    BlockBuffer buffer;
    const DesignRows rows(model.design, data);
    for (const auto& column : model.model->diagnostics(rows.read(0, rows.count(), buffer)))
      if (column.values.size() != rows.count()) report("a diagnostic has not one number for each row");
  });
}

inline void use_transformation(const TrainedModel& model, const Report& report) {
  attempt("output names", report, [&] {
    const auto names = model.model->output_names(model.design.features());
    if (static_cast<Index>(names.size()) != model.model->output_width())
      report("there is not one name for each column that comes out");
  });
  attempt("transform", report, [&] {
    const Matrix z = model.model->transform(Matrix::Constant(2, model.model->width(), 0.5));
    if (z.cols() != model.model->output_width()) report("other columns come out than the model says");
  });
  attempt("inverse", report, [&] {
    const Matrix x = model.model->inverse(Matrix::Constant(2, model.model->output_width(), 0.5));
    if (x.cols() != model.model->width()) report("the inverse has other columns than went in");
  });
}

inline void use_measures(const TrainedModel& model, const Table& table, const Report& report) {
  attempt("judge", report, [&] {
    JudgeOptions how;
    how.missing = Missing::drop;
    how.execution.threads = 1;
    const Judgement found = judge(model, table, how);
    to_json(to_value(found));
    text(found);
  });
}

/// predict with all it offers, show, verify, evaluate, anova, update, and writing it again.
inline void use(const TrainedModel& model, const Table& table, const Report& report) {
  const MemoryTableStream stream(table);
  Execution execution;
  execution.threads = 1;
  attempt("summary", report, [&] { model.model->summary(model.names()); });
  attempt("results", report, [&] { to_json(model.model->results(model.names())); });
  attempt("one row", report, [&] {
    check_prediction(model, model.model.predict(Matrix::Constant(1, model.model->width(), 0.5)), 1, report);
  });
  attempt("predictions", report, [&] { use_predictions(model, table, report); });
  attempt("affine", report, [&] { model.model->affine(); });
  use_transformation(model, report);
  use_measures(model, table, report);
  attempt("verify", report, [&] { model.verify(stream, {}, execution); });
  attempt("wald", report, [&] { wald_tests(model).str(); });
  attempt("update", report, [&] {
    CallOptions options;
    options.threads = 1;
    const TrainedModel after = model.update(stream, options);
    after.model->summary(after.names());
    encode(after);
  });
  try {
    const auto bytes = encode(model);  // what was loaded can be written, and read again
    decode(bytes, catalog());
  } catch (const std::exception& error) { report(std::string("cannot be written and read again: ") + error.what()); }
}

/// Whether the document is a model; then it is used.
inline bool load_and_use(const Value& document, const Table& table, const Report& report) {
  std::vector<std::uint8_t> body;
  try {
    body = to_cbor(document);
  } catch (const Error&) { return false; }  // no file: a text that is not UTF-8
  try {
    const TrainedModel model = decode_body(body, catalog(), "model.lemma");
    use(model, table, report);
    return true;
  } catch (const Error&) { return false; } catch (const std::exception& error) {
    report(std::string("loading threw ") + error.what());
    return false;
  }
}

}  // namespace lemma::forge
