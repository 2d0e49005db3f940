// lemma/data/csv/packed.cpp
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv/packed.hpp>
#include <memory>
#include <zlib.h>
#ifdef LEMMA_HAS_XZ
#include <lzma.h>
#endif
#ifdef LEMMA_HAS_ZSTD
#include <zstd.h>
#endif

namespace lemma {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;

struct Kind {
  Packing packing;
  std::string_view name, mark, ending, command;
};
constexpr std::array<Kind, 5> kKinds = {{{Packing::gzip, "gzip", "\x1f\x8b", ".gz", "gunzip -k"},
                                         {Packing::xz, "xz",
                                          "\xFD"
                                          "7zXZ",
                                          ".xz", "xz -dk"},
                                         {Packing::zstd, "zstd", "\x28\xB5\x2F\xFD", ".zst", "zstd -d"},
                                         {Packing::bzip2, "bzip2", "BZh", ".bz2", "bunzip2 -k"},
                                         {Packing::zip, "zip", "PK\x03\x04", ".zip", "unzip"}}};

const Kind& kind_of(Packing packing) { return kKinds[static_cast<std::size_t>(packing) - 1]; }

[[noreturn]] void not_read(Packing packing, const std::string& source) {
  if (packing == Packing::zip)
    for (const std::string_view ending : {".xlsx", ".xlsm", ".ods"})
      if (source.ends_with(ending))
        throw Error(fmt::format("{} is a spreadsheet, which Lemma does not read; save it as CSV there", source));
  const Kind& kind = kind_of(packing);
  throw Error(fmt::format("{} is packed with {}, which {} does not read; '{} {}' unpacks it", source, kind.name,
                          packing == Packing::xz || packing == Packing::zstd ? "this build of Lemma" : "Lemma",
                          kind.command, source));
}

[[noreturn]] void damaged(Packing packing, const std::string& source) {
  throw Error(fmt::format("{} is not a whole {} file: it is damaged or cut off", source, kind_of(packing).name));
}

bool ends_with(std::string_view path, std::string_view ending) {
  return path.size() > ending.size() &&
         std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
}

/// Room for one more piece behind a text; what was not used of it is given back.
template <class Fill>
void grow(std::string& text, Fill&& fill) {
  const std::size_t filled = text.size();
  text.resize(filled + kPiece);
  text.resize(filled + fill(text.data() + filled));
}

// ---- gzip ----

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw MachineError("zlib could not start");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

struct Deflater {
  z_stream stream{};
  Deflater() {
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw MachineError("zlib could not start");
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
};

/// zlib counts in 32 bits: hands over the next part of what is left.
void feed(z_stream& stream, std::string_view& left) {
  if (stream.avail_in != 0 || left.empty()) return;
  const std::size_t count = std::min<std::size_t>(left.size(), std::size_t{1} << 30);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left.data()));
  stream.avail_in = static_cast<uInt>(count);
  left.remove_prefix(count);
}

std::string gunzip(std::string_view packed, const std::string& source) {
  Inflater inflater;
  std::string plain;
  auto& stream = inflater.stream;
  bool ended = false;
  while (true) {
    feed(stream, packed);
    if (ended) {  // several gzip streams one after the other are one file
      if (stream.avail_in == 0) return plain;
      if (inflateReset(&stream) != Z_OK) throw MachineError("zlib could not start again");
      ended = false;
    }
    int status = Z_OK;
    grow(plain, [&](char* room) {
      stream.next_out = reinterpret_cast<Bytef*>(room);
      stream.avail_out = static_cast<uInt>(kPiece);
      status = inflate(&stream, Z_NO_FLUSH);
      return kPiece - stream.avail_out;
    });
    if (status == Z_MEM_ERROR) throw MachineError("no memory left to unpack " + source);
    if (status == Z_STREAM_END) ended = true;
    else if (status != Z_OK) damaged(Packing::gzip, source);
  }
}

std::string gzip(std::string_view plain) {
  Deflater deflater;
  std::string packed;
  auto& stream = deflater.stream;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    feed(stream, plain);
    grow(packed, [&](char* room) {
      stream.next_out = reinterpret_cast<Bytef*>(room);
      stream.avail_out = static_cast<uInt>(kPiece);
      status = deflate(&stream, plain.empty() ? Z_FINISH : Z_NO_FLUSH);
      return kPiece - stream.avail_out;
    });
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) throw MachineError("zlib failed to pack");
  }
  return packed;
}

