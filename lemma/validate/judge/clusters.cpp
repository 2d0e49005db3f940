// lemma/validate/judge/clusters.cpp: clusters judged by the rows alone, and beside given classes.
#include <algorithm>
#include <fmt/core.h>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/model/pipeline.hpp>
#include <lemma/validate/judge/parts.hpp>

namespace lemma::judging {
namespace {

/// The rows before the last step of a pipeline. Looks at the rows, which must outlive it.
class LastStepRows {
 public:
  LastStepRows(const AnyModel& model, const Rows& rows, const Execution& execution) : last_(&rows) {
    const auto steps = steps_of(model);
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      name_ += (name_.empty() ? "" : " | ") + steps[i]->method().name();
      made_.push_back(std::make_unique<TransformedRows>(*last_, steps[i], execution));
      if (i > 0) made_[i - 1]->forget();
      last_ = made_.back().get();
    }
  }
  const Rows& rows() const { return *last_; }
  const std::string& name() const { return name_; }  // of the steps before; empty: there are none

 private:
  const Rows* last_;
  std::string name_;
  std::vector<std::unique_ptr<TransformedRows>> made_;
};

/// The clusters of rows that have one. Rows of none (noise) weigh nothing in what is measured in and between clusters.
struct InClusters {
  explicit InClusters(const Labels& predicted) : clusters(predicted) {
    for (std::size_t i = 0; i < clusters.size(); ++i)
      if (clusters[i] < 0) clusters[i] = 0, noise.push_back(static_cast<Index>(i));
  }
  Vector weight_of(Vector rows) const {
    for (const Index i : noise) rows(i) = 0;
    return rows;
  }
  Labels clusters;
  std::vector<Index> noise;
};

const AnyModel& last_step(const AnyModel& model) {
  const auto steps = steps_of(model);
  return steps.empty() ? model : steps.back();
}

/// What the last step has stored under a name; nothing where there is none.
Vector stored(const AnyModel& model, std::string_view name) {
  const Value all = last_step(model)->save();
  const Value* found = all.find(name);
  return found ? found->as_vector() : Vector();
}

bool by_dissimilarities(const AnyModel& model) {
  const Value params = last_step(model)->params();
  const Value* input = params.find("input");
  return input && input->is_string() && input->as_string() == "square";
}

std::vector<double> sorted(const Vector& numbers) {
  std::vector<double> out(numbers.begin(), numbers.end());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

bool tells_of_its_own_rows(const AnyModel& model) {
  if (model->task() != Task::clustering || gives(model, kClusterPart)) return false;
  const Vector prints = stored(model, "prints");
  return prints.size() > 0 && prints.size() == stored(model, "labels").size();
}

Labels own_clusters(const AnyModel& model, const Rows& rows, const Execution& execution) {
  const Vector labels = stored(model, "labels"), prints = stored(model, "prints");
  const LastStepRows space(model, rows, execution.part(0, 0.5));
  const Matrix x = gather(space.rows(), execution.part(0.5, 1));
  if (x.rows() != prints.size() || sorted(prints_of(x)) != sorted(prints))
    throw Error(
        fmt::format("{} says nothing of other rows than the {} of its fit, and these {} are not the same; judge it on "
                    "those, or take a method that gives new rows to its clusters (kmeans, gmm, dbscan)",
                    model->method().name(), format_count(prints.size()), format_count(x.rows())));
  const std::vector<Index> places = places_by_prints(prints, x);
  Labels out(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    out[at(places[i])] = static_cast<int>(labels(static_cast<Index>(i))) - 1;
  return out;
}

void measure_clusters(const AnyModel& model, const Rows& rows, const Answers& answers, const Execution& execution,
                      Judgement& out) {
  const LastStepRows space(model, rows, execution.part(0, 0.2));
  out.space = space.name();
  const InClusters in(answers.predicted);
  const Vector given = answers.weight.size() > 0 ? answers.weight : Vector::Ones(space.rows().count()).eval();
  const Vector weight = in.weight_of(given);
  const double all = given.sum();
  const bool noise = weight.sum() < all;
  if (by_dissimilarities(model))
    out.notes.push_back(
        "dissimilarities are given, and no rows to measure scatter by: the clusters are held against the truth alone");
  else if (weight.sum() > 0)
    out.measures = validity_measures(space.rows(), in.clusters, noise ? weight : answers.weight,
                                     execution.part(0.2, 1, execution.message));
  if (noise)
    out.measures.push_back({"noise",
                            1 - weight.sum() / all,
                            "share of the rows that belong to no cluster; the others are measured",
                            false,
                            {}});
  if (!answers.truth) return;
  const auto& [name, classes, labels] = *answers.truth;
  for (auto& measure : agreement_measures(labels, answers.predicted, answers.weight))
    out.measures.push_back(std::move(measure));
  Matrix counts = contingency(labels, answers.predicted, answers.weight);
  out.clusters = ClassesInClusters{name, classes, Matrix::Zero(static_cast<Index>(classes.size()), counts.cols())};
  out.clusters->counts.topRows(counts.rows()) = counts;  // classes of rows that were left out have none
  if (noise) out.notes.push_back("rows of no cluster are the last column of the table");
}

void add_cluster_bounds(const AnyModel& model, const Rows& rows, const Answers& answers, const JudgeOptions& options,
                        const Execution& execution, Judgement& out) {
  if (out.task != Task::clustering || by_dissimilarities(model)) return;
  const LastStepRows space(model, rows, execution.part(0, 0.1));
  const InClusters in(answers.predicted);
  const Index drawn =
      draw_bounds(out.measures, out.rows, answers.weight, 2, options, execution.part(0.1, 1), [&](const Vector& times) {
        return scatter_measures(cluster_scatter(space.rows(), in.clusters, in.weight_of(times)));
      });
  out.bootstrap = std::max(out.bootstrap, drawn);
}

}  // namespace lemma::judging
