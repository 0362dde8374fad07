package profile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/internal/command/processes"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/record"
)

// recordFlags are the flags of record.
type recordFlags struct {
	report.Flags
	profileFlags
	duration  time.Duration
	frequency int
	event     string
	stack     cmdline.Size
	system    bool
	pages     pageFlags
	wall      bool
	which     processes.Chosen
}

// maxWarnings bounds what is said of the processes of one recording.
const maxWarnings = 100

// NewRecord makes the verb record.
func NewRecord(host hosts.Plugins, web PageServer) *cobra.Command {
	var flags recordFlags
	cmd := &cobra.Command{
		Use:   "record {PID... | --container NAME | --system | -- COMMAND [ARGUMENT...]}",
		Short: "Record where a process spends its time",
		Long: `record samples the stacks of a process while it runs, 99 times a second of each thread's
time on a processor, and writes how often each stack was found. The kernel copies the registers and
the inner part of the stack; sfwalk walks each copy as it comes. So the process is never stopped, it needs
no frame pointers, and no stack is kept on a disk.

It records until Ctrl-C, until the processes have ended, or for the time of -d. Threads and
processes that these begin meanwhile are recorded, too. Where threads are short or many, root samples processors, which counts all. With --, record starts a command, and ends
with its exit code.

Several processes make one profile: by their PIDs, by --name, with all children by --children, the processes of a control
group by --cgroup, of a container or a pod by --container. A process that enters the container later, as by docker exec, is not recorded.

The format is what --format says, or the file's name: ` + suffixes() + `.
--format json writes all that is known.

With --http, a browser sees the recording while it goes on, in pprof's own pages: graph, flame graph, functions with the most time,
source, and instructions. Each page has the samples of the moment when it is loaded. --base FILE shows what has
changed since an earlier profile. The pages stay until Ctrl-C. Only you can open them, by the address that is printed. sfwalk becomes the program sfwalk-full for this.

With --wall, all threads are sampled 20 times a second, also while they wait: it shows what a process waits for.
Each thread is stopped for some ten microseconds, as attach does, read, and let go. That takes the right to trace the
process, and perf_event_open(2) need not be allowed. A thread's state is the label "state"; a sample counts for the time since
the one before. Functions of Python and other languages that attach shows are frames then, in the place of their interpreter's.
Java's are frames without --wall, too.

Samples of a Go program have the number of their goroutine and its labels (which runtime/pprof.Do sets), where these were the same before and
after the sample.

A stack that is longer than the kernel's copy goes on along frame pointers if the kernel's own walk
agrees with what was walked. A stack that is not whole ends in a frame that says why: "[…]".

Without root, only a user's own processes can be recorded, without the kernel's frames, and only if the machine
allows it: sysctl kernel.perf_event_paranoid=2 or less.

Exit codes: 0 the profile is written; 1 error; 2 usage; of a command: its own.`,
		Example: `  sfwalk record 4242
  sfwalk record 4242 -d 10s -o profile.pb.gz
  sfwalk record 4242 -d 10s -F 999 -o profile.svg
  sfwalk record 4242 -d 10s --format folded -o - | sort -k2 -n
  sfwalk record 4242 --event page-faults
  sfwalk record 4242 --http localhost:0
  sfwalk record 4242 --event off-cpu
  sfwalk record 4242 --wall -d 10s -o wall.svg
  sfwalk record 4242 --wall --all-frames -d 10s -o wall.svg
  sfwalk record --container web -d 10s -o web.svg
  sfwalk record --name nginx -d 10s
  sfwalk record --system -d 10s
  sfwalk record -- ./server -port 8080`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var command []string
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, command = args[:at], args[at:]
			}
			pids, err := flags.check(cmd, args, command)
			if err != nil {
				return err
			}
			if flags.pages.listen != "" && web == nil {
				return hosts.BecomeFull()
			}
			if err := flags.Begin(cmd); err != nil {
				return err
			}
			defer flags.End(cmd)
			return flags.run(cmd, web, args, pids, command)
		},
	}
	f := cmd.Flags()
	flags.addSampling(cmd, host)
	cmdline.DurationP(f, &flags.duration, "duration", "d", 0, "record for this long (default until Ctrl-C)")
	flags.pages.add(cmd, ", while it goes on")
	flags.profileFlags.add(cmd, ", with --http none")
	cmd.ValidArgsFunction = cmdline.CompleteProcess
	return cmd
}

