# Penalised logistic regression by glmnet, at the one lambda that is C = 1: the loss is a mean there.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
suppressPackageStartupMessages(library(glmnet))
x <- read_npy_with_ones("logit_X")[, -1L]
y <- read_npy_labels("logit_y")
n <- nrow(x)

run <- timed(glmnet(x, y, family = "binomial", alpha = 0, lambda = 1 / n, standardize = FALSE, thresh = 1e-9))
b <- as.vector(run$answer$beta)
eta <- as.vector(x %*% b) + run$answer$a0
loss <- sum(pmax(eta, 0) + log1p(exp(-abs(eta))) - y * eta)
report(run, c(objective = loss + sum(b^2) / 2))
