# make build    sfwalk, sfwalk-full, which runs plug-ins and Delve, and sniffer-perfmap, a plug-in for JITs, into bin/
# make man      the manual pages of all commands, into bin/man
# make demo     build sfwalk alone, start the bundled demo target, print its stacks
# make pictures  the pictures of docs/recording.md, when flame graphs have changed (root, half a minute)
# make check    build, and the tests that need nothing but Go: a minute. Nothing is installed
# make room     the tests of one room without the longest, shared among the processors: at most half a minute
#               (ROOM=./symbol)
# make test     install what most tests need (at most 60 packages, 600 MB), run all tests but the longest and
#               those for which a machine needs more, then vet and staticcheck: five minutes
# make rest     what 'make test' leaves out: install the compilers of other processors and languages, and emulators
#               (3 GB), and run the tests that need them, the longest tests, those in which goroutines meet with the
#               race detector, those of the file formats on emulated hosts; what is built for other systems
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
# but no test may fail because a machine is slow. What hangs is said before a CI of an hour ends.
PATIENCE := 30m
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
STAMP    := -X github.com/sfwalk/sfwalk/internal/command/version.version=$(VERSION)

# A new machine installs its updates by itself, and has apt locked meanwhile.
APT_WAIT := -o DPkg::Lock::Timeout=600

# Programs that the tests run, and the Debian packages that have them.
TOOLS    := gcc g++ curl gdb gdbserver objdump readelf dwp dwz xz zstd make musl-gcc openssl eu-stack debuginfod groff tmux /usr/lib/debug/.build-id
PACKAGES := gcc g++ curl libc6-dev libc6-dbg gdb gdbserver binutils dwz xz-utils zstd make musl-tools openssl elfutils debuginfod groff-base tmux
# Of a release that has them; elsewhere dwp is in binutils.
DWP      := binutils-gold

# What 'make rest' installs besides. The tests that need it are left to that: LATER has patterns of tools' names, and
# folders (gdbtest.Later).
LATER    := *-linux-gnu-gcc *-linux-gnu-g++ aarch64-* s390x-* i686-* arm-* x86_64-w64-mingw32-* qemu-* gdb-multiarch protoc python3 /usr/bin/python3 node dotnet mono ruby Rscript php php-* perl java jcmd erl erlc elixir elixirc sbcl pypy3 ocamlopt luajit redis-check-rdb haproxy nvim lua5.* /usr/include/lua* tclsh* guile chezscheme racket \
            perf rustc lldb lldb-server clang clang++ ld.lld /usr/aarch64-linux-gnu /usr/s390x-linux-gnu /usr/i686-linux-gnu /usr/arm-linux-gnueabihf \
            /usr/lib/rustlib /usr/include/c++/v1 /usr/include/asio.hpp /usr/include/boost /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libglib-2.0.so.0
ALL_TOOLS    := $(TOOLS) gdb-multiarch qemu-aarch64 qemu-s390x qemu-mips aarch64-linux-gnu-dwp s390x-linux-gnu-dwp aarch64-linux-gnu-gcc s390x-linux-gnu-gcc \
            aarch64-linux-gnu-g++ s390x-linux-gnu-g++ i686-linux-gnu-gcc i686-linux-gnu-g++ arm-linux-gnueabihf-gcc arm-linux-gnueabihf-g++ \
            qemu-i386 qemu-arm node protoc /usr/lib/python3/dist-packages/grpc/__init__.py /usr/lib/python3/dist-packages/trio/__init__.py /usr/lib/python3/dist-packages/gevent/__init__.py /usr/lib/python3/dist-packages/numpy/__init__.py
ALL_PACKAGES := $(PACKAGES) gdb-multiarch qemu-user debian-archive-keyring gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross \
            g++-aarch64-linux-gnu g++-s390x-linux-gnu gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross \
            gcc-arm-linux-gnueabihf g++-arm-linux-gnueabihf libc6-dev-armhf-cross nodejs protobuf-compiler python3 python3-grpcio python3-protobuf python3-trio python3-gevent python3-numpy
ALL_DWP      := binutils-gold(-(aarch64|s390x)-linux-gnu)?

