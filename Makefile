# make build    sfwalk, sfwalk-full, which runs plug-ins and Delve, and sniffer-perfmap, a plug-in for JITs, into bin/
# make man      the manual pages of all commands, into bin/man
# make demo     build sfwalk, start the bundled demo target, print its stacks
# make test     install what the tests need, vet, staticcheck, all tests but the longest: ten minutes
# make rest     the longest tests, those in which goroutines meet with the race detector, those of the file
#               formats on emulated hosts, and what is built for other systems: fifteen minutes
# make releases both in roots of Debian's releases and Ubuntu 24.04, which it makes: by root, with debootstrap,
#               in .cache/releases, 3 GB each; one after the other (RELEASES=trixie chooses)
# make release  all that is published, into dist/: static programs as archives, Debian packages and rpms, a container
#               image, SBOM, checksums (VERSION=v0.1.0 chooses; docs/releasing.md)
# make release-test  the same twice, compared byte by byte, and installed in clean roots (CLEAN=trixie; an hour)
# make notice   NOTICE, after modules have changed
# make race     the race detector where gRPC and Delve are linked, too
# make cross    build all of it for other systems
# make system   boot Debian's kernels of arm64, s390x and models of amd64 under qemu-system, which it installs,
#               and test attaching, calls and recordings there (forty minutes)
# make fuzz     every fuzz test for FUZZTIME (default 1m) each, as many at a time as there are processors;
#               a failure stops none of the others; a table at the end. FUZZ=regexp and PKG=./target/...
#               choose some. Without them, 'make mutants' runs for FUZZTIME, too
# make mutants  the built command on changed files of all formats, for FUZZTIME, held to the promises of SECURITY.md.
#               MUTANTS='-n 100000 -kind ELF' has further flags of internal/test/mutants
# make bench    compare with peers, side by side, and with the last release (while there is none, 4f85978a), and write
#               docs/performance.md (twenty minutes; five more when it makes large programs first). AGAINST=COMMIT is
#               in the release's place
# make soak     the long tests: SOAK attaches (default 20000) to a busy process, the largest files,
#               binutils' own tests on SFrame,
#               Debian's own programs, which it installs: emacs, java, ffmpeg, qemu, …; wine, which writes minidumps of Windows;
#               every fuzz test for an hour each (FUZZTIME). What fails keeps nothing else from running

GO       ?= go
FUZZTIME ?= 1m
FUZZ     ?=
PKG      ?= ./...
SOAK     ?= 20000
AGAINST  ?=
# A package whose tests take longer than this hangs. The longest takes four minutes on two idle cores,
# but no test may fail because a machine is slow.
PATIENCE := 1h
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
STAMP    := -X github.com/sfwalk/sfwalk/internal/command/version.version=$(VERSION)

# A new machine installs its updates by itself, and has apt locked meanwhile.
APT_WAIT := -o DPkg::Lock::Timeout=600

# Programs that the tests run, and the Debian packages that have them.
TOOLS    := gcc g++ curl gdb gdb-multiarch gdbserver objdump readelf dwp dwz xz zstd make qemu-aarch64 qemu-s390x qemu-mips \
            aarch64-linux-gnu-dwp s390x-linux-gnu-dwp aarch64-linux-gnu-gcc s390x-linux-gnu-gcc aarch64-linux-gnu-g++ s390x-linux-gnu-g++ \
            i686-linux-gnu-gcc i686-linux-gnu-g++ arm-linux-gnueabihf-gcc arm-linux-gnueabihf-g++ musl-gcc qemu-i386 qemu-arm node openssl protoc eu-stack debuginfod groff tmux /usr/lib/python3/dist-packages/grpc/__init__.py
PACKAGES := gcc g++ curl libc6-dev gdb gdb-multiarch gdbserver binutils dwz xz-utils zstd make qemu-user debian-archive-keyring \
            gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross g++-aarch64-linux-gnu g++-s390x-linux-gnu \
            gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross gcc-arm-linux-gnueabihf g++-arm-linux-gnueabihf libc6-dev-armhf-cross musl-tools \
            nodejs openssl protobuf-compiler python3 python3-grpcio python3-protobuf elfutils debuginfod groff-base tmux
