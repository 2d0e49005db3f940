# Least squares by Householder QR as R's lm does it, without the formula around it.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
x <- read_npy_with_ones("linreg_X")
y <- read_npy_vector("linreg_y")

run <- timed(.lm.fit(x, y))
report(run, c(rss = sum(run$answer$residuals^2)))
