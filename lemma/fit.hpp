// lemma/fit.hpp: to read data, fit, predict, verify and keep models: the light header. Add that of the method, such as
// <lemma/linear/ols.hpp>; <lemma/lemma.hpp> has all of them.
#pragma once
#include <lemma/data/csv.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/store.hpp>
