# A whole process: start, iris, linear discriminant analysis, one number out.
suppressPackageStartupMessages(library(MASS))
model <- lda(Species ~ ., data = iris)
cat('{"quality": {"trace1": ', formatC(model$svd[1]^2 / sum(model$svd^2), digits = 17, format = "g"), "}}\n", sep = "")
