package stacks

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/target/core"
)

// NewCore makes the verb core.
func NewCore(host hosts.Plugins) *cobra.Command {
	cmd := fileCommand(&cobra.Command{
		Use:   "core CORE",
		Short: "Print the stacks of a core file",
		Long: `core prints the stacks of a dead process from the core file that the kernel,
gcore or qemu has written. The thread that died comes first. Cores of amd64, arm64,
s390x, 32-bit x86 and 32-bit arm are read on any machine, also when they are cut short, or
compressed by zstd, xz or lz4 as systemd-coredump does. A core that unpacks to far more
than is usual needs --max-unpacked. The name - stands for standard input, which is copied
to the folder for temporary files first: coredumpctl dump | sfwalk core -.

--last opens the newest core that systemd-coredump keeps; --match the one of a process, a
program or a field, as coredumpctl's arguments do; --list lists them. They read the
names and attributes of the files, not the journal, which also knows of cores that were removed.

Core files leave out most code. It is read from the files that were mapped, if
they are the same files: by their paths, below --sysroot if the core is another
machine's; else by their names in the folders of the core and of the program. --exe
gives the program's file if the core does not name it or it is elsewhere.

If the process aborted, core prints what it said: a failed assertion, an exception or a panic
with its message, as far as memory has them.

Of each thread that waits for a lock, core says which one, and which thread holds it, if the C
library, or Rust's, tells. Threads that wait for each other are named as a deadlock.

--merge prints equal stacks once, with the threads that have them, most first; --tree prints all
as one tree. --format ` + report.Either(report.StackFormats) + ` writes them as one picture, for other
programs and for browsers, to standard output or to the file of -o.

--goroutines prints the goroutines of a Go program in place of its threads, parked ones too,
equal ones once, with their state and the go statement that has made them.

--save FILE --format minidump also writes a minidump, for minidump_stackwalk and all that
reads crash reports: the signal, all threads, whatever is printed, with their stacks, and the
modules with their build IDs. Only the file's owner can read it.

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early.`,
		Example: `  sfwalk core core.4242
  sfwalk core --exe ./server core.4242
  sfwalk core core.4242 --print 'req->url' --frame handle_request
  sfwalk core --sysroot /srv/arm64-root core.4242.zst
  sfwalk core core.4242 --merge
  sfwalk core core.4242 --goroutines
  sfwalk core core.4242 --save 4242.dmp --format minidump
  sfwalk core core.4242 --json | jq .signal
  sfwalk core --list
  sfwalk core --last
  sfwalk core --last nginx
  sfwalk core --match 4242
  sfwalk core --last --match COREDUMP_UID=1000 --since yesterday`,
	}, host, func(path, name string, opts core.Options) (report.Source, error) {
		c, err := targets.Core(path, opts)
		if err != nil {
			return nil, err
		}
		c.Name = name
		return c, nil
	})
	var kept stored
	kept.add(cmd)
	open, one := cmd.RunE, cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := kept.check(cmd, args); err != nil || kept.asked() {
			return err
		}
		return one(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if kept.asked() {
			path, err := kept.choose(cmd, args)
			if err != nil || path == "" {
				return err
			}
			args = []string{path}
		}
		return open(cmd, args)
	}
	return cmd
}

// withoutProgram returns two arguments, a program and a core file, as gdb and dlv take them,
// without the program, and that. exe is the program of --exe: then none is looked for.
func withoutProgram(args []string, exe string) (rest []string, program string) {
	if len(args) == 2 && exe == "" {
		for i, path := range args {
			if k, ok := kinds.Of(path); ok && k.HasCode() {
				return []string{args[1-i]}, path
			}
		}
	}
	return args, exe
}

// fileCommand completes cmd: it prints the stacks of one file, its argument, which open opens. name
// is what the user calls the file.
func fileCommand(cmd *cobra.Command, host hosts.Plugins, open func(path, name string, opts core.Options) (report.Source, error)) *cobra.Command {
	var flags report.Flags
	var opts core.Options
	var save dumping
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		rest, _ := withoutProgram(args, opts.Exe)
		return cobra.ExactArgs(1)(cmd, rest)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, opts.Exe = withoutProgram(args, opts.Exe)
		if err := save.check(&flags); err != nil {
			return err
		}
		if err := flags.Begin(cmd); err != nil {
			return err
		}
		defer flags.End(cmd)
		opts.TrustPaths = flags.Debug.Trust
		if err := save.begin(cmd); err != nil {
			return err
		}
		defer save.file.Discard()
		file, remove, err := files.Spool(cmd.Context(), args[0], cmd.InOrStdin())
		if err != nil {
			return fmt.Errorf("%s %w", cmd.Name(), err)
		}
		defer remove()
		s, err := open(file, args[0], opts)
		if err != nil {
			return kinds.Explain(files.Rename(err, file, args[0]), cmd.Name(), args[0])
		}
		defer s.Close()
		if file != args[0] {
			remove() // it is open: nothing is left of it if sfwalk is killed
		}
		return save.show(cmd, s, &flags)
	}
	flags.Add(cmd, host)
	cmdline.Files(cmd, &opts.Exe, &opts.Sysroot)
	save.add(cmd)
	cmd.Flags().Var((*cmdline.Size)(&opts.MaxUnpacked), "max-unpacked", "how much a compressed file may unpack to, for example 20G, in the folder for temporary files (default: 512M and 256 times its size)")
	return cmd
}
