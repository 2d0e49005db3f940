// lemma/data/row_cache.cpp
#include <lemma/core/error.hpp>
#include <lemma/core/nameless_file.hpp>
#include <lemma/data/row_cache.hpp>
#include <unistd.h>

namespace lemma {
namespace {

bool write_all(int file, const void* from, std::size_t bytes, off_t at) {
  const char* p = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(file, p, bytes, at);
    if (done <= 0) return false;
    p += done;
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

bool read_all(int file, void* to, std::size_t bytes, off_t at) {
  char* p = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t done = ::pread(file, p, bytes, at);
    if (done <= 0) return false;
    p += done;
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

}  // namespace

RowCache::RowCache(Index rows, Index width, Parts parts)
    : rows_(rows),
      width_(width),
      parts_(parts),
      row_bytes_(sizeof(double) * static_cast<std::size_t>(width + parts.y + parts.weight + parts.precision +
                                                           parts.offset + parts.responses) +
                 sizeof(std::uint64_t) * static_cast<std::size_t>(parts.cluster) +
                 sizeof(int) * static_cast<std::size_t>(parts.label)),
      file_(nameless_file()),
      state_(std::make_unique<std::atomic<State>[]>(static_cast<std::size_t>((rows + kRows - 1) / kRows))) {}

RowCache::~RowCache() {
  if (file_ >= 0) ::close(file_);
}

bool RowCache::fits(const BlockBuffer& buffer) const {
  return parts_.y == !buffer.y.empty() && parts_.label == !buffer.label.empty() &&
         parts_.weight == !buffer.weight.empty() && parts_.precision == !buffer.precision.empty() &&
         parts_.offset == !buffer.offset.empty() && (parts_.responses > 0) == !buffer.responses.empty() &&
         parts_.cluster == !buffer.cluster.empty();
}

/// A chunk lies part after part: its rows of x, then y, several responses, weight, precision, offset, cluster, label of each.
void RowCache::read(Index chunk, Index skip, Index take, Index at, BlockBuffer& buffer) const {
  const auto rows = static_cast<std::size_t>(rows_of(chunk)), from = static_cast<std::size_t>(skip),
             count = static_cast<std::size_t>(take);
  auto place = static_cast<off_t>(static_cast<std::size_t>(chunk * kRows) * row_bytes_);
  const std::size_t x_bytes = sizeof(double) * static_cast<std::size_t>(width_);
  bool good = read_all(file_, buffer.x.row(at).data(), count * x_bytes, place + static_cast<off_t>(from * x_bytes));
  place += static_cast<off_t>(rows * x_bytes);
  const auto append = [&]<class T>(Index each, std::vector<T>& into) {
    if (each == 0 || !good) return;
    const std::size_t before = into.size(), many = static_cast<std::size_t>(each), bytes = many * sizeof(T);
    into.resize(before + count * many);
    good = read_all(file_, into.data() + before, count * bytes, place + static_cast<off_t>(from * bytes));
    place += static_cast<off_t>(rows * bytes);
  };
  append(parts_.y, buffer.y);
  append(parts_.responses, buffer.responses);
  append(parts_.weight, buffer.weight);
  append(parts_.precision, buffer.precision);
  append(parts_.offset, buffer.offset);
  append(parts_.cluster, buffer.cluster);
  append(parts_.label, buffer.label);
  if (!good) throw MachineError("rows that were put aside in a temporary file cannot be read back");
}

bool RowCache::wants(Index chunk) {
  if (file_ < 0 || full_) return false;
  auto& state = state_[static_cast<std::size_t>(chunk)];
  State was = State::unseen;
  if (state.compare_exchange_strong(was, State::seen)) return false;
  was = State::seen;
  return state.compare_exchange_strong(was, State::busy);
}

void RowCache::write(Index chunk, Index at, const BlockBuffer& buffer) {
  const auto rows = static_cast<std::size_t>(rows_of(chunk)), from = static_cast<std::size_t>(at);
  auto place = static_cast<off_t>(static_cast<std::size_t>(chunk * kRows) * row_bytes_);
  const std::size_t x_bytes = rows * sizeof(double) * static_cast<std::size_t>(width_);
  bool good = fits(buffer) && write_all(file_, buffer.x.row(at).data(), x_bytes, place);
  place += static_cast<off_t>(x_bytes);
  const auto put = [&]<class T>(Index each, const std::vector<T>& values) {
    if (each == 0 || !good) return;
    const std::size_t many = static_cast<std::size_t>(each), bytes = rows * many * sizeof(T);
    good = write_all(file_, values.data() + from * many, bytes, place);
    place += static_cast<off_t>(bytes);
  };
  put(parts_.y, buffer.y);
  put(parts_.responses, buffer.responses);
  put(parts_.weight, buffer.weight);
  put(parts_.precision, buffer.precision);
  put(parts_.offset, buffer.offset);
  put(parts_.cluster, buffer.cluster);
  put(parts_.label, buffer.label);
  if (!good) full_ = true;
  state_[static_cast<std::size_t>(chunk)] = good ? State::kept : State::unseen;
}

}  // namespace lemma
