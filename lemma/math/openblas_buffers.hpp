// lemma/math/openblas_buffers.hpp: calls of OpenBLAS where memory is short. Inner header of blas.cpp and openblas.cpp.
#pragma once

namespace lemma {

/// MachineError, with what is needed, when the library and the buffer that it maps as it is loaded find no room: it would
/// try for ever.
void require_room_for_blas();

/// Held while OpenBLAS is called. Each call that runs at the same time takes a buffer of its own, which is mapped on its
/// first use and never given back; where that fails OpenBLAS tries again for ever. So buffers are mapped here, one more
/// whenever all are in use and there is room; where there is none, or no CPU is left for another call, calls wait for
/// each other.
class BlasTurn {
 public:
  BlasTurn();
  ~BlasTurn();
  BlasTurn(const BlasTurn&) = delete;
  BlasTurn& operator=(const BlasTurn&) = delete;
};

/// A call of one of some routines, for which it is OpenBLAS's turn until the end of the statement.
template <class Routines>
class BlasCall {
 public:
  explicit BlasCall(const Routines& routines) : routines_(routines) {}
  const Routines* operator->() const { return &routines_; }

 private:
  const Routines& routines_;
  BlasTurn turn_;
};

}  // namespace lemma
