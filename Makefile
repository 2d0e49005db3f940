# The doors of the repository. CMake does the building: see CMakePresets.json.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
FORGED ?= 1000
CMAKE_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup run test test-asan test-tsan test-browser lint format fuzz forge coverage bench build-report docs gallery install clean

# $(call build,PRESET,TARGET)
define build
@cmake --preset $(1) --log-level=WARNING $(CMAKE_FLAGS) >/dev/null
@cmake --build build/$(1) -j $(JOBS) --target $(2)
endef

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  JOBS=$(JOBS)  PREFIX=$(PREFIX)  FUZZ_SECONDS=$(FUZZ_SECONDS)  FORGED=$(FORGED)  CMAKE_FLAGS='$(CMAKE_FLAGS)'"

setup: ## install the packages that are missing
	@tools/setup

run: setup ## build, then describe, split, fit, predict, evaluate, verify and report on built-in data
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

test-browser: ## look at reports and pictures in headless Chromium (SHOTS=FOLDER keeps what it sees)
	@tools/setup --browser
	$(call build,release,lemma_app)
	@tests/browser/run build/release/bin/lemma $(if $(SHOTS),--shots $(SHOTS))

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

forge: setup ## forge FORGED model files of each method and use them, under the sanitizers
	$(call build,asan,lemma_forge)
	@cd build/asan && bin/lemma_forge $(FORGED)

coverage: setup ## how often stated intervals hold the truth: DRAWS of each (20000)
	$(call build,release,test_validate)
	@LEMMA_DRAWS=$(or $(DRAWS),20000) build/release/bin/test_validate --gtest_filter='Coverage.*'

bench: ## measure Lemma against its peers
	@tools/setup --bench
	$(call build,bench,all)
	@bench/run

build-report: setup ## build without a cache; the slowest units, and the growth since the last one kept (KEEP=1)
	@JOBS=$(JOBS) tools/build-report $(if $(KEEP),--keep)

gallery: setup ## draw the pictures of docs/gallery.md anew
	$(call build,release,lemma_app)
	@tools/gallery

docs: setup ## regenerate what is generated in the repository
	$(call build,release,lemma_app from_cpp)
	@tools/generate

install: setup ## install into PREFIX
	$(call build,release,all)
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove build/ and out/
	@rm -rf build out
