package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// Exit codes, as `sfwalk help` documents them.
const (
	exitWhole = 0 // all stacks are whole
	exitError = 1
	exitUsage = 2
	exitEarly = 3 // some stack ended early
)

// errEarly says that everything was printed and some stack ended early.
var errEarly = errors.New("some stack ended early")

// errInterrupted says that the user has interrupted the command.
var errInterrupted = errors.New("interrupted")

// exitStatus is the error of a command that has exit codes of its own. If err is nil,
// everything was printed.
type exitStatus struct {
	code int
	err  error
}

func (e exitStatus) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exitStatus) Unwrap() error { return e.err }

// Hosts do what only sfwalk-full does.
type Hosts struct {
	Plugins  PluginHost
	Delve    DelveServer
	Pages    PageServer
	Terminal ScreenHost
}

// Main runs sfwalk with its arguments and returns its exit code. A program without hosts becomes sfwalk-full when they are
// asked for.
func Main(args []string, hosts Hosts) int {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v" || args[0] == "version") {
		return mainVersion() // without all that a command takes to begin
	}
	growStack()
	collectLate()
	collectInTime()
	if hosts.Plugins != nil {
		os.Unsetenv(becoming) // this is the program that sfwalk has become
	}
	return run(args, hosts)
}

// collectLate delays the first garbage collection until the heap has 16 MB instead of 4. Most
// commands have ended by then, and a collection costs them more than it frees. After the first
// one the usual pace holds. A user's GOGC is respected.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	pace.Store(int64(debug.SetGCPercent(400)))
	runtime.AddCleanup(new(*int), func(struct{}) {
		if !collectingOften.Load() {
			debug.SetGCPercent(int(pace.Load()))
		}
	}, struct{}{})
}

// pace is the percentage of the live heap at which garbage is collected after the first collection.
var pace atomic.Int64

// collectSoon is collectLate for commands that read values, which are garbage as soon as they are text: the first
// collection is at 12 MB, and later ones at 50% of the live heap. A collection takes 1.5 MB for its own lists, so that an
// earlier one would free less than that.
func collectSoon() {
	if os.Getenv("GOGC") == "" && !collectingOften.Load() {
		pace.Store(50)
		debug.SetGCPercent(300)
	}
}

// deep is the level from which on a stack may be so deep that dead copies of it make up most
// of the memory in use.
const deep = 50_000

// collectOften has garbage collected when it reaches 30% of the live heap, not 100%.
var collectOften = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		collectingOften.Store(true)
		debug.SetGCPercent(30)
	}
})

// collectIfDeep is collectOften once a stack has come to level deep.
func collectIfDeep(level int) {
	if level >= deep {
		collectOften()
	}
}

// crowd is the number of goroutines from which on lists of them, and copies of their stacks, make
// up most of the memory in use: garbage that comes about beside these would be as much again.
const crowd = 10_000

// collectIfCrowd is collectOften for many goroutines.
func collectIfCrowd(goroutines int) {
	if goroutines >= crowd {
		collectOften()
	}
}

var collectingOften atomic.Bool

// collectNothing has no garbage collected until resume is called.
func collectNothing() (resume func()) {
	percent := debug.SetGCPercent(-1)
	return func() {
		if set := debug.SetGCPercent(percent); set != -1 { // one of the above, meanwhile
			debug.SetGCPercent(set)
		}
	}
}

const (
	// usualMemory is the limit of memory in use, bytes, as long as no more than usualLive of it
	// is live. The usual pace of collection would let half of the memory be garbage.
	usualMemory = 190 << 20
	usualLive   = 150 << 20
	// mostMemory is the limit that moves up with what is live, by as much as lies between usualLive
	// and usualMemory. A collection on a busy machine takes what is allocated meanwhile for live.
	mostMemory = 240 << 20
)

// memoryLimit is usualMemory, or the limit that collectBefore has set.
var memoryLimit atomic.Int64

// collectInTime has garbage collected before usualMemory is in use.
func collectInTime() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	memoryLimit.Store(usualMemory)
	debug.SetMemoryLimit(usualMemory)
	runtime.AddCleanup(new(*int), judgeMemory, struct{}{})
}

// judgeMemory sets the limit of memory after a collection, and has itself called after the next one.
func judgeMemory(struct{}) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	limit := memoryLimit.Load()
	if live := int64(sample[0].Value.Uint64()); limit == usualMemory && live > usualLive {
		if limit = live + usualMemory - usualLive; limit > mostMemory {
			limit = math.MaxInt64
		}
	}
	debug.SetMemoryLimit(limit)
	runtime.AddCleanup(new(*int), judgeMemory, struct{}{})
}

// collectBefore has garbage collected before limit bytes of memory are in use, until restore
// is called.
func collectBefore(limit int64) (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before, was := memoryLimit.Swap(limit), debug.SetMemoryLimit(limit)
	return func() {
		memoryLimit.Store(before)
		debug.SetMemoryLimit(was)
	}
}

