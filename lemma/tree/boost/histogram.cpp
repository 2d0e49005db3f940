// lemma/tree/boost/histogram.cpp
#include <algorithm>
#include <cmath>
#include <lemma/tree/boost/histogram.hpp>
#include <mutex>

namespace lemma::boost {
namespace {

constexpr Index kTask = 16384;  // rows that a thread adds at a time
constexpr Index kAhead = 24;    // rows whose memory is asked for before they are needed
constexpr Index kGroup = 16;    // columns whose histograms stay in the nearest cache

/// Where the bins of consecutive columns begin, the first of them at 0: anywhere, or each kWholeRoom behind the one before, so that the
/// place of a bin is its code and a constant.
struct AnyRoom {
  const std::uint32_t* first;
  std::uint32_t operator()(Index j) const { return first[j] - first[0]; }
};
struct WholeRoom {
  const std::uint32_t* first;
  constexpr std::uint32_t operator()(Index j) const { return static_cast<std::uint32_t>(j) * BinnedRows::kWholeRoom; }
};

/// A few columns of one byte each, from the code `from` of a row on.
template <class Entry, Index Columns, class Room>
void add_narrow(const BinnedRows& rows, std::span<const std::uint32_t> which, const Entry* slopes, Index from,
                const Room& room, Entry* histogram) {
  Entry* const begin = histogram + room.first[0];
  const std::uint8_t* const codes = rows.narrow_rows.data() + from;
  const Index stride = rows.narrow_stride, count = std::ssize(which);
  const auto add = [&](std::uint32_t row) {
    const std::uint8_t* const code = codes + row * stride;
    const Entry slope = slopes[row];
#pragma GCC unroll 16
    for (Index j = 0; j < Columns; ++j) begin[room(j) + code[j]] += slope;
  };
  Index i = 0;
  for (; i + kAhead < count; ++i) {
    __builtin_prefetch(codes + which[at(i + kAhead)] * stride);
    __builtin_prefetch(slopes + which[at(i + kAhead)]);
    add(which[at(i)]);
  }
  for (; i < count; ++i) add(which[at(i)]);
}

template <class Entry>
void add_wide(const BinnedRows& rows, std::span<const std::uint32_t> which, const Entry* slopes,
              const std::uint32_t* first, Entry* histogram) {
  const Index columns = std::ssize(rows.wide);
  for (const std::uint32_t row : which) {
    const std::uint16_t* const code = rows.wide_rows.data() + static_cast<Index>(row) * columns;
    const Entry slope = slopes[row];
    for (Index j = 0; j < columns; ++j) histogram[first[j] + code[j]] += slope;
  }
}

template <class Entry>
void add_rows(const BinnedRows& rows, std::span<const std::uint32_t> which, const Entry* slopes,
              const std::uint32_t* first, Entry* histogram) {
  Index from = 0;
  for (const Index columns = std::ssize(rows.narrow); from < columns;) {
    const auto add = [&]<Index Columns>() {
      bool whole = true;
      for (Index j = 1; j < Columns; ++j)
        whole = whole && first[from + j] == first[from + j - 1] + BinnedRows::kWholeRoom;
      if (whole) add_narrow<Entry, Columns>(rows, which, slopes, from, WholeRoom{first + from}, histogram);
      else add_narrow<Entry, Columns>(rows, which, slopes, from, AnyRoom{first + from}, histogram);
      from += Columns;
    };
    const Index left = columns - from;
    if (left >= 28 && left < 32) add.template operator()<14>();
    else if (left >= kGroup) add.template operator()<kGroup>();
    else if (left >= 14) add.template operator()<14>();
    else if (left >= 8) add.template operator()<8>();
    else if (left >= 4) add.template operator()<4>();
    else if (left >= 2) add.template operator()<2>();
    else add.template operator()<1>();
  }
  if (!rows.wide.empty()) add_wide(rows, which, slopes, first + rows.narrow.size(), histogram);
}

}  // namespace

double unit_for(double sum, int bits) {
  if (!(sum > 0)) return 1;
  return std::ldexp(1.0, std::ilogb(sum) + 1 - bits);
}

template <class Entry>
void add_to_histogram(const BinnedRows& rows, std::span<const std::uint32_t> which, const Entry* slopes,
                      std::span<Entry> histogram, const Execution& execution) {
  std::vector<std::uint32_t> first;
  for (const auto* part : {&rows.narrow, &rows.wide})
    for (const Index j : *part) first.push_back(rows.columns[at(j)].first);
  const int threads = threads_of(execution);
  const Index most = std::max<Index>(1, std::ssize(which) / std::max<Index>(4096, std::ssize(histogram) / 4));
  const Index tasks = std::min<Index>({Index{threads}, most, (std::ssize(which) + kTask - 1) / kTask});
  if (tasks <= 1) return add_rows(rows, which, slopes, first.data(), histogram.data());
  std::mutex merging;
  parallel_for(tasks, execution, [&](Index task) {  // sums of whole numbers: any share of the rows may be any thread's
    const std::size_t begin = which.size() * at(task) / at(tasks), end = which.size() * at(task + 1) / at(tasks);
    std::vector<Entry> own(histogram.size());
    add_rows(rows, which.subspan(begin, end - begin), slopes, first.data(), own.data());
    const std::lock_guard lock(merging);
    for (std::size_t b = 0; b < own.size(); ++b) histogram[b] += own[b];
  });
}

template <class Entry>
void subtract(std::span<Entry> of, std::span<const Entry> part) {
  for (std::size_t b = 0; b < of.size(); ++b) of[b] -= part[b];
}

template void add_to_histogram(const BinnedRows&, std::span<const std::uint32_t>, const Packed*, std::span<Packed>,
                               const Execution&);
template void add_to_histogram(const BinnedRows&, std::span<const std::uint32_t>, const Exact*, std::span<Exact>,
                               const Execution&);
template void subtract(std::span<Packed>, std::span<const Packed>);
template void subtract(std::span<Exact>, std::span<const Exact>);

}  // namespace lemma::boost
