package stacks

import (
	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/target/core"
)

// NewOpen makes the verb open.
func NewOpen(host hosts.Plugins) *cobra.Command {
	return fileCommand(&cobra.Command{
		Use:   "open FILE",
		Short: "Print the stacks of a saved snapshot",
		Long: `open prints the stacks of a snapshot that 'sfwalk attach --save FILE' has written.
They are the same stacks, also when the process is long gone, and on any machine. On
another machine, open looks for the files that were mapped by their paths, or below
--sysroot, and uses them if they are the same files; --exe gives the program's file if it
is elsewhere.

If the snapshot is of one moment (attach --consistent --save), open says of each thread that waits
for a lock which one, and which thread holds it, and names deadlocks.

--merge prints equal stacks once, with the threads that have them, most first; --tree prints all
as one tree. --format ` + report.Either(report.StackFormats) + ` writes them as one picture, for other
programs and for browsers, to standard output or to the file of -o.

--goroutines prints the goroutines of a Go program in place of its threads, if the snapshot was
saved by attach --goroutines --save.

A snapshot is an ELF core file: gdb and 'sfwalk core' can open it, too. --save FILE --format
minidump also writes a minidump of it, for minidump_stackwalk and all that reads crash reports.

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early.`,
		Example: `  sfwalk open snapshot.4242
  sfwalk open --exe ./server snapshot.4242
  sfwalk open snapshot.4242 --print 'req->url' --frame handle_request
  sfwalk open --sysroot /srv/arm64-root snapshot.4242
  sfwalk open snapshot.4242 --merge
  sfwalk open snapshot.4242 --goroutines
  sfwalk open snapshot.4242 --save 4242.dmp --format minidump
  sfwalk open snapshot.4242 --json | jq .taken`,
	}, host, func(path, name string, opts core.Options) (report.Source, error) {
		s, err := targets.Snapshot(path, opts)
		if err != nil {
			return nil, err
		}
		s.Name = name
		return s, nil
	})
}