ALL_TOOLS    += php php-config
ALL_PACKAGES += php-cli php-dev php-fpm
ALL_TOOLS    += /usr/share/doc/ruby-dev/copyright
ALL_PACKAGES += ruby-dev
ALL_TOOLS    += mono
ALL_PACKAGES += mono-runtime
ALL_TOOLS    += perl /usr/share/doc/libperl-dev/copyright
ALL_PACKAGES += perl libperl-dev
ALL_TOOLS    += erl elixir elixirc /usr/lib/erlang/usr/include/erl_nif.h
ALL_PACKAGES += erlang-base erlang-dev elixir
ALL_TOOLS    += sbcl ocamlopt
ALL_PACKAGES += sbcl ocaml
ALL_TOOLS    += luajit /usr/include/luajit-2.1/lua.h
ALL_PACKAGES += luajit libluajit-5.1-dev
ALL_TOOLS    += redis-check-rdb nvim
ALL_PACKAGES += redis-tools neovim
ALL_TOOLS    += lua5.1 lua5.4 /usr/include/lua5.1/lua.h /usr/include/lua5.4/lua.h
ALL_PACKAGES += lua5.1 lua5.4 liblua5.1-0-dev liblua5.4-dev
ALL_TOOLS    += tclsh8.6 /usr/include/tcl8.6/tcl-private/generic/tclInt.h
ALL_PACKAGES += tcl8.6 tcl8.6-dev
ALL_TOOLS    += pypy3
ALL_PACKAGES += pypy3
ALL_TOOLS    += guile /usr/include/guile/3.0/libguile.h
ALL_PACKAGES += guile-3.0 guile-3.0-dev
ALL_TOOLS    += chezscheme
ALL_PACKAGES += chezscheme
ALL_TOOLS    += Rscript
ALL_PACKAGES += r-base-core

# Large ones, each for a few tests, and one that starts a service: elsewhere that is skipped, and says so.
ifeq ($(CI),true)
ALL_TOOLS    += haproxy
ALL_PACKAGES += haproxy
ALL_TOOLS    += x86_64-w64-mingw32-gcc jcmd rustc lldb-server ruby /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/rustlib/etc/gdb_providers.py clang++ ld.lld /usr/include/c++/v1 /usr/include/asio.hpp /usr/include/boost/fiber/all.hpp cargo
ALL_PACKAGES += gcc-mingw-w64-x86-64-posix default-jdk-headless rustc lldb ruby libjemalloc2 rust-gdb clang lld libc++-dev libc++abi-dev libasio-dev libboost-fiber-dev cargo librust-tokio-dev librust-futures-util-dev librust-futures-executor-dev librust-async-std-dev librust-smol-dev
ifneq ($(shell grep -x ID=debian /etc/os-release 2>/dev/null),) # elsewhere perf is in the package of a kernel
ALL_TOOLS    += perf
ALL_PACKAGES += linux-perf
endif
endif

# Compilers of languages that few programs are in, and a browser: large, and for the long tests alone.
ifdef SFWALK_SOAK
ALL_TOOLS    += gfortran gnatmake chromium dot racket
ALL_PACKAGES += gfortran gnat chromium graphviz racket
endif

.PHONY: all build man demo pictures check room test tests rest long-tests race-tests builds releases race hosts deps all-deps vet cross release release-test notice fuzz mutants bench soak soak-long soak-killed soak-sniffer clean

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
	@GOGC=off GOMEMLIMIT=1GiB CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(STAMP)' -o bin/ ./cmd/sfwalk
	@echo "starting the bundled program, whose stacks 'bin/sfwalk demo' prints:"
	@bin/sfwalk demo
	@command -v sfwalk >/dev/null || echo "sfwalk is bin/sfwalk here. 'go install ./cmd/...' puts it into $$(dirname $$($(GO) list -f '{{.Target}}' ./cmd/sfwalk)), with sfwalk-full, which top needs"

pictures: build
	.ci/pictures

# Cross builds keep the promise that reading files works everywhere: mips has 32 bits. What
# links gRPC or Delve takes longer than all the rest, and is built for other systems by 'make
# cross'; but for what stands in for Delve where it does not compile.
CROSS    := windows/amd64 linux/arm64 linux/s390x linux/mips
HEAVY    := -e '/plugin$$' -e /plugin/ -e /plugincheck -e /pluginhost -e /pluginrow -e /plugintest -e /external -e /cmd/sniffer -e /examples/sniffer -e /docs -e sfwalk-full -e '/bench$$' \
            -e /delve -e /dlvhost

# Compilers and checkers take less time if they may leave more garbage.
vet: export GOGC := 400
vet:
	@while sleep 15; do echo "     vet and staticcheck go on"; done & trap "kill $$!" EXIT; set -ex; \
	CGO_ENABLED=0 $(GO) vet ./...; \
	CGO_ENABLED=0 $(GO) tool -modfile=tools/go.mod staticcheck ./...; \
	CGO_ENABLED=0 $(GO) vet -tags system ./internal/test/systemtest; \
	(cd tools && CGO_ENABLED=0 $(GO) vet ./notice ./internal/...); \
	(cd examples/sfwalk-profiler && CGO_ENABLED=0 $(GO) vet .)

builds: export GOGC := 400
builds:
	for s in $(CROSS); do (export GOOS=$${s%/*} GOARCH=$${s#*/}; $(GO) build $$($(GO) list ./... | grep -v $(HEAVY))) || exit 1; done
	GOARCH=s390x $(GO) build ./delve/... ./internal/command/dlvhost

