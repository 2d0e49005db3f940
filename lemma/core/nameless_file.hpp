// lemma/core/nameless_file.hpp: a file without a name, for numbers that are put aside while work goes on.
#pragma once

namespace lemma {

/// In $TMPDIR, else in /var/tmp, which lies on a disk where /tmp may be memory. Its descriptor; −1 when there can be none.
/// Nothing of it stays behind, however the process ends.
int nameless_file();

}  // namespace lemma
