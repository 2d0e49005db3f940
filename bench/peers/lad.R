# Least absolute deviations by quantreg's interior point method (Frisch and Newton), without the formula around it.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
suppressMessages(library(quantreg))
x <- read_npy_with_ones("lad_X")
y <- read_npy_vector("lad_y")
fit <- if (arguments[3] == "pfn") rq.fit.pfn else rq.fit.fnb

run <- timed(fit(x, y, tau = 0.5))
report(run, c(sum = sum(abs(y - x %*% run$answer$coefficients))))
