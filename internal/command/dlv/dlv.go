package dlv

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/debugfiles"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/sectioncache"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/decorators"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// Server is a debugger that serves Delve's clients. There is one, in
// internal/command/dlvhost; this package must not import it.
type Server interface {
	// Serve serves clients until ctx is done or the debugging is over.
	Serve(ctx context.Context, o Options) error
}

// Options say what to debug (a process to attach to, a program to start, packages to build and
// start, a core file, or what a client asks for) and which clients to serve.
type Options struct {
	PID  int      // the process to attach to; 0 for none
	Args []string // the program to start and its arguments; with Core, the program alone
	Core string   // the core file; "" for none

	Build      string   // "debug" or "test": Packages are built, or their tests, and started; "" for none
	Packages   []string // as for go build; none is the package in the current folder
	BuildFlags string   // for go build, quoted as for a shell
	Output     string   // the file that is built, and removed at the end; "" for a temporary one in the current folder

	DAP    bool   // one client of DAP says what to debug
	Client string // its address, to connect to; "" to wait for it

	Log       bool   // log Delve's work
	LogOutput string // the parts to log, separated by commas
	LogDest   string // a file for the log and for the line with the address, or the number of a file that is open; "" for standard error and output

	Dir            string    // the folder to start the program in; "" for the current one
	TTY            string    // the program's terminal; "" for this one
	Redirects      [3]string // files for the program's standard input, output and error output; "" for this program's
	NoASLR         bool      // have the kernel place the program at the same addresses each time
	Continue       bool      // let the process run before a client comes
	CheckGoVersion bool      // refuse programs of a Go that Delve does not know

	Symbols symbol.Options // where debug information is, and what is kept of it

	// Unwinding returns the sniffers for a new process.
	Unwinding func(a *arch.Arch, of hosts.Process) Unwinding
	AllFrames bool            // show the frames of languages' run times, too
	Warnings  func() []string // all warnings of the sniffers so far

	Listen    string         // an address as net.Listen takes it for "tcp", or unix:PATH
	Multi     bool           // serve any number of clients, one after the other or at once
	SameUser  bool           // of this machine's users, only this one may connect
	Listening func(net.Addr) // is called when clients may connect
}

// Unwinding has the sniffers and the decorators for one process.
type Unwinding struct {
	Table      *frame.Table
	Name       func(*frame.Frame) (logical.Name, bool) // a plug-in's name for a frame or its code; nil where there are no plug-ins
	Decorators []language.Decorator
	Close      func() // is called when the process has ended or is replaced
}

// dlvFlags are the flags that all dlv commands have.
type dlvFlags struct {
	sniffers.Choice
	Options
	debug    debugfiles.Flags
	noCache  bool
	headless bool
	api      int
	backend  string

	redirects []string // as given
	ignored   []string // flags of dlv's that have no effect with this verb
}

// New makes the verb dlv.
func New(host hosts.Plugins, delve Server) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dlv",
		Short: "Serve Delve's clients, with whole stacks",
		Long: `dlv is a server of the debugger Delve with sfwalk's stacks: they go on through C code
without frame pointers, signal handlers and callbacks into Go. 'dlv connect', and editors
that speak DAP, connect to it as to 'dlv --headless'. 'stack', 'goroutines -t', 'frame N',
'up' and 'down' show sfwalk's frames, and 'call' has the process call C functions that
Delve does not find; everything else is Delve's. Frames
of C, C++ and Rust have arguments and locals, too: 'args', 'locals', 'print', 'stack
-full', and an editor's views of variables. 'set' changes their numbers and pointers, if
these are in memory. Frames of languages (` + report.LanguageNames() + `) stand
among C's, as in 'sfwalk attach', with their variables. A Go program without DWARF has goroutines and stacks, but
its Go frames have no variables. Plug-ins are asked as 'sfwalk attach' asks
them (see 'sfwalk plugin'), anew at each stop, and name their frames.

It prints the address that it listens at:

  API server listening at: 127.0.0.1:38697

'dlv connect 127.0.0.1:38697' connects to that, and an editor with a configuration like
{"type": "go", "request": "attach", "mode": "remote", "host": "127.0.0.1", "port": 38697}.

A client controls the process, and can do whatever its user can. Of this machine's
users, only you may connect (--only-same-user). Connections from other machines, if
--listen lets them in, are neither authenticated nor encrypted.

The server ends when its client is gone (without --accept-multiclient), when a client
ends the debugging, and on Ctrl-C. A process that it has attached to runs on, unless the
client kills it; a process that it has started ends. If the server itself is killed
(SIGKILL), the process runs on, and dies at the first breakpoint left in its code.

An editor that starts dlv by itself (dlv dap) can start this instead, by a script of two
lines: docs/editors.md.

sfwalk becomes the program sfwalk-full for this. It runs on Linux, on amd64 and arm64.`,
		Example: `  sfwalk dlv attach 4242                a live process
  sfwalk dlv exec ./server              a program
  sfwalk dlv debug ./cmd/server         a package, which is built first
  sfwalk dlv test ./frame               a package's tests
  sfwalk dlv core ./server core.4242    a core file
  sfwalk dlv dap                        what an editor asks for`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Misuse(errors.New("dlv: which command? attach, exec, debug, test, core or dap"))
		},
	}
	cmd.AddCommand(newDlvAttach(host, delve), newDlvExec(host, delve), newDlvBuild(host, delve, "debug"), newDlvBuild(host, delve, "test"),
		newDlvCore(host, delve), newDlvDAP(host, delve))
	return cmd
}

