package debugfiles

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/debuginfod"
)

// Flags are the flags that say where debug files are.
type Flags struct {
	dirs         []string
	noDebuginfod bool
	Trust        bool // --trust-paths

	host    hosts.Plugins
	ctx     context.Context
	Servers debuginfod.Config
	asked   map[string]bool // build IDs whose files were fetched, or cannot be
	Failed  []string        // why some cannot be
	Unasked bool            // --no-debuginfod was given, and DEBUGINFOD_URLS names servers
}

// usualDebugDir is where distributions have their debug files.
const usualDebugDir = "/usr/lib/debug"

// Add adds the flags to a command.
func (d *Flags) Add(cmd *cobra.Command, host hosts.Plugins) {
	d.host = host
	f := cmd.Flags()
	cmdline.Texts(f, &d.dirs, "debug-dir", "a folder of separate debug files, to be looked at before "+usualDebugDir+"; repeatable (see docs/debug-files.md)")
	f.BoolVar(&d.noDebuginfod, "no-debuginfod", false, "fetch no debug files from the servers of DEBUGINFOD_URLS")
}

// AddTrust adds the flag of those commands that read another user's process or file.
func (d *Flags) AddTrust(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.Trust, "trust-paths", false, "as root, read source and debug files by the paths that a process, or a file, of another user names, also files that this user may not read")
}

// Check finds mistakes in the flags.
func (d *Flags) Check() error {
	for i, dir := range d.dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return exit.Misuse(fmt.Errorf("--debug-dir %s: want a folder", dir))
		}
		if full, err := filepath.Abs(dir); err == nil {
			d.dirs[i] = full
		}
	}
	return nil
}

// Begin notes the servers to ask, before anything is fetched.
func (d *Flags) Begin(cmd *cobra.Command) {
	d.ctx = cmd.Context()
	d.Servers = debuginfod.FromEnvironment()
	if d.noDebuginfod {
		d.Unasked, d.Servers.URLs = len(d.Servers.URLs) > 0, nil
	}
}

// DirsInOrder returns all folders of debug files.
func (d *Flags) DirsInOrder() []string { return append(slices.Clip(d.dirs), usualDebugDir) }

// Get fetches files, and returns what has failed. Only sfwalk-full can fetch: it is started if this
// is not it.
func (d *Flags) Get(buildIDs []string) (failed []string) {
	if d.host != nil {
		for _, err := range d.host.DebugFiles(d.ctx, d.Servers, buildIDs, d.bar()) {
			failed = append(failed, err.Error())
		}
		return failed
	}
	path, err := hosts.FindFull()
	if err != nil {
		return []string{fmt.Sprintf("%s %s lacking, which the servers of DEBUGINFOD_URLS may have: %v; or do without by --no-debuginfod", count.Of(len(buildIDs), "debug file"), count.Verb(len(buildIDs), "is", "are"), err)}
	}
	cmd := exec.CommandContext(d.ctx, path, append([]string{Command}, buildIDs...)...)
	cmd.Stderr = os.Stderr // the bar
	cmd.Env = append(os.Environ(), hosts.Becoming+"="+path)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Second
	endsWithThis(cmd)
	out, err := cmd.Output()
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		failed = append(failed, lines.Text())
	}
	if err != nil && d.ctx.Err() == nil && len(failed) == 0 {
		failed = append(failed, fmt.Sprintf("fetch debug files: %s: %v", path, err))
	}
	return failed
}

// bar returns where progress is shown; nil for nowhere.
func (d *Flags) bar() io.Writer {
	if d.Servers.Tell || term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb" {
		return os.Stderr
	}
	return nil
}

// Command is the command by which sfwalk has sfwalk-full fetch files.
const Command = "fetch-debug-files"

// ByBuildID is [symbol.Options.ByBuildID].
func (d *Flags) ByBuildID(id string) string { return d.Servers.Find(id) }

// FetchWhenNeeded is [symbol.Options.ByBuildID] of a debugger that has started the process: nobody
// knows before which files it loads, so each debug file is fetched when it is first needed. tell is
// called with what has failed.
func (d *Flags) FetchWhenNeeded(tell func(why string)) func(id string) string {
	var mu sync.Mutex
	asked := map[string]bool{}
	return func(id string) string {
		mu.Lock()
		defer mu.Unlock()
		if path := d.Servers.Find(id); path != "" || asked[id] || d.Servers.Missed(id) {
			return path
		}
		asked[id] = true
		for _, why := range d.Get([]string{id}) {
			tell(why)
		}
		return d.Servers.Find(id)
	}
}

// Fetch fetches the files of build IDs, and returns what has failed.
func Fetch(cmd *cobra.Command, host hosts.Plugins, buildIDs []string) (failed []string) {
	d := Flags{host: host}
	d.Begin(cmd)
	return d.Get(buildIDs)
}

// Ask reports whether a file is to be fetched by its build ID: nobody has asked for it before.
func (d *Flags) Ask(id string) bool {
	if d.asked == nil {
		d.asked = make(map[string]bool)
	}
	known := d.asked[id]
	d.asked[id] = true
	return !known && !d.Servers.Missed(id)
}

// Ended reports whether the command was interrupted.
func (d *Flags) Ended() bool { return d.ctx.Err() != nil }
