// lemma/core/row_views.hpp: the same rows seen otherwise: some of them, with other weights, another response, other classes.
//
// What methods made of methods hand to the methods inside them. A view looks at the rows below it and keeps all that it does
// not change: names, precision, offset, trials. It starts as a copy of the description of those rows, so that a part which
// rows gain later is not forgotten here.
#pragma once
#include <lemma/core/rows.hpp>
#include <optional>

namespace lemma {

/// Rows by their numbers, in that order and as often as they are named: a bootstrap sample, a fold, a shuffle. From a
/// stream, numbers that rise are read in one pass; others cost a look at each block that they lie in.
class SelectedRows final : public Rows {
 public:
  SelectedRows(const Rows& rows, std::vector<Index> which);  // Error when there is no such row
  const std::vector<Index>& which() const { return which_; }

  Index count() const override { return static_cast<Index>(which_.size()); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override;
  const Csr* sparse() const override { return sparse_ ? &*sparse_ : nullptr; }

 private:
  Block gathered(Index first, Index size, BlockBuffer& buffer, bool with_x) const;
  const Rows& rows_;
  std::vector<Index> which_;
  std::optional<Csr> sparse_;  // those rows without their zeros, where that is how all of them lie
};

/// All rows in their places, with a part exchanged.
class RowsView : public Rows {
 public:
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;
  Block outcome(Index first, Index size, BlockBuffer& buffer) const override;
  const MatrixView* matrix() const override { return rows_.matrix(); }
  const Csr* sparse() const override { return rows_.sparse(); }

 protected:
  explicit RowsView(const Rows& rows) : Rows(rows), rows_(rows) {}
  void require_one_each(std::size_t size, const char* what) const;

 private:
  virtual void exchange(Block& block) const = 0;
  const Rows& rows_;
};

/// Each row counts `factor` times what it counted: boosting's weights, a bootstrap sample as numbers of copies.
class ReweightedRows final : public RowsView {
 public:
  ReweightedRows(const Rows& rows, std::vector<double> factors, const Execution& execution = {});

 private:
  void exchange(Block& block) const override;
  std::vector<double> weights_;
};

/// Another numeric response: residuals, pseudo-responses, one of several columns. It is no share of trials.
class RespondingRows final : public RowsView {
 public:
  RespondingRows(const Rows& rows, std::vector<double> response, std::string name);

 private:
  void exchange(Block& block) const override;
  std::vector<double> response_;
};

/// Other classes: one against the rest, a pair, codes of an output code.
class RelabelledRows final : public RowsView {
 public:
  RelabelledRows(const Rows& rows, std::vector<int> labels, std::vector<std::string> names);

 private:
  void exchange(Block& block) const override;
  std::vector<int> labels_;
};

/// Rows of one kind below each other. Where some have weights, precision or an offset, the others have 1, 1 and 0.
class StackedRows final : public Rows {
 public:
  explicit StackedRows(std::vector<const Rows*> parts);  // Error unless their columns and classes are the same
  Index count() const override { return start_.back(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override;

 private:
  std::vector<const Rows*> parts_;
  std::vector<Index> start_;  // of each part, then the end
};

}  // namespace lemma
