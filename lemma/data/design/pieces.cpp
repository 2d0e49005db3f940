// lemma/data/design/pieces.cpp: texts as counts of their pieces: kmers(sequence, 3).
//
// A text of m letters has m − k + 1 pieces of k letters, one from each place. The inner product of two rows of counts is
// the spectrum kernel. Pieces that no training row has get no column: they add nothing to an inner product with one.
#include <lemma/core/text.hpp>
#include <lemma/data/design/parts.hpp>

namespace lemma {

void for_each_piece(std::string_view text, int letters, const std::function<void(std::string_view piece)>& visit) {
  std::vector<std::size_t> place;  // where each letter begins, and the end
  for (std::size_t at = 0; at < text.size();) {
    place.push_back(at);
    at += std::max<std::size_t>(1, first_character(text.substr(at)).bytes);
  }
  place.push_back(text.size());
  const auto k = static_cast<std::size_t>(letters);
  for (std::size_t i = 0; i + k < place.size(); ++i) visit(text.substr(place[i], place[i + k] - place[i]));
}

PieceCounter::PieceCounter(const Variable& variable) : letters_(variable.degree) {
  for (std::size_t i = 0; i < variable.levels.size(); ++i) column_.emplace(variable.levels[i], static_cast<Index>(i));
}

std::vector<std::pair<Index, double>> PieceCounter::counts(std::string_view text) const {
  std::map<Index, double> found;
  for_each_piece(text, letters_, [&](std::string_view piece) {
    if (const auto known = column_.find(piece); known != column_.end()) found[known->second] += 1;
  });
  return {found.begin(), found.end()};
}

}  // namespace lemma
