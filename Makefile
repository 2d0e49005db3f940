# The doors of the repository. CMake does the building: see CMakePresets.json.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
CMAKE_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup run test test-asan test-tsan lint format fuzz bench docs install clean

# $(call build,PRESET,TARGET)
define build
@cmake --preset $(1) --log-level=WARNING $(CMAKE_FLAGS) >/dev/null
@cmake --build build/$(1) -j $(JOBS) --target $(2)
endef

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  JOBS=$(JOBS)  PREFIX=$(PREFIX)  FUZZ_SECONDS=$(FUZZ_SECONDS)  CMAKE_FLAGS='$(CMAKE_FLAGS)'"

setup: ## install the packages that are missing
	@tools/setup

run: setup ## build, then describe, split, fit, predict, evaluate and verify on built-in data
	$(call build,release,lemma_app)
	@tools/demo

test: setup ## build and run all tests
	$(call build,release,all)
	@ctest --preset release -j $(JOBS)

test-asan: setup ## the same under the address and undefined-behaviour sanitizers
	$(call build,asan,all)
	@ctest --preset asan -j $(JOBS)

test-tsan: setup ## the same under the thread sanitizer
	$(call build,tsan,all)
	@ctest --preset tsan -j $(JOBS)

lint: ## clang-format on all files, clang-tidy on changed ones (ALL=1: on all)
	@tools/setup --lint
	@JOBS=$(JOBS) tools/lint $(if $(ALL),--all)

format: ## let clang-format rewrite the sources
	@tools/setup --lint
	@git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' | xargs -r clang-format -i

fuzz: ## run each fuzzer for FUZZ_SECONDS
	@tools/setup --fuzz
	$(call build,fuzz,lemma_fuzzers)
	@tools/fuzz $(FUZZ_SECONDS)

bench: ## measure Lemma against its peers
	@tools/setup --bench
	$(call build,bench,all)
	@bench/run

docs: setup ## regenerate what is generated in the repository
	$(call build,release,lemma_app)
	@tools/generate

install: setup ## install into PREFIX
	$(call build,release,all)
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove build/ and out/
	@rm -rf build out
