# On a Debian or Ubuntu with a Swift toolchain, two commands suffice: `make demo` and `make test`.

.PHONY: help build demo test lint install clean

help:
	@echo "make demo     build, create an example store, export it, import it into another, compare, copy inside it"
	@echo "make test     build and run all tests"
	@echo "make lint     check the formatting of all sources"
	@echo "make install  install the command coral in PREFIX/bin, and its man pages (PREFIX=/usr/local)"

# `swift build` alone also writes debug information; see the script.
build: system-libraries
	swift build $$(Scripts/build-options)

# Only what the demonstration uses: not the examples, the other tools and the programs of the tests.
demo: system-libraries
	swift build $$(Scripts/build-options) --product coral
	swift build $$(Scripts/build-options) --product MakeExampleStore
	Scripts/demo

test: system-libraries
	Scripts/test

lint:
	swift format lint --strict --recursive Package.swift Sources Plugins Tests Examples

PREFIX ?= /usr/local

install:
	@Scripts/install-system-libraries command
	@echo "Compiling a release build: 15 to 40 minutes on two cores. The last step prints nothing for several minutes."
	Scripts/build-command .build/command/coral
	install -d $(PREFIX)/bin
	install .build/command/coral $(PREFIX)/bin/coral
	Scripts/man-pages $(PREFIX)/share/man/man1 .build/command/coral >/dev/null

clean:
	swift package clean

.PHONY: system-libraries
system-libraries:
	@Scripts/install-system-libraries
