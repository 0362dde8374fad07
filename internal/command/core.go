package command

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
)

func newCore(host PluginHost) *cobra.Command {
	return fileCommand(&cobra.Command{
		Use:   "core CORE",
		Short: "Print the stacks of a core file",
		Long: `core prints the stacks of a dead process from the core file that the kernel,
gcore or qemu has written. The thread that died comes first. Cores of amd64, arm64,
s390x, 32-bit x86 and 32-bit arm are read on any machine, also when they are cut short, or
compressed by zstd or xz as systemd-coredump does. A core that unpacks to far more
than is usual needs --max-unpacked. The name - stands for standard input, which is copied
to the folder for temporary files first: coredumpctl dump | sfwalk core -.

Core files leave out most code. It is read from the files that were mapped, if
they are the same files: by their paths, below --sysroot if the core is another
machine's; else by their names in the folders of the core and of the program. --exe
gives the program's file if the core does not name it or it is elsewhere.

Of each thread that waits for a lock, core says which one, and which thread holds it, if the C
library, or Rust's, tells. Threads that wait for each other are named as a deadlock.

--merge prints equal stacks once, with the threads that have them, most first; --tree prints all
as one tree. --format pprof, folded, speedscope, firefox or flamegraph writes them as one picture, for other
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
  sfwalk core core.4242 --json | jq .signal`,
	}, host, coreFile)
}

// fileCommand completes cmd: it prints the stacks of one file, its argument, which open opens.
func fileCommand(cmd *cobra.Command, host PluginHost, open func(path string, opts core.Options) (*source, error)) *cobra.Command {
	var flags walkFlags
	var opts core.Options
	var save dumping
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := save.check(&flags); err != nil {
			return err
		}
		if err := flags.begin(cmd); err != nil {
			return err
		}
		defer flags.end(cmd)
		opts.TrustPaths = flags.debug.trust
		file, remove, err := spool(cmd.Context(), args[0], cmd.InOrStdin())
		if err != nil {
			return fmt.Errorf("%s %w", cmd.Name(), err)
		}
		defer remove()
		s, err := open(file, opts)
		if err != nil {
			return renamed{err, file, args[0]}
		}
		defer s.Close()
		if file != args[0] {
			remove() // it is open: nothing is left of it if sfwalk is killed
			s.about = named(args[0], s.about)
		}
		return save.show(cmd, s, &flags)
	}
	flags.add(cmd, host)
	addFiles(cmd, &opts.Exe, &opts.Sysroot)
	save.add(cmd)
	cmd.Flags().Var((*byteSize)(&opts.MaxUnpacked), "max-unpacked", "how much a compressed file may unpack to, for example 20G, in the folder for temporary files (default: 512M and 256 times its size)")
	return cmd
}

// addFiles adds the flags that say where a target's files are. Only a target that is not a process
// of this machine needs them.
func addFiles(cmd *cobra.Command, exe, sysroot *string) {
	cmd.Flags().StringVar(exe, "exe", "", "the program's file, if it is not at its path")
	cmd.Flags().StringVar(sysroot, "sysroot", "", "the folder below which the target's files are; links do not lead out of it, as after chroot (default: this machine's root)")
}

// byteSize is a flag: a number of bytes, with a unit or without.
type byteSize int64

// Set implements pflag.Value.
func (b *byteSize) Set(text string) error {
	number, unit := strings.TrimRight(text, "KMGTiB"), uint(0)
	if rest := text[len(number):]; rest != "" {
		i := strings.Index("KMGT", rest[:1])
		if i < 0 || rest[1:] != "" && rest[1:] != "B" && rest[1:] != "iB" {
			return errSize
		}
		unit = 10 * uint(i+1)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>unit {
		return errSize
	}
	*b = byteSize(n << unit)
	return nil
}

var errSize = errors.New("want a number of bytes, or of K, M, G or T")

// String implements pflag.Value.
func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type implements pflag.Value.
func (b *byteSize) Type() string { return "size" }

// unpackError adds to err the flag that allows more to be unpacked.
func unpackError(err error) error {
	if errors.Is(err, core.ErrTooLarge) {
		return fmt.Errorf("%w: allow more by --max-unpacked SIZE, if there is room for it in %s", err, os.TempDir())
	}
	return err
}

func coreFile(path string, opts core.Options) (*source, error) {
	t, err := core.Open(path, opts)
	if err != nil {
		return nil, unpackError(err)
	}
	return &source{
		Target:  t,
		input:   onDisk(path),
		process: Process{PID: t.PID, Root: opts.Sysroot},
		root:    opts.Sysroot,
		named:   t.OpenNamed,
		about: func(doc *document) {
			doc.Core, doc.PID, doc.Exe = path, t.PID, t.Exe
			if s := t.Signal; s != nil {
				doc.Signal = &sig{Number: s.Number, Name: s.Name, Code: s.CodeName, Sender: s.Sender}
				if s.HasAddr {
					doc.Signal.Address = &hex{s.Addr, true}
				}
			}
		},
		mark:      func(of target.Thread, th *thread) { th.Died = of.(*core.Thread).Died },
		warnings:  t.Warnings,
		oneMoment: func() bool { return true },
	}, nil
}
