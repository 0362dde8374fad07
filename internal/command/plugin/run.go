package plugin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/command/version"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

func newPluginRun(host hosts.Plugins) *cobra.Command {
	var asJSON bool
	var walk report.Flags
	var opts core.Options
	var pids cmdline.PIDs
	cmd := &cobra.Command{
		Use:   "run PATH PID | SNAPSHOT | CORE",
		Short: "Walk stacks with a plug-in, and print its questions and answers",
		Long: `run walks the stacks of a process with one plug-in, at the place in the order that the
plug-in chooses. It prints each question to the plug-in, the answer as it came, the number
of requests that the plug-in made meanwhile, and the time that it took. The plug-in's
standard error is printed as it comes.

A plug-in is asked only once about code that it has given a row for: the last lines
count the frames that needed no question. Of a plug-in that decorates stacks, it prints the
language's frames of each thread, the levels of the physical frames where they stand, the reads
of memory, and the time. 'sfwalk attach --plugin PATH PID --explain'
prints the stacks.

Exit codes: 0 printed; 1 error, or the plug-in was put out of use; 2 usage.`,
		Example: `  sfwalk plugin run ./sniffer-mine 4242
  sfwalk plugin run ./sniffer-mine 4242 --tid 4243
  sfwalk plugin run ./sniffer-mine snapshot.4242 --json | jq '.threads[].questions[].took_us'`,
		Args:              pids.Last(cobra.ExactArgs(2)),
		ValidArgsFunction: completePluginRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			args = append(args, pids...)
			program, err := plug(host, args[0])
			if err != nil {
				return err
			}
			run := &pluginRun{flags: &walk}
			text := &said{name: filepath.Base(program.Path), to: cmd.ErrOrStderr()}
			defer text.Close()
			start := hosts.StartOptions{Program: program, Host: version.Asker(), Stderr: text, Trace: run.trace}
			if asJSON {
				start.Stderr = &run.stderr
			}
			doc, err := run.walk(cmd.Context(), host, start, args[1], opts)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			if asJSON {
				err = json.NewEncoder(out).Encode(doc)
			} else {
				doc.print(out)
			}
			if err := errors.Join(err, out.Flush()); err != nil {
				return err
			}
			return run.fault
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (see docs/json.md)")
	cmd.Flags().IntSliceVar(&walk.TIDs, "tid", nil, "only these threads, by thread ID")
	pids.Add(cmd, "this process: the same as the second argument")
	cmdline.Files(cmd, &opts.Exe, &opts.Sysroot)
	return cmd
}

// pluginRun is one run of `sfwalk plugin run`.
type pluginRun struct {
	flags     *report.Flags
	exchanges []*hosts.Exchange // about the thread that is being walked
	stderr    tail
	fault     error // why the plug-in was put out of use
}

func (r *pluginRun) trace(x *hosts.Exchange) { r.exchanges = append(r.exchanges, x) }

// walk walks a target with the plug-in.
func (r *pluginRun) walk(ctx context.Context, host hosts.Plugins, start hosts.StartOptions, name string, opts core.Options) (*runDocument, error) {
	plugin, err := host.Start(ctx, start)
	if err != nil {
		return nil, err
	}
	defer plugin.Close()
	defer context.AfterFunc(ctx, func() { plugin.Close() })()
	s, err := anything(ctx, name, opts)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	threads, err := report.ThreadsOf(s, r.flags)
	if err != nil {
		return nil, err
	}
	asked := plugin.Sniffer(s.From().Process)
	doc := newRunDocument(s, newPluginItem(start.Program, plugin))
	table := r.flags.Table(s.Arch(), s.From().Windows, nil)
	asked.Insert(table)
	w := &report.Walker{Target: s, Flags: r.flags, Table: table}
	stacks := newDecorating(s, plugin, table)
	for _, th := range threads {
		r.exchanges = nil
		frames := 0
		walked := w.Thread(th, func(f *frame.Frame) int {
			f.Sniffer() // asks the sniffers
			frames++
			return 0
		})
		doc.add(&walked, frames, r.exchanges, s.Arch())
		doc.Threads[len(doc.Threads)-1].Decoration = stacks.of(th)
		if ctx.Err() != nil {
			return nil, exit.ErrInterrupted
		}
	}
	if r.fault = stacks.fault(plugin); r.fault != nil {
		doc.Error = r.fault.Error()
	}
	plugin.Close() // for all that it has written
	doc.Stats, doc.Stderr = asked.Stats(), r.stderr.String()
	return doc, nil
}

// anything opens name: a PID, a snapshot or a core file.
func anything(ctx context.Context, name string, opts core.Options) (report.Source, error) {
	if pid, err := cmdline.ProcessID(name); err == nil {
		return targets.Process(ctx, pid, live.Options{})
	}
	s, err := targets.Snapshot(name, opts)
	if errors.Is(err, snapshot.ErrNotSnapshot) {
		return targets.Core(name, opts)
	}
	return s, err
}

func (d *runDocument) print(w io.Writer) {
	p := &d.Plugin
	printable.Fprintf(w, "%s %s (%s), protocol %d, %s, started in %v\n", p.Name, p.Version, p.Path, p.Protocol, p.does(), time.Duration(p.StartUS)*time.Microsecond)
	outcomes := map[string]int{}
	var requests int
	var slowest int64
	for i := range d.Threads {
		t := &d.Threads[i]
		printable.Fprintf(w, "\nThread %d %q: %s, %s\n", t.TID, t.Name, count.Of(t.Frames, "frame"), count.Of(len(t.Questions), "question"))
		for j := range t.Questions {
			q := &t.Questions[j]
			q.print(w)
			outcomes[q.outcome()]++
			requests, slowest = requests+q.Requests, max(slowest, q.TookUS)
		}
		if t.Decoration != nil {
			t.Decoration.print(w, p.Decorates)
		}
		if t.Error != "" {
			printable.Fprintf(w, "  %s\n", t.Error)
		}
	}
	printable.Fprintf(w, "\n%s: %d claimed, %d declined, %d without answer; %s; slowest %v\n", count.Of(d.Stats.Asked, "question"),
		outcomes[claimed], outcomes[declined], outcomes[unanswered], count.Of(requests, "request"), time.Duration(slowest)*time.Microsecond)
	printable.Fprintf(w, "answered by what was known: %d by rows, %d by ranges that it never claims\n", d.Stats.Kept, d.Stats.Denied)
}

// Outcomes of a question.
const (
	claimed    = "claims"
	declined   = "declines"
	unanswered = "no answer"
)

func (q *question) outcome() string {
	switch {
	case q.Claims != nil:
		return claimed
	case q.Declines != "":
		return declined
	}
	return unanswered
}

func (q *question) print(w io.Writer) {
	where := "no file"
	if q.Module != "" {
		where = q.Module
	}
	printable.Fprintf(w, "#%-3d %#x (%s): %v, %s\n", q.Level, q.PC.V, where, time.Duration(q.TookUS)*time.Microsecond, count.Of(q.Requests, "request"))
	line := func(format string, args ...any) { indented(w, "      ", fmt.Sprintf(format, args...)) }
	if q.Claims != nil {
		line("claims %s", q.Claims)
	}
	if q.Declines != "" {
		line("declines: %s", q.Declines)
	}
	if q.Name != nil {
		line("this frame is %s", q.Name)
	}
	for i := range q.Symbols {
		line("code of %s", &q.Symbols[i])
	}
	for i := range q.Rows {
		line("also %s", &q.Rows[i])
	}
	for _, r := range q.Never {
		line("never [%#x, %#x)", r.Lo.V, r.Hi.V)
	}
	if q.Error != "" {
		line("%s", q.Error)
	}
}

// completePluginRun completes a plug-in, and then a process. The shell completes snapshots and core
// files.
func completePluginRun(cmd *cobra.Command, args []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return sniffers.CompletePlugin(cmd, nil, begun)
	case 1:
		list, _ = cmdline.CompleteProcess(cmd, nil, begun)
		return list, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