func newDlvAttach(host hosts.Plugins, delve Server) *cobra.Command {
	var o dlvFlags
	var w waitFor
	var pids cmdline.PIDs
	cmd := &cobra.Command{
		Use:   "attach PID",
		Short: "Debug a live process",
		Long: `attach stops a process and serves clients that debug it, as 'dlv attach' does. The
process may be a C program, too, with threads, stacks and memory.

--waitfor waits for the process in place of a PID: the first one whose command line begins
with a text. Those that run already count, too.`,
		Example: `  sfwalk dlv attach 4242
  sfwalk dlv attach --waitfor ./server --waitfor-duration 10000
  sfwalk dlv attach 4242 --listen 127.0.0.1:2345 --accept-multiclient
  sfwalk dlv attach 4242 --listen unix:/run/user/1000/dlv.sock
  sfwalk dlv attach 4242 --plugin ./sniffer-mine`,
		Args: func(cmd *cobra.Command, args []string) error {
			if w.prefix != "" && len(pids.Before(args)) > 0 {
				return exit.Misuse(errors.New("dlv attach: a PID and --waitfor exclude each other"))
			} else if w.prefix != "" {
				return nil
			}
			return pids.One(cobra.ExactArgs(1))(cmd, args)
		},
		ValidArgsFunction: cmdline.CompleteProcess,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			switch {
			case w.prefix == "":
				if o.PID, err = cmdline.Process(cmd, pids.Before(args)[0]); err != nil {
					return err
				}
			case delve != nil: // else this program becomes another one, which waits
				if o.PID, err = w.process(cmd.Context()); err != nil {
					return fmt.Errorf("dlv attach: %w", err)
				}
			}
			return o.serve(cmd, delve)
		},
	}
	pids.Add(cmd, "this process: the same as an argument")
	w.add(cmd)
	o.addContinue(cmd)
	o.add(cmd, host)
	return cmd
}

func newDlvExec(host hosts.Plugins, delve Server) *cobra.Command {
	var o dlvFlags
	cmd := &cobra.Command{
		Use:   "exec PROGRAM [-- ARGUMENT...]",
		Short: "Start a program and debug it",
		Long: `exec starts a program, stops it before its first instruction, and serves clients that
debug it, as 'dlv exec' does. Its input and output are this terminal, or --tty. Build Go
code without optimisation: go build -gcflags='all=-N -l'.`,
		Example: `  sfwalk dlv exec ./server
  sfwalk dlv exec ./server --wd /srv -- --port 8080`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); len(args) > 1 && dash != 1 {
				return exit.Misuse(fmt.Errorf("dlv exec %s: put -- before its arguments", args[0]))
			}
			o.Args = args
			return o.serve(cmd, delve)
		},
	}
	o.addStart(cmd, "this one")
	o.addContinue(cmd)
	o.add(cmd, host)
	return cmd
}

func newDlvCore(host hosts.Plugins, delve Server) *cobra.Command {
	var o dlvFlags
	cmd := &cobra.Command{
		Use:   "core PROGRAM CORE",
		Short: "Debug a core file",
		Long: `core opens the core file of a program, as 'dlv core' does, and serves clients that
look at it.`,
		Example: `  sfwalk dlv core ./server core.4242`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args, o.Core = args[:1], args[1]
			return o.serve(cmd, delve)
		},
	}
	o.add(cmd, host)
	return cmd
}

