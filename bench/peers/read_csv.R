# Reading the mixed table with data.table. An empty cell of a text column is missing, as it is for Lemma.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
suppressPackageStartupMessages(library(data.table))
setDTthreads(threads)

run <- timed(fread(file.path(data_dir, "mixed.csv"), na.strings = "", showProgress = FALSE))
table <- run$answer
report(run,
       c(rows = nrow(table), missing = sum(vapply(table, function(x) as.numeric(sum(is.na(x))), 0)),
         sum_x0 = sum(table$x0, na.rm = TRUE)),
       table_mb = as.numeric(object.size(table)) / 2^20)
