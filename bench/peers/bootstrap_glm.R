# A whole process: 1,000 bootstrap refits of a logistic regression by boot, and their percentile intervals.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
suppressPackageStartupMessages(library(boot))
table <- read.csv(arguments[3], stringsAsFactors = TRUE)
refit <- function(data, rows) coef(glm(type ~ ., data = data[rows, ], family = binomial))
set.seed(1)
found <- boot(table, refit, R = 1000, parallel = "multicore", ncpus = threads)
for (j in seq_along(found$t0)) boot.ci(found, type = "perc", index = j)
cat(sprintf('{"quality": {"error": %.17g}}\n', sd(found$t[, 1])))