func run(args []string, hosts Hosts) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal ends sfwalk at once
	root := newRoot(hosts, args)
	root.SetArgs(behindVerb(root, args))
	// All output goes through these, which escape control characters.
	out, stderr := printable.NewWriter(os.Stdout), printable.NewWriter(os.Stderr)
	defer stderr.Close()
	defer out.Close()
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var usage usageError
	var status exitStatus
	switch {
	case err == nil:
		return exitWhole
	case errors.Is(err, errEarly):
		return exitEarly
	case errors.As(err, &status):
		if status.err != nil {
			printable.Fprintf(stderr, "sfwalk: %v\n", status.err)
		}
		return status.code
	case errors.As(err, &usage):
		printable.Fprintf(stderr, "sfwalk: %v\n", err)
		for _, line := range hints(cmd) {
			printable.Fprintf(stderr, "%s\n", line)
		}
		return exitUsage
	}
	printable.Fprintf(stderr, "sfwalk: %v\n", err)
	return exitError
}

// endsAtOnce has the first signal end a command that reads files alone: it has nothing to tidy up.
func endsAtOnce(*cobra.Command, []string) { signal.Reset(os.Interrupt, syscall.SIGTERM) }

// newRoot makes the program's commands. If args begins with the name of one, only that is made, which saves time.
func newRoot(hosts Hosts, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "sfwalk",
		Short: "Print the stacks of a process",
		Long: `sfwalk prints the stack of every thread: of a live process, which it stops for a
moment only, of a core file, of a minidump, of a saved snapshot, or of the target of a GDB remote
stub. It reads SFrame and DWARF call frame information and, where code has neither, the
machine code itself.

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early
(its last line says why).`,
		Example: `  sfwalk attach 4242              all threads of process 4242
  sfwalk attach 4242 --json       the same, for a program
  sfwalk attach 4242 --explain    which sniffer unwound each frame, and how
  sfwalk core core.4242           what a process died of, and where
  sfwalk minidump crash.dmp       the same of Windows', Breakpad's and Crashpad's reports
  sfwalk open snapshot.4242       the stacks that 'sfwalk attach --save' has kept
  sfwalk remote localhost:1234    the target of gdbserver or qemu
  sfwalk record 4242 -d 10s       where it spends its time
  sfwalk top 4242                 the same on a screen
  sfwalk sframe verify FILE       check a file's SFrame against its DWARF
  sfwalk symbols dump FILE        make the symbol file for crash reports
  sfwalk call 4242 'malloc_trim(0)'   have it call a function
  sfwalk plugin list              the plug-ins that are asked
  sfwalk dlv attach 4242          debug it with Delve, and with whole stacks
  sfwalk demo                     try it on a bundled program`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version, err := cmd.Flags().GetBool("version"); err == nil && version {
				return printVersion(cmd.OutOrStdout())
			}
			return usageError{errors.New("which command? attach, core, minidump, open, remote, record, top, call, sframe, symbols, plugin, dlv, demo, version or help")}
		},
	}
	host := hosts.Plugins
	commands := []struct {
		name string
		make func() *cobra.Command
	}{
		{"attach", func() *cobra.Command { return newAttach(host) }},
		{"core", func() *cobra.Command { return newCore(host) }},
		{"minidump", func() *cobra.Command { return newMinidump(host) }},
		{"open", func() *cobra.Command { return newOpen(host) }},
		{"remote", func() *cobra.Command { return newRemote(host) }},
		{"record", func() *cobra.Command { return newRecord(host, hosts.Pages) }},
		{"perf", func() *cobra.Command { return newPerf(host, hosts.Pages) }},
		{"top", func() *cobra.Command { return newTop(host, hosts.Terminal) }},
		{"call", func() *cobra.Command { return newCall(host) }},
		{"sframe", newSFrame},
		{"symbols", newSymbols},
		{"plugin", func() *cobra.Command { return newPlugin(host) }},
		{"dlv", func() *cobra.Command { return newDlv(host, hosts.Delve) }},
		{"demo", func() *cobra.Command { return newDemo(host) }},
		{"version", newVersion},
		{fetchCommand, func() *cobra.Command { return newFetchDebugFiles(host) }},
	}
	one := -1
	for i := range commands {
		if len(args) > 0 && args[0] == commands[i].name {
			one = i
			root.CompletionOptions.DisableDefaultCmd = true
		}
	}
	for i := range commands {
		if one < 0 || i == one {
			root.AddCommand(commands[i].make())
		}
	}
	// Cobra's own flag would link text/template, which keeps all methods of all types in the program.
	root.Flags().BoolP("version", "v", false, "print the version of sfwalk")
	wrapArgs(root)
	return root
}
