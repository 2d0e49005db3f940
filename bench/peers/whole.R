# A whole process as a user would write it: read a file, fit, keep the model. usage: ... METHOD FILE
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
suppressMessages(library(data.table))
setDTthreads(threads)
method <- arguments[3]
table <- fread(file.path(data_dir, arguments[4]))
y <- table$y
x <- cbind(1, as.matrix(table[, !"y"]))
if (method == "ols") {
  model <- .lm.fit(x, y)
  quality <- c(rss = sum(model$residuals^2))
} else {
  model <- glm.fit(x, as.numeric(y == "yes"), family = binomial())
  quality <- c(objective = model$deviance / 2 + sum(model$coefficients[-1]^2) / 2)
}
saveRDS(model$coefficients, "model.rds", compress = FALSE)
cat(sprintf('{"quality": {"%s": %.17g}}\n', names(quality), quality))
