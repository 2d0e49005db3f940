// lemma/model/one_vs_rest.cpp
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {

Labels greatest_class(const MatrixView& values) {
  Labels out(static_cast<std::size_t>(values.rows()));
  for (Index i = 0; i < values.rows(); ++i) {
    Index best = 0;
    if (values.cols() == 1) best = values(i, 0) > 0 ? 1 : 0;
    else values.row(i).maxCoeff(&best);
    out[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return out;
}

Certificate certificate_of_sides(double wrong, long long updates, bool cancelled, std::string_view border,
                                 std::string_view advice) {
  Certificate out;
  out.strength = wrong == 0 ? Strength::optimal : Strength::none;
  out.kind = "rows on the wrong side";
  out.value = wrong;
  out.tolerance = 0;
  out.iterations = updates;
  out.stopped = wrong == 0 ? "a pass without a mistake" : cancelled ? "cancelled" : "pass limit";
  out.message = wrong == 0
                    ? fmt::format("Every row lies on its own side of the {}.", border)
                    : fmt::format("Nothing is claimed, because rows of weight {} lie on the wrong side of a {}. {}",
                                  format_significant(wrong), border, advice);
  return out;
}

}  // namespace lemma