# Of a release that has them; elsewhere dwp is in binutils.
DWP      := binutils-gold(-(aarch64|s390x)-linux-gnu)?

# Large ones, each for a few tests: elsewhere that is skipped, and says so.
ifeq ($(CI),true)
TOOLS    += x86_64-w64-mingw32-gcc rustc lldb-server /usr/lib/debug/.build-id ruby /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/rustlib/etc/gdb_providers.py clang++ ld.lld /usr/include/c++/v1
PACKAGES += gcc-mingw-w64-x86-64-posix rustc lldb libc6-dbg ruby libjemalloc2 rust-gdb clang lld libc++-dev libc++abi-dev
ifneq ($(shell grep -x ID=debian /etc/os-release 2>/dev/null),) # elsewhere perf is in the package of a kernel
TOOLS    += perf
PACKAGES += linux-perf
endif
endif

# Compilers of languages that few programs are in, and a browser: large, and for the long tests alone.
ifdef SFWALK_SOAK
TOOLS    += gfortran gnatmake chromium dot
PACKAGES += gfortran gnat chromium graphviz
endif

.PHONY: all build man demo test rest long-tests race-tests builds releases race hosts deps vet cross release release-test notice fuzz mutants bench soak soak-long soak-killed soak-sniffer clean

all: build

# Without cgo the program is static: it starts in three quarters of the time, and in any container.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(STAMP)' -o bin/ ./cmd/...

# The date of the pages is that of the release, so that they are the same whoever makes them.
man:
	$(GO) run ./internal/manpage/generate -version $(VERSION) -date $$(git log -1 --format=%cs 2>/dev/null) bin/man

# The one program that it runs is compiled, not what links gRPC and Delve.
demo:
	@[ -e bin/sfwalk ] || echo "compiling sfwalk: some 270 packages, half a minute on two cores of a fresh machine"
	@GOGC=400 CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(STAMP)' -o bin/ ./cmd/sfwalk
	@echo "starting the bundled program, whose stacks 'bin/sfwalk demo' prints:"
	@bin/sfwalk demo

# Cross builds keep the promise that reading files works everywhere: mips has 32 bits. What
# links gRPC or Delve takes longer than all the rest, and is built for other systems by 'make
# cross'; but for what stands in for Delve where it does not compile.
CROSS    := windows/amd64 linux/arm64 linux/s390x linux/mips
HEAVY    := -e '/plugin$$' -e /plugin/ -e /pluginhost -e /pluginrow -e /plugintest -e /external -e /cmd/sniffer -e /examples/sniffer -e /docs -e sfwalk-full -e '/bench$$' \
            -e /delve -e /dlvhost

# Compilers and checkers take less time if they may leave more garbage.
vet: export GOGC := 400
vet:
	CGO_ENABLED=0 $(GO) vet ./...
	CGO_ENABLED=0 $(GO) tool -modfile=tools/go.mod staticcheck ./...
	CGO_ENABLED=0 $(GO) vet -tags system ./internal/test/systemtest
	cd tools && CGO_ENABLED=0 $(GO) vet ./notice ./internal/...
	cd examples/sfwalk-profiler && CGO_ENABLED=0 $(GO) vet .

builds: export GOGC := 400
builds:
	for s in $(CROSS); do (export GOOS=$${s%/*} GOARCH=$${s#*/}; $(GO) build $$($(GO) list ./... | grep -v $(HEAVY))) || exit 1; done
	GOARCH=s390x $(GO) build ./delve/... ./internal/command/dlvhost

cross:
	for s in $(CROSS) darwin/arm64; do GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) build ./... || exit 1; done

# Nothing here is C, and so one build serves vet, the tests and the programs that they start.
# To vet once is enough: 'go test' would do so anew for each processor, and for the race detector,
# with all that is imported. The tests of target/live keep all processors busy, and some of the others'
# programs wait for a time: they come last.
test: deps vet
	CGO_ENABLED=0 $(GO) test -vet=off -timeout $(PATIENCE) -skip '^($(LONG))$$' $$($(GO) list ./... | grep -v /target/live); main=$$?; \
	CGO_ENABLED=0 $(GO) test -vet=off -timeout $(PATIENCE) ./target/live && exit $$main