// ---- xz ----

#ifdef LEMMA_HAS_XZ
/// All of `in` through a coder; gives what it says in the end.
lzma_ret run(lzma_stream& stream, std::string_view in, std::string& out) {
  stream.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
  stream.avail_in = in.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK)
    grow(out, [&](char* room) {
      stream.next_out = reinterpret_cast<std::uint8_t*>(room);
      stream.avail_out = kPiece;
      status = lzma_code(&stream, LZMA_FINISH);
      return kPiece - stream.avail_out;
    });
  lzma_end(&stream);
  return status;
}

std::string unxz(std::string_view packed, const std::string& source) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK) throw MachineError("xz could not start");
  std::string plain;
  const lzma_ret status = run(stream, packed, plain);
  if (status == LZMA_MEM_ERROR) throw MachineError("no memory left to unpack " + source);
  if (status != LZMA_STREAM_END) damaged(Packing::xz, source);
  return plain;
}

std::string xz(std::string_view plain) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_easy_encoder(&stream, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) != LZMA_OK)
    throw MachineError("xz could not start");
  std::string packed;
  if (run(stream, plain, packed) != LZMA_STREAM_END) throw MachineError("xz failed to pack");
  return packed;
}
#else
std::string unxz(std::string_view, const std::string& source) { not_read(Packing::xz, source); }
std::string xz(std::string_view) {
  throw Error("this build of Lemma writes no .xz files; write .gz, or pipe through xz");
}
#endif

// ---- Zstandard ----

#ifdef LEMMA_HAS_ZSTD
std::string unzstd(std::string_view packed, const std::string& source) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) throw MachineError("zstd could not start");
  std::string plain;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::size_t left = 0;  // of a frame; 0 when it ended, and another may follow
  bool full = false;
  while (in.pos < in.size || (full && left != 0)) {
    grow(plain, [&](char* room) {
      ZSTD_outBuffer out{room, kPiece, 0};
      left = ZSTD_decompressStream(context.get(), &out, &in);
      full = out.pos == out.size;
      return out.pos;
    });
    if (ZSTD_isError(left)) damaged(Packing::zstd, source);
  }
  if (left != 0) damaged(Packing::zstd, source);
  return plain;
}

std::string zstd(std::string_view plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3);
  if (ZSTD_isError(size)) throw MachineError("zstd failed to pack");
  packed.resize(size);
  return packed;
}
#else
std::string unzstd(std::string_view, const std::string& source) { not_read(Packing::zstd, source); }
std::string zstd(std::string_view) {
  throw Error("this build of Lemma writes no .zst files; write .gz, or pipe through zstd");
}
#endif

}  // namespace

Packing packing_of(std::string_view first_bytes) {
  for (const Kind& kind : kKinds)
    if (first_bytes.starts_with(kind.mark)) {
      // "BZh" may be the name of a column; a packed file goes on with its level and the digits of pi.
      if (kind.packing == Packing::bzip2 && first_bytes.substr(0, kPackingMark).substr(4) != "1AY&SY") continue;
      return kind.packing;
    }
  return Packing::none;
}

Packing packing_named(std::string_view path) {
  for (const Packing packing : {Packing::gzip, Packing::xz, Packing::zstd})
    if (ends_with(path, kind_of(packing).ending)) return packing;
  return Packing::none;
}

std::string_view without_packing(std::string_view path) {
  const Packing packing = packing_named(path);
  return packing == Packing::none ? path : path.substr(0, path.size() - kind_of(packing).ending.size());
}

std::string unpack(Packing packing, std::string_view packed, const std::string& source) {
  switch (packing) {
    case Packing::none: return std::string(packed);
    case Packing::gzip: return gunzip(packed, source);
    case Packing::xz: return unxz(packed, source);
    case Packing::zstd: return unzstd(packed, source);
    case Packing::bzip2:
    case Packing::zip: break;
  }
  not_read(packing, source);
}

std::string pack(Packing packing, std::string plain) {
  switch (packing) {
    case Packing::gzip: return gzip(plain);
    case Packing::xz: return xz(plain);
    case Packing::zstd: return zstd(plain);
    case Packing::none:
    case Packing::bzip2:
    case Packing::zip: break;
  }
  return plain;
}

}  // namespace lemma
