// lemma/lemma.hpp: everything a program needs to read data, fit, predict, verify and keep models.
#pragma once
#include <lemma/catalog.hpp>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/formula.hpp>
#include <lemma/data/read.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/pipeline.hpp>
#include <lemma/model/store.hpp>
#include <lemma/model/train.hpp>
#include <lemma/reduce/impute.hpp>
#include <lemma/reduce/pca.hpp>
#include <lemma/reduce/scale.hpp>
#include <lemma/reduce/whiten.hpp>