// addSampling adds the flags that say how samples are taken and named.
func (r *recordFlags) addSampling(cmd *cobra.Command, host hosts.Plugins) {
	f := cmd.Flags()
	r.which.Add(cmd)
	f.IntVarP(&r.frequency, "frequency", "F", record.UsualFrequency, fmt.Sprintf("samples a second; with --wall, %d if it is not given", record.UsualWallFrequency))
	f.BoolVar(&r.wall, "wall", false, "sample all threads, running or waiting, by short stops")
	f.StringVarP(&r.event, "event", "e", perfevent.Events[0].Name, "what is counted: "+strings.Join(eventNames(), ", "))
	r.stack = perfevent.MaxStack
	f.Var(&r.stack, "stack", "how much of each stack the kernel copies; less costs the process less")
	f.BoolVarP(&r.system, "system", "a", false, "record all processes of the machine")
	f.BoolVar(&r.NoLines, "no-lines", false, "name functions alone, without files, lines and inlined calls")
	f.BoolVar(&r.NoCache, "no-cache", false, "neither use nor keep anything below the user's cache folder")
	f.BoolVar(&r.View.AllFrames, "all-frames", false, "keep the frames of an interpreter or virtual machine itself, too, in whose place its language's frames stand")
	r.Choice.Add(cmd, host)
	r.Debug.Add(cmd, host)
	r.Debug.AddTrust(cmd)
	r.Color = "never"
}

func eventNames() (list []string) {
	for _, e := range perfevent.Events {
		list = append(list, e.Name)
	}
	return list
}

// check finds mistakes in the flags, and returns the processes that the arguments name.
func (r *recordFlags) check(cmd *cobra.Command, args, command []string) (pids []int, err error) {
	if pids, err = r.checkSampling(cmd, args, command); err != nil {
		return nil, err
	}
	if r.duration <= 0 && cmd.Flags().Changed("duration") {
		return nil, exit.Misuse(fmt.Errorf("--duration %v: want more than 0", r.duration))
	}
	if err := r.pages.check(); err != nil {
		return nil, err
	}
	r.none = r.pages.listen != ""
	if err := r.profileFlags.check(); err != nil {
		return nil, err
	}
	return pids, nil
}

// checkSampling finds mistakes in the flags of addSampling, and returns the processes that the
// arguments name.
func (r *recordFlags) checkSampling(cmd *cobra.Command, args, command []string) (pids []int, err error) {
	if r.wall && !cmd.Flags().Changed("frequency") {
		r.frequency = record.UsualWallFrequency
	}
	if r.wall && (cmd.Flags().Changed("event") || cmd.Flags().Changed("stack")) {
		return nil, exit.Misuse(errors.New("--wall counts no events, and copies what each stack takes: give neither --event nor --stack"))
	}
	given := 0
	for _, is := range []bool{r.which.Given(args), len(command) > 0, r.system} {
		if is {
			given++
		}
	}
	switch {
	case given == 0 && cmd.Name() == "top":
		return nil, exit.Misuse(errors.New("top of what? Give a PID, --name, --children, --cgroup, --container, or --system"))
	case given == 0:
		return nil, exit.Misuse(errors.New("record what? Give a PID, --name, --children, --cgroup, --container, --system, or -- and a command"))
	case len(command) == 2 && filepath.Base(command[0]) == "sleep" && cmd.Flags().Lookup("duration") != nil && given > 1: // as perf is used
		return nil, exit.Misuse(fmt.Errorf("-- %s: record until it ends by -d %s", strings.Join(command, " "), command[1]))
	case given > 1:
		return nil, exit.Misuse(errors.New("processes, --system, and -- with a command are different things to record: give one"))
	case r.wall && r.system:
		return nil, exit.Misuse(errors.New("--wall stops processes: say which, instead of --system"))
	case r.wall && r.frequency > 1000:
		return nil, exit.Misuse(fmt.Errorf("--frequency %d: want 1 to 1000 with --wall", r.frequency))
	case r.frequency < 1 || r.frequency > 100_000:
		return nil, exit.Misuse(fmt.Errorf("--frequency %d: want 1 to 100000", r.frequency))
	case r.stack < 256 || r.stack > perfevent.MaxStack:
		return nil, exit.Misuse(fmt.Errorf("--stack %d: want 256 to %d bytes", r.stack, perfevent.MaxStack))
	case !slices.Contains(eventNames(), r.event):
		return nil, exit.Misuse(fmt.Errorf("--event %s: want %s", r.event, strings.Join(eventNames(), ", ")))
	}
	r.stack &^= 7
	if pids, err = r.which.Pids(cmd, args); err != nil {
		return nil, err
	}
	if len(pids) == 0 && r.which.Any() {
		return nil, fmt.Errorf("%s: the named processes have ended, or are the kernel's own", cmd.Name())
	}
	return pids, nil
}