rest: deps
	+$(MAKE) --no-print-directory -j2 builds hosts
	+$(MAKE) --no-print-directory --keep-going long-tests race-tests

# Tests that take longest, each in packages that have others of the same code.
LONG     := TestAgree|TestBuilds|TestCgo|TestARM64|TestDumpSyms|TestFileKinds|TestFileStacks|TestGoMixed|TestGuests|TestHostKilledAnywhen|TestHostileCode|TestInfoOfGuests|TestInlined|TestLocalsAtStubAsGDB|TestLocalsOfGuestsAsGDB|TestLocalsOfOldGo|TestMeasure|TestMeasureCalls|TestMeasureFile|TestModels|TestOpenIsAttach|TestOracleMinidumps|TestPerf|TestPictureOfProcesses|TestPieces|TestRecordSteps|TestRustAsGDB|TestStepsLibc|TestThreadLocals|TestThreadLocalsOfGuests|TestThrows|TestUnknownCode

long-tests: deps
	CGO_ENABLED=0 $(GO) test -vet=off -timeout $(PATIENCE) -run '^($(LONG))$$' \
		$$(grep -rlE --include='*_test.go' '^func ($(LONG))\(' --exclude-dir=tools . | xargs -n 1 dirname | sort -u)
	cd tools && CGO_ENABLED=0 $(GO) test -vet=off ./internal/...
	cd examples/sfwalk-profiler && CGO_ENABLED=0 $(GO) test -vet=off .

# The race detector takes twice the time and more: it watches the tests in which goroutines
# meet, and all of target/live. To build gRPC and Delve for it takes longer than all that: make race.
race-tests: deps
	$(GO) test -race -vet=off -timeout $(PATIENCE) ./target/live & live=$$!; \
	$(GO) test -race -vet=off -timeout $(PATIENCE) -run '$(MEET)' ./format/cfi ./format/elf ./frame ./record ./format/sframe ./sniffer ./symbol ./target/core; meet=$$?; \
	wait $$live && exit $$meet

# Other releases have other compilers, assemblers, debuggers and emulators.
RELEASES := bookworm trixie testing ubuntu-noble

releases:
	@failed=; for r in $(RELEASES); do .ci/release $$r make --keep-going test rest || failed="$$failed $$r"; done; \
	if [ -n "$$failed" ]; then echo "make releases: failed, or not tested:$$failed"; exit 1; fi

# The module tools has what makes a release, so that sfwalk's own module does not.
release:
	cd tools && CGO_ENABLED=0 $(GO) run ./release -version '$(VERSION)' -o ../dist

CLEAN    := bookworm trixie

release-test:
	cd tools && CGO_ENABLED=0 $(GO) vet ./... && CGO_ENABLED=0 $(GO) test ./...
	.ci/release-test '$(VERSION)' $(CLEAN)

notice:
	cd tools && CGO_ENABLED=0 $(GO) run ./notice -o ../NOTICE

race: deps
	$(GO) test -race -timeout $(PATIENCE) -run '$(MEET)' ./internal/command ./sniffer/external ./delve/server

MEET     := ^(TestConcurrentUse|TestWalkersAtOnce|TestInOrder|TestConsistent|TestPlugin|TestUnsortedConcurrently|TestManyAtOnce|TestCloseWhileAsked|TestHostKilled|TestConcurrent|TestConcurrentJoin|TestProfileMeanwhile|TestWindow|TestRunning|TestDAPRuns|TestBadClients)$$

# Reading bytes must not depend on the host: s390x is big-endian, mips has 32
# bits as well. (The race detector knows neither. The tests in SLOW take as long
# as all others together and read what others read, only more of it: large files, for one. What writes SFrame, and
# reads machine code, runs on the supported one alone.)
HOSTS    := s390x mips
PORTABLE := ./format/breakpad ./format/elf ./format/gopclntab ./format/dwarf ./internal/elffile ./format/pages ./format/minidump ./format/sframe ./format/sframe/object ./format/sframe/separate ./format/cfi ./trad ./frame ./sniffer/fp ./target/jit ./target/minidump ./target/procmaps ./target/remote ./target/snapshot
ON_S390X := ./target/capture ./format/sframe/fromcfi ./format/sframe/verify ./arch/...
SLOW     := ^(TestInstalledFiles|TestManyBytes|TestMutation|TestHostileCode|TestDecode|TestReadFrame|TestReadFrameOfSystem|TestReadFrameTrap|TestReadSplit|TestInlined|TestSPDelta|TestLines|TestOracle.*|TestCutShort|TestGuests)$$|^TestCompiledFiles$$/^(static|exceptions_static|go)$$|^TestReadelf$$/^gdb|^TestMade$$/^(gdb|python3)

