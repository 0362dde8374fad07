package exit

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Foreign is a flag of another tool's that no command of sfwalk has, or that few have.
type Foreign struct {
	Names []string // as that tool has them, without dashes
	Verbs []string // of the commands of sfwalk that the row is for; nil for all
	Text  string   // says what does the same
}

// Foreigners are flags that the users of gdb, eu-stack, perf, py-spy, strace, jstack and dlv type.
// The first row with the name and the verb counts.
var Foreigners = []Foreign{
	{[]string{"core", "c"}, []string{"core", "open"}, "the file is the argument, without a flag"},
	{[]string{"core"}, nil, "'sfwalk core FILE' reads core files"},
	{[]string{"c"}, []string{"attach"}, "'sfwalk core FILE' reads core files"},
	{[]string{"ex", "iex", "x", "eval-command", "command", "batch", "nx", "q", "quiet", "tui"}, nil, "sfwalk has no commands of gdb's: docs/coming-from.md has what does the same"},
	{[]string{"pid", "p"}, []string{"core", "open", "minidump", "perf", "remote"}, "'sfwalk attach PID' looks at a process"},
	{[]string{"s"}, []string{"attach", "core", "open", "minidump", "remote"}, "source lines are printed unasked; --source prints their text"},
	{[]string{"i", "inlines"}, []string{"attach", "core", "open", "minidump", "remote"}, "inlined calls are printed unasked; --no-lines leaves them out"},
	{[]string{"1"}, nil, "--tid TID prints one thread alone"},
	{[]string{"m", "module"}, []string{"attach", "core", "open", "minidump", "remote"}, "--modules prints each frame's file"},
	{[]string{"b", "build-id"}, []string{"attach", "core", "open", "minidump", "remote"}, "--json has the build IDs"},
	{[]string{"l"}, []string{"attach", "core", "open"}, "--locals prints local variables; which thread waits for which lock, attach --consistent says, and core unasked"},
	{[]string{"v", "verbose"}, []string{"attach", "core", "open", "minidump", "remote"}, "--explain says how each frame was found, --log FILE what was read"},
	{[]string{"a"}, []string{"attach"}, "--all prints all processes; a process's threads are all printed unasked"},
	{[]string{"d", "duration", "F", "r", "frequency", "rate"}, []string{"attach"}, "'sfwalk record PID -d 10 -F 99' samples; attach --every 1 --count 10 prints the stacks ten times"},
	{[]string{"interval"}, []string{"attach", "top"}, "--every 1"},
	{[]string{"t", "thread"}, []string{"attach", "core", "open", "minidump", "remote", "call"}, "--tid TID chooses a thread"},
	{[]string{"t", "tid"}, []string{"record", "top"}, "all threads of a process are recorded; the profile says which sample is whose"},
	{[]string{"g", "call-graph"}, []string{"record", "top"}, "stacks are recorded unasked"},
	{[]string{"c", "count", "period"}, []string{"record", "top"}, "-F FREQUENCY says how many samples a second, --event what is counted"},
	{[]string{"r", "rate"}, []string{"record", "top"}, "-F FREQUENCY says how many samples a second"},
	{[]string{"timeout"}, []string{"record"}, "-d 10 records for ten seconds"},
	{[]string{"s", "subprocesses"}, []string{"record", "top"}, "processes that begin meanwhile are recorded unasked"},
	{[]string{"s", "subprocesses"}, nil, "--children PID prints a process and all below it"},
	{[]string{"n", "native"}, nil, "native frames are there unasked"},
	{[]string{"name"}, []string{"call"}, "give the PID: pgrep NAME finds it"},
	{[]string{"k", "f"}, []string{"attach"}, "attach prints the stacks of all threads, once; --every 1 repeats it"},
	{[]string{"svg", "flamegraph"}, []string{"attach", "core", "open", "minidump", "remote", "record", "perf"}, "-o x.svg writes a flame graph"},
}

// foreign returns what does the same as a flag of another tool's; "" if nothing is known of that.
func foreign(cmd *cobra.Command, name string) string {
	verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	for _, f := range Foreigners {
		if slices.Contains(f.Names, name) && (f.Verbs == nil || slices.Contains(f.Verbs, verb)) {
			return f.Text
		}
	}
	return ""
}
