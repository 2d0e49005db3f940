# Logistic regression by glm.fit: deviance and standard errors, or the objective of C = 1, which it does not minimise.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
wanted <- arguments[3]
x <- read_npy_with_ones("logit_X")
y <- read_npy_labels("logit_y")

run <- timed({
  fit <- glm.fit(x, y, family = binomial())
  if (wanted == "deviance") fit$errors <- sqrt(diag(chol2inv(fit$qr$qr[seq_len(ncol(x)), ])))
  fit
})
fit <- run$answer
stopifnot(fit$converged, fit$rank == ncol(x))
quality <- if (wanted == "deviance") c(deviance = fit$deviance, error = fit$errors[1]) else
  c(objective = fit$deviance / 2 + sum(fit$coefficients[-1]^2) / 2)
report(run, quality)