cross:
	for s in $(CROSS) darwin/arm64; do GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) build ./... || exit 1; done

# testall says which package is done, and which test runs. Some tests wait more than they work, so
# half as many packages more run at a time as there are processors.
TESTALL   = CGO_ENABLED=0 $(GO) run ./internal/test/testall -go '$(GO)' -timeout $(PATIENCE) -p $$((3 * $$(nproc) / 2))

check:
	CGO_ENABLED=0 $(GO) build ./...
	@SFWALK_LATER='*' $(TESTALL) -skip '^($(LONG)|$(SECONDS))$$' ./...

# Tests that take a second and more, of those that need nothing but Go, and in the rooms whose tests take
# longest. 'make test' runs them.
SECONDS  := TestAnswersMemory|TestAsleep|TestBatchOfLongNames|TestBroken|TestConforms|TestDAPLaunches|TestDeadlocks|TestDeepStackMemory|TestExpandedTables|TestFuzzBounds|TestGood|TestHangs|TestHoard|TestHostileFormats|TestHostileVariables|TestHour|TestLongText|TestManyBytes|TestManyFiles|TestManySearches|TestMemoryReads|TestMutation|TestPlacesAlone|TestPlainLinkage|TestPluginCheck|TestPprof|TestRecordLongText|TestRunOnIsSaid|TestShared|TestSnapshot|TestStays|TestThisKernel|TestWriteStreams

# Nothing here is C, and so one build serves vet, the tests and the programs that they start.
# To vet once is enough: 'go test' would do so anew for each processor, and for the race detector,
# with all that is imported. The tests of target/live keep all processors busy, and some of the others'
# programs wait for a time: they come last.
test: deps
	@$(MAKE) --no-print-directory --keep-going tests vet

ROOM     ?= ./frame

room:
	@SFWALK_LATER='$(LATER)' $(TESTALL) -skip '^($(LONG)|$(SECONDS))$$' -parts $$(nproc) $(ROOM)

tests:
	@SFWALK_LATER='$(LATER)' $(TESTALL) -skip '^($(LONG))$$' -last ./target/live -left .cache/left ./...

rest: all-deps
	+$(MAKE) --no-print-directory -j2 builds hosts
	+$(MAKE) --no-print-directory --keep-going long-tests race-tests

# Tests that take longest, each in packages that have others of the same code.
LONG     := TestARM64|TestAgree|TestBuilds|TestCannotCall|TestCgo|TestCoroutines|TestDocumentedCommands|TestDumpSyms|TestFileKinds|TestFileStacks|TestGoMixed|TestGuests|TestHostKilledAnywhen|TestHostileCode|TestInfoOfGuests|TestInlined|TestLargeProgram|TestLocalsAtStubAsGDB|TestLocalsOfGuestsAsGDB|TestLocalsOfOldGo|TestManyInlined|TestMeasure|TestMeasureCalls|TestMeasureFile|TestModels|TestOpenIsAttach|TestOracleMinidumps|TestOwnerKilled|TestPerf|TestPeriods|TestPictureOfProcesses|TestPieces|TestProgramAnew|TestRecordPage|TestRecordSteps|TestRecordWallCommand|TestRustAsGDB|TestSFrameDumpCut|TestSharedByThreads|TestSlowServer|TestStepsLibc|TestTextCopied|TestThreadLocals|TestThreadLocalsOfGuests|TestThrows|TestUnknownCode|TestWritingADecorator

# Those that 'make test' has left to this run with them, and those with recorded answers of gdb and other
# tools, which are asked anew (gdbtest.Recorded).
long-tests: all-deps
	@SFWALK_ASK=anew $(TESTALL) -run '^($(LONG))$$' -rest .cache/left ./...
	cd tools && CGO_ENABLED=0 $(GO) test -vet=off ./internal/...
	cd examples/sfwalk-profiler && CGO_ENABLED=0 $(GO) test -vet=off .

# The race detector takes twice the time and more: it watches the tests in which goroutines
# meet, and all of target/live. To build gRPC and Delve for it takes longer than all that: make race.
race-tests: all-deps
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

race: all-deps
	$(GO) test -race -timeout $(PATIENCE) -run '$(MEET)' ./internal/command/... ./sniffer/external ./delve/server

MEET     := ^(TestConcurrentUse|TestWalkersAtOnce|TestInOrder|TestConsistent|TestPlugin|TestUnsortedConcurrently|TestManyAtOnce|TestCloseWhileAsked|TestHostKilled|TestConcurrent|TestConcurrentJoin|TestProfileMeanwhile|TestWindow|TestRunning|TestDAPRuns|TestBadClients)$$

