# A random forest of 100 trees grown out: ranger.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
suppressMessages(library(ranger))
columns <- function(name) {
  x <- as.data.frame(read_npy_with_ones(name)[, -1])
  names(x) <- paste0("x", seq_along(x))
  x
}
x <- columns("forest_X")
y <- factor(read_npy_labels("forest_y"))

run <- timed(ranger(x = x, y = y, num.trees = 100, num.threads = threads, min.node.size = 1, seed = 1))
said <- predict(run$answer, columns("forest_Xt"), num.threads = threads)$predictions
report(run, c(test_error = mean(said != factor(read_npy_labels("forest_yt")))))
