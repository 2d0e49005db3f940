# What every R peer shares: its arguments, .npy files, timing the work proper, printing the one JSON line.
arguments <- commandArgs(trailingOnly = TRUE)
data_dir <- arguments[1]
threads <- as.integer(arguments[2])

# Where the numbers of a version 1 .npy file start, and its shape. Numbers are doubles, labels may be 8-byte integers.
npy_header <- function(file, type = "<f8") {
  stopifnot(identical(readBin(file, "raw", 6), as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59))))
  version <- readBin(file, "raw", 2)
  stopifnot(version[1] == 1)
  text <- rawToChar(readBin(file, "raw", readBin(file, "integer", 1, size = 2, signed = FALSE)))
  stopifnot(grepl(paste0("'descr': '", type, "'"), text, fixed = TRUE), grepl("'fortran_order': False", text, fixed = TRUE))
  shape <- regmatches(text, regexpr("\\([^)]*\\)", text))
  as.integer(regmatches(shape, gregexpr("[0-9]+", shape))[[1]])
}

read_npy_vector <- function(name) {
  file <- file(file.path(data_dir, paste0(name, ".npy")), "rb")
  on.exit(close(file))
  readBin(file, "double", npy_header(file)[1])
}

# Labels 0 and 1 as 8-byte integers: the lower half holds them.
read_npy_labels <- function(name) {
  file <- file(file.path(data_dir, paste0(name, ".npy")), "rb")
  on.exit(close(file))
  readBin(file, "integer", 2L * npy_header(file, "<i8")[1])[c(TRUE, FALSE)]
}

# cbind(1, X). The file holds rows one after the other and R columns, so blocks of rows are transposed as they come: the
# matrix is then in memory once, and the peak is the method's own.
read_npy_with_ones <- function(name, block = 20000L) {
  file <- file(file.path(data_dir, paste0(name, ".npy")), "rb")
  on.exit(close(file))
  shape <- npy_header(file)
  n <- shape[1]
  p <- shape[2]
  x <- matrix(1, n, p + 1L)
  first <- 1L
  while (first <= n) {
    rows <- first:min(n, first + block - 1L)
    x[rows, 1L + seq_len(p)] <- matrix(readBin(file, "double", length(rows) * p), ncol = p, byrow = TRUE)
    first <- first + block
  }
  x
}

# Evaluates the expression once: its answer, and the wall and processor seconds it took.
timed <- function(work) {
  clock <- system.time(answer <- work, gcFirst = TRUE)
  list(answer = answer, seconds = clock[["elapsed"]], cpu = clock[["user.self"]] + clock[["sys.self"]])
}

number <- function(x) formatC(x, digits = 17, format = "g")

report <- function(run, quality, ...) {
  more <- c(...)
  fields <- c(seconds = number(run$seconds), cpu = number(run$cpu),
              quality = paste0("{", paste0('"', names(quality), '": ', number(quality), collapse = ", "), "}"),
              if (length(more)) setNames(number(more), names(more)))
  cat("{", paste0('"', names(fields), '": ', fields, collapse = ", "), "}\n", sep = "")
}