# Reading bytes must not depend on the host: s390x is big-endian, mips has 32
# bits as well. (The race detector knows neither. The tests in SLOW take as long
# as all others together and read what others read, only more of it: large files, for one. What writes SFrame, and
# reads machine code, runs on the supported one alone.)
HOSTS    := s390x mips
PORTABLE := ./format/breakpad ./format/elf ./format/gopclntab ./format/dwarf ./internal/elffile ./format/pages ./format/minidump ./format/sframe ./format/sframe/object ./format/sframe/separate ./format/cfi ./trad ./frame ./sniffer/fp ./target/jit ./target/minidump ./target/procmaps ./target/remote ./target/snapshot
ON_S390X := ./target/capture ./format/sframe/fromcfi ./internal/sframeverify ./arch/...
SLOW     := ^(TestInstalledFiles|TestManyBytes|TestMutation|TestHostileCode|TestDecode|TestReadFrame|TestReadFrameOfSystem|TestReadFrameTrap|TestReadSplit|TestInlined|TestSPDelta|TestLines|TestOracle.*|TestCutShort|TestGuests)$$|^TestCompiledFiles$$/^(static|exceptions_static|go)$$|^TestReadelf$$/^gdb|^TestMade$$/^(gdb|python3)

hosts: export GOGC := 400
hosts: all-deps
	@for a in $(HOSTS); do \
		if command -v qemu-$$a >/dev/null; then \
			echo "on $$a:"; more=; [ $$a != s390x ] || more="$(ON_S390X)"; \
			CGO_ENABLED=0 GOARCH=$$a $(GO) test -vet=off -timeout $(PATIENCE) -exec qemu-$$a -skip '$(SLOW)' $(PORTABLE) $$more || exit 1; \
		else \
			echo "make rest: NOT TESTED on $$a: no qemu-$$a"; \
			[ "$$CI" != true ] || exit 1; \
		fi; \
	done

# Real kernels, two emulated processors each, one machine after the other. Newer releases have
# the s390x machine in a package of its own.
system: all-deps
	@command -v qemu-system-aarch64 >/dev/null && command -v qemu-system-s390x >/dev/null && command -v qemu-system-x86_64 >/dev/null || { \
		sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; apt="$$sudo env DEBIAN_FRONTEND=noninteractive apt-get $(APT_WAIT) -q"; \
		$$apt update; $$apt install -y --no-install-recommends qemu-system-arm qemu-system-misc qemu-system-x86; \
		command -v qemu-system-s390x >/dev/null || $$apt install -y --no-install-recommends qemu-system-s390x; }
	CGO_ENABLED=0 $(GO) test -tags system -v -count=1 -timeout 3h ./internal/test/systemtest

# Where nothing can be installed, the tests that need a missing program are
# skipped, loudly; with CI=true they fail (internal/test/gdbtest decides).
all-deps: TOOLS := $(ALL_TOOLS)
all-deps: PACKAGES := $(ALL_PACKAGES)
all-deps: DWP := $(ALL_DWP)
deps all-deps:
	@missing=; for t in $(TOOLS); do [ -e $$t ] || command -v $$t >/dev/null || missing="$$missing $$t"; done; \
	if [ -n "$$missing" ]; then \
		sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; install="install -q --no-install-recommends"; \
		$$sudo apt-get update -q && packages="$(PACKAGES) $$(apt-cache pkgnames | grep -xE '$(DWP)' || true)" && \
		echo "installing what the tests need:$$missing" && \
		{ apt-get --assume-no $$install $$packages | grep -E 'newly installed|Need to get|disk space'; \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get $(APT_WAIT) -y $$install $$packages; } || \
		echo "make: cannot install$$missing: tests that need them are skipped"; \
	fi
	@sh internal/bench/sframe/libsframe.sh .cache/libsframe || echo "make: NOT TESTED against libsframe"
	@sh language/dotnet/testdata/fetch.sh .cache/dotnet || echo "make: NOT TESTED with all run times of .NET"
	@sh language/luajit/testdata/fetch.sh "$(CURDIR)/.cache/nginx" || echo "make: NOT TESTED with nginx's module for Lua"
	@sh language/beam/testdata/fetch.sh .cache/erlang || echo "make: NOT TESTED with Erlang's OTP 28"
	$(GO) mod download

bench: all-deps
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
	$(GO) test -count=1 -timeout 24h ./target/live ./format/cfi ./arch/amd64 ./cmd/sniffer-perfmap ./internal/command/... ./internal/test/guesttest ./internal/bench/lookup ./language/java ./language/python ./sniffer ./symbol ./logical ./inferior/native

soak-killed:
	$(GO) test -count=1 -timeout 24h -run 'TestHostKilledAnywhen' ./sniffer/external

soak-sniffer:
	$(GO) test -count=1 -timeout 24h -run 'TestIDs$$|TestSettle' ./sniffer

clean:
	rm -rf bin
