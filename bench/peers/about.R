# R's version, the versions of the packages asked for, and the BLAS it is linked to, as one JSON document.
packages <- c("data.table", "MASS")
versions <- c(R = paste(R.version$major, R.version$minor, sep = "."),
              vapply(packages, function(p) as.character(packageVersion(p)), ""))
cat("{\"versions\": {", paste0('"', names(versions), '": "', versions, '"', collapse = ", "), "}, ",
    "\"blas\": \"", extSoftVersion()[["BLAS"]], "\"}\n", sep = "")
