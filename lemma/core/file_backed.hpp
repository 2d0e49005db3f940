// lemma/core/file_backed.hpp: arrays that the system can write out while others need the memory.
#pragma once
#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

namespace lemma {

enum class Lies { in_memory, in_a_file };

/// Arrays in files begin with this many bytes: smaller ones are not worth one.
constexpr std::size_t kLeastFile = std::size_t{16} << 20;

/// So many bytes, all 0, of a nameless file mapped into memory; of memory where there can be no such file, or the disk has no room
/// for it. std::bad_alloc where there is no memory either.
void* map_bytes(std::size_t bytes);
void unmap_bytes(void* begin, std::size_t bytes) noexcept;

/// An allocator. What lies in a file is read and written as memory is: parts that were not used for long leave memory when it is
/// wanted elsewhere, and come back when they are used. It counts as the process's memory only as long as there is room.
template <class T>
class FileBacked {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  FileBacked(Lies where = Lies::in_memory) : where_(where) {}
  template <class Other>
  FileBacked(const FileBacked<Other>& other) : where_(other.where()) {}
  Lies where() const { return where_; }

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    return static_cast<T*>(in_a_file(bytes) ? map_bytes(bytes) : ::operator new(bytes));
  }
  void deallocate(T* begin, std::size_t count) noexcept {
    const std::size_t bytes = count * sizeof(T);
    if (in_a_file(bytes)) unmap_bytes(begin, bytes);
    else ::operator delete(begin);
  }
  bool operator==(const FileBacked& other) const { return where_ == other.where_; }

 private:
  bool in_a_file(std::size_t bytes) const { return where_ == Lies::in_a_file && bytes >= kLeastFile; }
  Lies where_;
};

/// A vector that may lie in a file: Kept<double> y(n, 0.0, Lies::in_a_file).
template <class T>
using Kept = std::vector<T, FileBacked<T>>;

}  // namespace lemma
