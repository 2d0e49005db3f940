// lemma/plot/model.hpp: pictures of a model: of its results, and of what it says of rows.
#pragma once
#include <lemma/model/train.hpp>
#include <lemma/plot/data.hpp>

namespace lemma::plot {

struct ModelPicture {
  std::string_view name, meaning;
  bool of_rows;  // it shows what the model says of rows, and needs some
};

/// All there are.
std::span<const ModelPicture> model_kinds();
/// Those that models of a method may have: what it declares of itself (its task, the parts of its predictions, its results) is what
/// pictures are made of. Help, reports and other front ends list them.
std::vector<ModelPicture> pictures_of(const Method& method);
/// Those of them that this model has, the most telling first.
std::vector<ModelPicture> pictures_of(const TrainedModel& trained);

/// Error for a kind that the model has not, or one that needs rows where none are given.
Figure draw(std::string_view kind, const TrainedModel& trained, const Table* rows = nullptr,
            const PlotOptions& options = {});

/// A picture and what its curve is to be called.
struct NamedFigure {
  std::string name;
  Figure figure;
};
/// Curves of several models in one panel: roc, precision_recall, lift. Error for other kinds.
Figure overlaid(std::string_view kind, std::span<const NamedFigure> figures);

}  // namespace lemma::plot
