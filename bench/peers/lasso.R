# The lasso path of 100 lambdas by glmnet, at a given threshold.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
suppressPackageStartupMessages(library(glmnet))
name <- arguments[3]
ratio <- as.numeric(arguments[4])
type <- arguments[5]
thresh <- as.numeric(arguments[6])
x <- read_npy_with_ones(paste0(name, "_X"))[, -1]
y <- read_npy_vector(paste0(name, "_y"))
n <- length(y)
lambda <- max(abs(crossprod(x, y))) / n * 10^seq(0, log10(ratio), length.out = 100)

run <- timed(glmnet(x, y, lambda = lambda, standardize = FALSE, intercept = FALSE, type.gaussian = type,
                    thresh = thresh, maxit = 1e7))
b <- as.matrix(run$answer$beta)
objective <- colSums((y - x %*% b)^2) / (2 * n) + lambda[seq_len(ncol(b))] * colSums(abs(b))
stopifnot(ncol(b) == 100)
report(run, c(mean_objective = mean(objective)))