// start starts the recording. Processes that were found by a name or a group may have ended by
// then: it looks anew for as long as they change.
func (r *recordFlags) start(cmd *cobra.Command, args []string, options *record.Options) (*record.Recorder, error) {
	const most = 10
	for tried := 1; ; tried++ {
		recorder, err := record.Start(*options)
		if err == nil || !r.which.Any() || tried == most {
			return recorder, err
		}
		pids, wrong := r.which.Pids(cmd, args)
		lost := slices.ContainsFunc(options.PIDs, func(pid int) bool { return !slices.Contains(pids, pid) })
		if wrong != nil || !lost || len(pids) == 0 {
			return nil, err
		}
		options.PIDs = pids
	}
}

// options returns what the flags say of how samples are taken.
func (r *recordFlags) options(pids []int, said *warningList) (record.Options, error) {
	own := arch.ByName(runtime.GOARCH)
	options := record.Options{
		PIDs: pids, Wall: r.wall, Frequency: r.frequency, StackSize: int(r.stack),
		Duration: r.duration,
		Event:    perfevent.Events[slices.Index(eventNames(), r.event)],
		Arch:     own, Arch32: own.Of32Bits(),
		Table: func(pid int, a *arch.Arch) *frame.Table {
			return r.Table(a, false, r.Plugins.About(processOf(pid)))
		},
		Decorators:   func(pid int) []language.Decorator { return r.DecoratorsOf(processOf(pid)) },
		HiddenFrames: r.View.AllFrames,
		Warn:         said.add,
	}
	if options.Arch == nil {
		return options, fmt.Errorf("record: there is no descriptor of this machine's processor, %s", runtime.GOARCH)
	}
	return options, nil
}

// processOf describes a process to plug-ins.
func processOf(pid int) hosts.Process {
	return hosts.Process{PID: pid, Live: true, Root: procdir.File(pid, "root")}
}

