// lemma/data/csv/doors.hpp: locks of the columns' states.
#pragma once
#include <array>
#include <lemma/data/csv/reader.hpp>
#include <mutex>

namespace lemma::csv {

/// A column's state is entered by one piece at a time; columns share the doors, so that each costs nothing.
struct Reader::Doors {
  std::mutex& of(std::size_t column) { return doors[column % doors.size()]; }
  std::array<std::mutex, 64> doors;
};

}  // namespace lemma::csv
