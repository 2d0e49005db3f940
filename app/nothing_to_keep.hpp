// app/nothing_to_keep.hpp: work that a signal may end where it stands.
#pragma once

namespace lemma::app {

/// While one lives there is nothing to keep: a signal that asks for a stop ends the process at once, also where it waits for
/// a pipe that nobody writes to, or reads.
class NothingToKeep {
 public:
  NothingToKeep();
  ~NothingToKeep();
  NothingToKeep(const NothingToKeep&) = delete;
  NothingToKeep& operator=(const NothingToKeep&) = delete;

 private:
  bool before_;
};

}  // namespace lemma::app
