package report

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
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/debuginfod"
)

// DebugFlags are the flags that say where debug files are.
type DebugFlags struct {
	dirs         []string
	noDebuginfod bool
	Trust        bool // --trust-paths

	host    hosts.Plugins
	ctx     context.Context
	Servers debuginfod.Config
	asked   map[string]bool // build IDs whose files were fetched, or cannot be
	Failed  []string        // why some cannot be
}

// usualDebugDir is where distributions have their debug files.
const usualDebugDir = "/usr/lib/debug"

// Add adds the flags to a command.
func (d *DebugFlags) Add(cmd *cobra.Command, host hosts.Plugins) {
	d.host = host
	f := cmd.Flags()
	cmdline.Texts(f, &d.dirs, "debug-dir", "a folder of separate debug files, to be looked at before "+usualDebugDir+"; repeatable (see docs/debug-files.md)")
	f.BoolVar(&d.noDebuginfod, "no-debuginfod", false, "fetch no debug files from the servers of DEBUGINFOD_URLS")
}

// AddTrust adds the flag of those commands that read another user's process or file.
func (d *DebugFlags) AddTrust(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.Trust, "trust-paths", false, "as root, read source and debug files by the paths that a process, or a file, of another user names, also those that this user may not read")
}

// Check finds mistakes in the flags.
func (d *DebugFlags) Check() error {
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
func (d *DebugFlags) Begin(cmd *cobra.Command) {
	d.ctx = cmd.Context()
	d.Servers = debuginfod.FromEnvironment()
	if d.noDebuginfod {
		d.Servers.URLs = nil
	}
}

// DirsInOrder returns all folders of debug files.
func (d *DebugFlags) DirsInOrder() []string { return append(slices.Clip(d.dirs), usualDebugDir) }

// maxRounds bounds how often files are fetched that others which were fetched before refer to.
const maxRounds = 3

// Fetch fetches the debug files that the stacks of a target need, if there are servers to ask. To
// know them, it walks the stacks: nobody waits for a server while a thread is held, and files that
// no frame is in are not fetched.
func (d *DebugFlags) Fetch(s Source, flags *Flags) {
	if len(d.Servers.URLs) == 0 || flags.Holds {
		return
	}
	d.visit(s, flags)
	for range maxRounds {
		lacking := d.lacking(s, flags)
		if len(lacking) == 0 || d.ctx.Err() != nil {
			return
		}
		began := time.Now()
		failed := d.get(lacking)
		flags.log.add("fetched", "build_ids", strings.Join(lacking, ","), "failed", len(failed), "took", time.Since(began).Round(time.Microsecond))
		d.Failed = append(d.Failed, failed...)
	}
}

// visit walks all stacks, so that the modules which have frames are known. Its walk uses no tables
// of separate debug files: they are looked for once, and now some are not here yet.
func (d *DebugFlags) visit(s Source, flags *Flags) {
	visiting := &Flags{
		Choice: sniffers.Choice{Order: flags.Order, First: flags.First, Separate: flags.Separate, Scan: flags.Scan, SymbolDirs: flags.SymbolDirs, Plugins: flags.Plugins},
		TIDs:   flags.TIDs, MaxFrames: flags.MaxFrames, NoLines: true,
	}
	symbols := ownSymbolizer(s, visiting, visiting.Values.Any())
	defer symbols.Close()
	walkBy(s, symbols, visiting)
}

// lacking returns the build IDs of files that are not on this machine, and that nobody has asked
// for.
func (d *DebugFlags) lacking(s Source, flags *Flags) (list []string) {
	symbols := ownSymbolizer(s, flags, flags.Values.Any())
	defer symbols.Close()
	if d.asked == nil {
		d.asked = make(map[string]bool)
	}
	for _, m := range s.Modules().All() {
		if !m.ImageUsed() {
			continue // no frame is in it
		}
		for _, id := range symbols.Lacks(m) {
			if !d.asked[id] && !d.Servers.Missed(id) {
				list = append(list, id)
			}
			d.asked[id] = true
		}
	}
	return list
}

// get fetches files, and returns what has failed. Only sfwalk-full can fetch: it is started if this
// is not it.
func (d *DebugFlags) get(buildIDs []string) (failed []string) {
	if d.host != nil {
		for _, err := range d.host.DebugFiles(d.ctx, d.Servers, buildIDs, d.bar()) {
			failed = append(failed, err.Error())
		}
		return failed
	}
	path, err := hosts.FindFull()
	if err != nil {
		return []string{fmt.Sprintf("%d debug files are lacking, which the servers of DEBUGINFOD_URLS may have: %v; or do without by --no-debuginfod", len(buildIDs), err)}
	}
	cmd := exec.CommandContext(d.ctx, path, append([]string{FetchCommand}, buildIDs...)...)
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
func (d *DebugFlags) bar() io.Writer {
	if d.Servers.Tell || term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb" {
		return os.Stderr
	}
	return nil
}

// FetchCommand is the command by which sfwalk has sfwalk-full fetch files.
const FetchCommand = "fetch-debug-files"

// ByBuildID is [symbol.Options.ByBuildID].
func (d *DebugFlags) ByBuildID(id string) string { return d.Servers.Find(id) }

// FetchWhenNeeded is [symbol.Options.ByBuildID] of a debugger that has started the process: nobody
// knows before which files it loads, so each debug file is fetched when it is first needed. tell is
// called with what has failed.
func (d *DebugFlags) FetchWhenNeeded(tell func(why string)) func(id string) string {
	var mu sync.Mutex
	asked := map[string]bool{}
	return func(id string) string {
		mu.Lock()
		defer mu.Unlock()
		if path := d.Servers.Find(id); path != "" || asked[id] || d.Servers.Missed(id) {
			return path
		}
		asked[id] = true
		for _, why := range d.get([]string{id}) {
			tell(why)
		}
		return d.Servers.Find(id)
	}
}

// FetchDebugFiles fetches the files of build IDs, and returns what has failed.
func FetchDebugFiles(cmd *cobra.Command, host hosts.Plugins, buildIDs []string) (failed []string) {
	d := DebugFlags{host: host}
	d.Begin(cmd)
	return d.get(buildIDs)
}
