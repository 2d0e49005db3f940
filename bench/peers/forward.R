# A whole process: 10 columns by forward selection, every candidate of every step fitted anew.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
suppressMessages(library(data.table))
setDTthreads(threads)
table <- fread(file.path(data_dir, "forward.csv"))
y <- table$y
x <- as.matrix(table[, !"y"])
kept <- integer(0)
for (step in 1:10) {
  candidates <- setdiff(seq_len(ncol(x)), kept)
  rss <- vapply(candidates, function(j) sum(.lm.fit(cbind(1, x[, c(kept, j)]), y)$residuals^2), 0)
  kept <- c(kept, candidates[which.min(rss)])
}
cat(sprintf('{"quality": {"rss": %.17g}}\n', min(rss)))