hosts: export GOGC := 400
hosts: deps
	@for a in $(HOSTS); do \
		if command -v qemu-$$a >/dev/null; then \
			echo "on $$a:"; more=; [ $$a != s390x ] || more="$(ON_S390X)"; \
			CGO_ENABLED=0 GOARCH=$$a $(GO) test -vet=off -timeout $(PATIENCE) -exec qemu-$$a -skip '$(SLOW)' $(PORTABLE) $$more || exit 1; \
		else \
			echo "make test: NOT TESTED on $$a: no qemu-$$a"; \
			[ "$$CI" != true ] || exit 1; \
		fi; \
	done

# Real kernels, two emulated processors each, one machine after the other. Newer releases have
# the s390x machine in a package of its own.
system: deps
	@command -v qemu-system-aarch64 >/dev/null && command -v qemu-system-s390x >/dev/null && command -v qemu-system-x86_64 >/dev/null || { \
		sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; apt="$$sudo env DEBIAN_FRONTEND=noninteractive apt-get $(APT_WAIT) -q"; \
		$$apt update; $$apt install -y --no-install-recommends qemu-system-arm qemu-system-misc qemu-system-x86; \
		command -v qemu-system-s390x >/dev/null || $$apt install -y --no-install-recommends qemu-system-s390x; }
	CGO_ENABLED=0 $(GO) test -tags system -v -count=1 -timeout 3h ./internal/test/systemtest

# Where nothing can be installed, the tests that need a missing program are
# skipped, loudly; with CI=true they fail (internal/test/gdbtest decides).
deps:
	@missing=; for t in $(TOOLS); do [ -e $$t ] || command -v $$t >/dev/null || missing="$$missing $$t"; done; \
	if [ -n "$$missing" ]; then \
		echo "installing what the tests need:$$missing"; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
		$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get $(APT_WAIT) install -qy --no-install-recommends $(PACKAGES) $$(apt-cache pkgnames | grep -xE '$(DWP)') || \
		echo "make test: cannot install$$missing: tests that need them are skipped"; \
	fi
	@sh internal/bench/sframe/libsframe.sh .cache/libsframe || echo "make test: NOT TESTED against libsframe"
	$(GO) mod download

bench: deps
	$(GO) run ./internal/bench -against '$(AGAINST)'

# Mutants run where all fuzz tests do.
fuzz:
	@CGO_ENABLED=0 $(GO) run ./internal/test/fuzzall -go '$(GO)' -time '$(FUZZTIME)' -run '$(FUZZ)' $(PKG); status=$$?; \
	if [ '$(FUZZ)$(PKG)' = ./... ]; then $(MAKE) mutants || status=1; fi; exit $$status

mutants: build
	@CGO_ENABLED=0 $(GO) run ./internal/test/mutants -sfwalk bin/sfwalk -time '$(FUZZTIME)' $(MUTANTS)

soak: FUZZTIME := 1h
soak:
	@SFWALK_SOAK=$(SOAK) $(MAKE) --keep-going race soak-long soak-killed soak-sniffer fuzz FUZZTIME=$(FUZZTIME)

soak-long:
	$(GO) test -count=1 -timeout 24h ./target/live ./format/cfi ./arch/amd64 ./cmd/sniffer-perfmap ./internal/command ./internal/test/guesttest ./internal/bench/lookup ./sniffer ./symbol ./logical ./inferior/native

soak-killed:
	$(GO) test -count=1 -timeout 24h -run 'TestHostKilledAnywhen' ./sniffer/external

soak-sniffer:
	$(GO) test -count=1 -timeout 24h -run 'TestIDs$$|TestSettle' ./sniffer

clean:
	rm -rf bin