// add adds dlv's own flags, by the same names, and the flags that choose the sniffers. Flags of one
// verb alone are there before.
func (o *dlvFlags) add(cmd *cobra.Command, host hosts.Plugins) {
	f := cmd.Flags()
	f.BoolVar(&o.headless, "headless", true, "serve clients, and read no commands: always so")
	f.IntVar(&o.api, "api-version", 2, "the version of Delve's JSON-RPC: 2, the only one")
	f.MarkHidden("headless")
	f.MarkHidden("api-version")
	f.BoolVar(&o.Log, "log", false, "log what Delve does")
	f.StringVar(&o.LogOutput, "log-output", "", "the parts of Delve to log, separated by commas: dlv help log lists them")
	f.StringVar(&o.LogDest, "log-dest", "", "the file for the log and for the line with the address, or the number of an open file (default: standard error and output)")
	f.StringVarP(&o.Listen, "listen", "l", "127.0.0.1:0", "the `address` to listen at: HOST:PORT, or unix:PATH; port 0 is any free port")
	if cmd.Name() != "dap" {
		f.BoolVar(&o.Multi, "accept-multiclient", false, "serve any number of clients, and go on without any")
	}
	f.BoolVar(&o.SameUser, "only-same-user", true, "of this machine's users, let only you connect, over TCP or a Unix socket")
	f.BoolVar(&o.AllFrames, "all-frames", false, "show the frames of languages' run times, too, such as Python's evaluator")
	f.BoolVar(&o.CheckGoVersion, "check-go-version", true, "refuse a program of a Go that Delve does not know")
	o.debug.Add(cmd, host)
	f.BoolVar(&o.noCache, "no-cache", false, "neither use nor keep anything below the user's cache folder: inflated debug information, indexes of large symbol files")
	o.Choice.Add(cmd, host)
	o.addIgnored(cmd)
}

// symbols says where debug information is. What servers have is fetched before the process is
// stopped, or, if it is started here, when it is needed.
func (o *dlvFlags) symbols(cmd *cobra.Command) {
	o.debug.Begin(cmd)
	o.Symbols = symbol.Options{DebugDirs: o.debug.DirsInOrder(), ByBuildID: o.debug.ByBuildID}
	if !o.noCache {
		o.Symbols.Inflated = sectioncache.New(cmd.Context())
	}
	if len(o.debug.Servers.URLs) == 0 {
		return
	}
	if o.PID == 0 && o.Core == "" {
		o.Symbols.ByBuildID = o.debug.FetchWhenNeeded(func(why string) { cmdline.Warn(cmd, why) })
		return
	}
	var s report.Source
	var err error
	if o.PID != 0 {
		s, err = targets.Process(cmd.Context(), o.PID, live.Options{})
	} else {
		s, err = targets.Core(o.Core, core.Options{Exe: o.Args[0]})
	}
	if err != nil {
		return // Delve fails for the same reason, and says it
	}
	defer s.Close()
	flags := &report.Flags{Choice: o.Choice, Debug: o.debug}
	report.FetchDebugFilesOf(s, flags)
	for _, why := range flags.Debug.Failed {
		cmdline.Warn(cmd, why)
	}
}

// serve serves clients. If this program cannot, it becomes one that can.
func (o *dlvFlags) serve(cmd *cobra.Command, delve Server) error {
	o.NoIndex = o.NoIndex || o.noCache
	if err := errors.Join(o.debug.Check(), o.Check()); err != nil {
		return err
	}
	switch {
	case !o.headless:
		return exit.Misuse(errors.New("--headless=false: sfwalk dlv is a server; 'dlv connect' reads commands"))
	case o.api != 2:
		return exit.Misuse(fmt.Errorf("--api-version %d: want 2", o.api))
	case !o.Log && o.LogOutput != "":
		return exit.Misuse(errors.New("--log-output needs --log"))
	}
	if err := o.checkAsDelve(cmd); err != nil {
		return err
	}
	if delve == nil {
		return hosts.BecomeFull()
	}
	if err := o.Begin(cmd); err != nil {
		return err
	}
	defer o.End()
	o.Plugins.Wait() // not while a process is stopped
	o.symbols(cmd)
	o.Unwinding, o.Warnings = o.unwinding, o.Warned
	o.Listening = func(at net.Addr) {
		if tcp, ok := at.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
			cmdline.Warn(cmd, fmt.Sprintf("any client that reaches %s controls the process: connections are neither authenticated nor encrypted", at))
		}
		if o.LogDest != "" {
			return // the line is there
		}
		// Editors know these lines of dlv's.
		what := "API"
		if o.DAP {
			what = "DAP"
		}
		printable.Fprintf(cmd.OutOrStdout(), "%s server listening at: %s\n", what, at)
	}
	return delve.Serve(cmd.Context(), o.Options)
}

// unwinding is [DelveOptions.Unwinding].
func (w *dlvFlags) unwinding(a *arch.Arch, of hosts.Process) Unwinding {
	list := w.Plugins.About(of)
	u := Unwinding{Table: w.Table(a, false, list), Decorators: append(decorators.Usual(), w.Plugins.Decorators(of)...), Close: func() {
		for _, s := range list {
			s.Close()
		}
	}}
	if len(list) > 0 {
		u.Name = func(f *frame.Frame) (logical.Name, bool) { return sniffers.NameOf(list, f, false) }
	}
	return u
}
