package sniffers

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/internal/usercache"
	"github.com/sfwalk/sfwalk/target"
)

// Fetching fetches symbol files from servers before a target's stacks are walked: nobody waits for
// a server while a thread is held.
type Fetching struct {
	servers []hosts.SymbolServer
	ctx     context.Context // of the command
	bar     io.Writer       // a terminal; nil if there is none
}

// checkSymbols finds mistakes in --symbols, and lists the folders.
func (w *Choice) checkSymbols() error {
	var dirs []string
	for _, place := range w.symbolPlaces {
		if strings.Contains(place, "://") {
			if w.PluginFlags.host == nil {
				return hosts.BecomeFull()
			}
			// What servers send is written there: root must not follow a link of the user who has
			// the folder.
			cache, err := usercache.Path("symbols")
			if err != nil {
				return fmt.Errorf("--symbols %s: the folder to keep symbol files in (XDG_CACHE_HOME says which): %w", place, err)
			}
			s, err := w.PluginFlags.host.Symbols(place, cache, w.symbolPlaces...)
			if err != nil {
				return exit.Misuse(fmt.Errorf("--symbols %s: %w", place, err))
			}
			w.Fetching.servers = append(w.Fetching.servers, s)
			place = s.Dir()
		} else if info, err := os.Stat(place); err != nil || !info.IsDir() {
			return exit.Misuse(fmt.Errorf("--symbols %s: want a folder, or https://HOST/…", place))
		}
		if strings.ContainsRune(place, filepath.ListSeparator) {
			return exit.Misuse(fmt.Errorf("--symbols %s: a folder with %q in its path", place, filepath.ListSeparator))
		}
		dirs = append(dirs, place)
	}
	if len(dirs) > 0 {
		w.SymbolDirs = strings.Join(dirs, string(filepath.ListSeparator))
	}
	return nil
}

func (f *Fetching) begin(cmd *cobra.Command) {
	f.ctx = cmd.Context()
	if term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb" {
		f.bar = os.Stderr
	}
}

// warnings says what could not be fetched.
func (f *Fetching) warnings() (list []string) {
	for _, s := range f.servers {
		for _, err := range s.Errors() {
			list = append(list, err.Error())
		}
	}
	return list
}

// Fetch fetches the symbols of the modules that the target's stacks may have frames in. A module
// that one server has is not asked for at the next.
func (f *Fetching) Fetch(t target.Target) {
	if len(f.servers) == 0 {
		return
	}
	var list []breakpad.Module
	for _, m := range onStacks(t) {
		if want, ok := symbolstore.Wanted(m); ok {
			list = append(list, want)
		}
	}
	for _, s := range f.servers {
		s.Fetch(f.ctx, list, f.bar)
		rest := list[:0]
		for _, m := range list {
			path, err := m.StorePath()
			if _, missing := os.Stat(filepath.Join(s.Dir(), filepath.FromSlash(path))); err == nil && missing != nil {
				rest = append(rest, m)
			}
		}
		list = rest
	}
}

// onStacks returns the modules that some word of a stack, or a PC, points into: frames can be in no
// others. Of a process that runs on it returns all, for its stacks are not read twice.
func onStacks(t target.Target) (list []*target.Module) {
	const most = 1 << 20 // bytes of one stack
	threads, err := t.Threads()
	if err != nil {
		return nil
	}
	modules := t.Modules()
	seen := map[*target.Module]bool{}
	add := func(m *target.Module) {
		if m != nil && !seen[m] {
			seen[m] = true
			list = append(list, m)
		}
	}
	word := t.Arch().PtrSize
	buf := make([]byte, 64<<10)
	for _, th := range threads {
		if _, runs := th.(target.RunningThread); runs {
			return modules.All()
		}
		var regs arch.Registers
		if th.Registers(&regs) != nil {
			continue
		}
		for _, r := range t.Arch().Regs {
			v, _ := regs.Get(r.Num)
			add(modules.FindFile(v & t.Arch().AddressMask))
		}
		sp, _ := regs.Get(t.Arch().SP)
		for at := sp &^ uint64(word-1); at-sp < most || at < sp; at += uint64(len(buf)) {
			n, err := target.MemoryOf(t, th).ReadMemory(at, buf)
			for b := buf[:n]; len(b) >= word; b = b[word:] {
				add(modules.FindFile(t.Arch().CodeAddress(t.Arch().Word(b))))
			}
			if err != nil {
				break
			}
		}
	}
	return list
}