// run records and writes the profile.
func (r *recordFlags) run(cmd *cobra.Command, web PageServer, args []string, pids []int, command []string) error {
	var said warningList
	options, err := r.options(pids, &said)
	if err != nil {
		return err
	}
	file, err := r.open()
	if err != nil {
		return err
	}
	if file != nil {
		defer file.Discard()
	}
	var browsers PageListener
	if r.pages.listen != "" {
		var err error
		if browsers, err = web.Listen(r.pages.listen, r.pages.base); err != nil {
			return err
		}
		defer browsers.Close()
	}
	var started *startedCommand
	if len(command) > 0 {
		var err error
		if started, err = startStopped(command); err != nil {
			return fmt.Errorf("record: %w", err)
		}
		defer started.discard()
		options.PIDs = []int{started.pid}
	}
	targets.ShortSlices()
	if r.wall {
		targets.DeferStops()
		if started != nil {
			started.letGo() // who traces it lets nobody else do so
		}
	}
	recorder, err := r.start(cmd, args, &options)
	if err != nil {
		return err
	}
	defer recorder.Close()
	if started != nil {
		started.letGo()
	}
	shown := newShown(recorder, newSubject(options.PIDs, command), &r.Flags)
	defer shown.symbols.Close()
	shown.namer.MaxText = r.profileText(0) / 2 // so a stack with all names fits in
	served := make(chan error, 1)
	if browsers != nil {
		printable.Fprintf(cmd.OutOrStdout(), "See %s\n", browsers.Address())
		go func() { served <- browsers.Serve(cmd.Context(), shown.pages(cmd)) }()
	}
	quiet := func() {}
	if started == nil { // a command may write to the terminal itself
		quiet = showProgress(cmd, recorder.Stats)
	}
	err = recorder.Run(cmd.Context())
	quiet()
	if err != nil {
		return err
	}
	pace.Often() // names are made of much that is garbage soon, beside all that was recorded
	stacks := shown.last(cmd)
	stacks.MaxText = r.profileText(0)
	if err := r.write(cmd, file, stacks); err != nil {
		return err
	}
	for _, text := range slices.Concat(said, r.lacks(stacks, shown), shown.warnings(), r.Warned()) {
		cmdline.Warn(cmd, text)
	}
	about := aboutRecorded(options.PIDs)
	about.Sampled = !r.wall
	for _, l := range shown.hints(stacks, &r.Flags, about) {
		cmdline.Hint(cmd, l.String())
	}
	r.report(cmd.ErrOrStderr(), shown.profile)
	if browsers != nil {
		printable.Fprintf(cmd.ErrOrStderr(), "The pages stay until Ctrl-C.\n")
		if err := <-served; err != nil {
			return err
		}
	}
	if started != nil {
		return started.wait()
	}
	return nil
}

// missedWorthSaying is how much time of processors must be in no sample for that to be said.
const missedWorthSaying = 200 * time.Millisecond

// missed says what is in no sample because threads were too short; oftener is advice.
func missed(p *record.Profile, oftener string) string {
	s := &p.Stats
	if s.Processors {
		return "" // from then on nothing was missed, and before that so little
	}
	var parts []string
	if s.Unsampled > 0 {
		parts = append(parts, count.Of(s.Unsampled, "thread")+" ended before the first sample")
	}
	taken := time.Duration(s.Samples+s.Lost) * time.Second / time.Duration(p.Frequency)
	if s.Missed >= missedWorthSaying && s.Missed >= taken/10 {
		parts = append(parts, fmt.Sprintf("%.1f of %.1f s of processors' time are in no sample, for threads ran too shortly", s.Missed.Seconds(), (taken+s.Missed).Seconds()))
	}
	if len(parts) == 0 {
		return ""
	}
	text := "; " + strings.Join(parts, "; ")
	if os.Geteuid() != 0 {
		oftener += "as root, sfwalk samples processors, which counts them all, "
	}
	if oftener != "" {
		text += ": " + strings.TrimSuffix(oftener, ", ")
	}
	return text
}

// report says how the recording went.
func (r *recordFlags) report(out io.Writer, p *record.Profile) {
	printable.Fprintf(out, "%s", counted(p, ""))
	if s := &p.Stats; s.Stops > 0 {
		printable.Fprintf(out, "; stopped %s, no thread for longer than %v", count.Of(s.Stops, "time"), s.Pause.Round(time.Microsecond))
	}
	oftener := ""
	if r.frequency < 999 {
		oftener = "-F 999 finds more, "
	}
	if p.Stats.Samples == 0 && p.Stats.Unsampled == 0 && p.Stats.Missed < missedWorthSaying && !r.wall && p.Event.Name == perfevent.Events[0].Name {
		printable.Fprintf(out, ": no thread took %v on a processor: %s--wall shows what threads wait for",
			(time.Second / time.Duration(r.frequency)).Round(100*time.Microsecond), oftener)
	}
	printable.Fprintf(out, "%s", missed(p, oftener))
	if p.Stats.Processors && !r.system {
		printable.Fprintf(out, "; sampled by processor, for there were many threads, or threads that ended soon")
	}
	if !p.Kernel {
		printable.Fprintf(out, "; without the kernel's code")
	}
	if r.output != "-" && r.output != "" {
		printable.Fprintf(out, "; written to %s", r.output)
	}
	printable.Fprintf(out, "\n")
}
