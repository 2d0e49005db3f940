// lemma/data/stream/rows.hpp: a design's rows as a method reads them, from memory or from a stream.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/data/design.hpp>
#include <lemma/data/row_cache.hpp>
#include <lemma/data/row_selection.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/data/use.hpp>
#include <optional>
#include <vector>

namespace lemma {

/// DesignData in memory. Owns it.
class DesignRows final : public Rows {
 public:
  DesignRows(const Design& design, DesignData data);
  Index count() const override { return data_.x.rows(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  const MatrixView* matrix() const override { return &x_; }
  const DesignData& data() const { return data_; }

  DesignRows(const DesignRows&) = delete;  // the view looks at its own data
  DesignRows& operator=(const DesignRows&) = delete;

 private:
  DesignData data_;
  MatrixView x_;
};

/// The same without the zeros of x, of which texts make many.
class WordRows final : public Rows {
 public:
  WordRows(const Design& design, Csr x, DesignData outcome);
  Index count() const override { return x_.rows(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override;
  const Csr* sparse() const override { return &x_; }

  WordRows(const WordRows&) = delete;  // who asked for sparse() looks at it
  WordRows& operator=(const WordRows&) = delete;

 private:
  Csr x_;
  DesignData data_;  // without x
};

/// The rows of a stream, made block by block as they are read: the same numbers, bit for bit, as Design::train (or
/// apply) of the whole table would give. Looks at the stream, which must outlive it. Memory: the blocks being read, and
/// a bit a row where rows are dropped, which costs a pass to count them. After training the same pass refuses missing values
/// where the policy is to, and tells whether there is any response. Rows of a stream that parses text are put aside in a
/// temporary file when they are read a second time (RowCache): passes after that read numbers. Predictions take one pass.
class StreamRows final : public Rows {
 public:
  StreamRows(Design design, const TableStream& stream, Use use = Use::training, std::optional<Missing> policy = {},
             const Execution& execution = {});
  Index count() const override { return kept_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  const RowSelection& kept() const { return kept_; }
  const std::vector<std::string>& notes() const { return notes_; }  // rows dropped, values filled in

 private:
  void count_rows(const Execution& execution);
  void make(Index first, Index size, Index at, BlockBuffer& buffer) const;
  void append(Index first, Index size, Index skip, Index take, Index at, BlockBuffer& buffer) const;

  Design design_;
  const TableStream& stream_;
  Use use_;
  Missing policy_;
  RowSelection kept_;
  std::vector<std::string> notes_;
  std::unique_ptr<RowCache> cache_;
};

}  // namespace lemma
