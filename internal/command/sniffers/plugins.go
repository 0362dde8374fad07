package sniffers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/version"
	"github.com/sfwalk/sfwalk/internal/plugindir"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
)

// Plugins are the plug-ins that one run of the command asks. They start while the target is
// read. nil means none.
type Plugins struct {
	list           []*Started // plug-ins of --plugin, in that order; then the directories'
	leftOutBecause []string   // Of plug-ins that are left out
	cancel         context.CancelFunc

	once     sync.Once
	Usable   []*Started      // set when all have started
	sniffers []hosts.Sniffer // Of usable, for the one target
}

// Started is a plug-in that was started.
type Started struct {
	hosts.Program
	named bool // by --plugin

	done   chan struct{} // closed when the fields below are set
	Plugin hosts.Plugin
	about  hosts.About
	err    error
}

// start starts the plug-ins. If this program cannot run them, it becomes one that can.
func (p *PluginFlags) start(ctx context.Context, sniffers []string) (*Plugins, error) {
	unknown := slices.ContainsFunc(sniffers, func(name string) bool { return !builtIn(name) })
	var dirs []string
	if len(sniffers) == 0 || unknown { // else --sniffers names no plug-in
		dirs = p.Dirs()
	}
	found := plugindir.Candidates(dirs...)
	ours := ""
	if dirs != nil && !slices.ContainsFunc(append(p.paths, found...), func(path string) bool { return filepath.Base(path) == perfmapPlugin }) {
		ours = beside(p.Processes)
	}
	switch {
	case len(p.paths) == 0 && len(found) == 0 && ours == "":
		return nil, nil
	case p.host != nil:
	case len(p.paths) > 0 || unknown:
		return nil, hosts.BecomeFull()
	default:
		err := hosts.BecomeFull()
		if !errors.Is(err, hosts.ErrNoFull) {
			return nil, err
		}
		if len(found) == 0 { // the user has asked for none
			return nil, nil
		}
		return &Plugins{leftOutBecause: []string{fmt.Sprintf("plug-ins %s: %v: they are left out", strings.Join(found, ", "), err)}}, nil
	}
	r := &Plugins{}
	for _, program := range p.named() {
		if slices.Contains(p.found, program.Path) {
			trusted, err := trusted(p.host, program.Path)
			if err != nil {
				return nil, exit.Misuse(fmt.Errorf("--plugin %s: %w", filepath.Base(program.Path), err))
			}
			if len(p.sums) == 0 {
				program.SHA256 = trusted.SHA256
			}
		}
		r.list = append(r.list, &Started{Program: program, named: true})
	}
	if ours != "" {
		if program, err := trusted(p.host, ours); err == nil {
			r.list = append(r.list, &Started{Program: program})
		} else {
			r.leftOutBecause = append(r.leftOutBecause, err.Error())
		}
	}
	more, warnings := p.host.Find(dirs...)
	for _, w := range warnings {
		r.leftOutBecause = append(r.leftOutBecause, w.Error())
	}
	for _, program := range more {
		if !slices.ContainsFunc(r.list, func(x *Started) bool { return sameFile(x.Path, program.Path) }) {
			r.list = append(r.list, &Started{Program: program})
		}
	}
	r.begin(ctx, p.host)
	return r, nil
}

// trusted returns a program that was found by its name in a directory, if it is one that may be
// asked by its directory alone.
func trusted(host hosts.Plugins, path string) (program hosts.Program, err error) {
	list, warnings := host.Find(filepath.Dir(path))
	for _, program := range list {
		if sameFile(program.Path, path) {
			return program, nil
		}
	}
	for _, w := range warnings {
		if text := w.Error(); strings.Contains(text, path+":") || strings.HasPrefix(text, "plug-ins in ") {
			return program, w
		}
	}
	return program, fmt.Errorf("plug-in %s is gone", path)
}

// begin starts all plug-ins at once. They end when ctx is done.
func (r *Plugins) begin(ctx context.Context, host hosts.Plugins) {
	ctx, r.cancel = context.WithCancel(ctx)
	for _, x := range r.list {
		x.done = make(chan struct{})
		go func() {
			defer close(x.done)
			if x.Plugin, x.err = host.Start(ctx, hosts.StartOptions{Program: x.Program, Host: version.Asker()}); x.err == nil {
				x.about = x.Plugin.About()
				context.AfterFunc(ctx, func() { x.Plugin.Close() })
			}
		}()
	}
}

// Wait waits until each plug-in has started or failed. It leaves out plug-ins with the name of an
// earlier one. (The host refuses names of sfwalk's own sniffers.)
func (r *Plugins) Wait() {
	if r == nil {
		return
	}
	r.once.Do(func() {
		names := map[string]string{}
		for _, x := range r.list {
			<-x.done
			if x.err != nil {
				r.leaveOut(x, x.err.Error())
				continue
			}
			if other := names[x.about.Name]; other != "" {
				r.leaveOut(x, fmt.Sprintf("plug-in %s: its name, %s, is also the name of %s", x.Path, x.about.Name, other))
				continue
			}
			names[x.about.Name] = x.Path
			r.Usable = append(r.Usable, x)
		}
	})
}

func (r *Plugins) leaveOut(x *Started, why string) {
	r.leftOutBecause = append(r.leftOutBecause, why+": it is left out")
	if x.Plugin != nil {
		x.Plugin.Close()
	}
}

// names returns the names of the plug-ins that are asked.
func (r *Plugins) names() (list []string) {
	if r == nil {
		return nil
	}
	r.Wait()
	for _, x := range r.Usable {
		list = append(list, x.about.Name)
	}
	return list
}

// Of returns the sniffers that ask the plug-ins about the one target. They are the same each time.
func (r *Plugins) Of(p hosts.Process) []hosts.Sniffer {
	if r == nil {
		return nil
	}
	if r.sniffers == nil {
		r.sniffers = r.About(p)
	}
	return r.sniffers
}

// About returns new sniffers that ask the plug-ins about a process.
func (r *Plugins) About(p hosts.Process) (list []hosts.Sniffer) {
	if r == nil {
		return nil
	}
	r.Wait()
	for _, x := range r.Usable {
		list = append(list, x.Plugin.Sniffer(p))
	}
	return list
}

// Decorators returns what the plug-ins have that know languages: decorators of a process's stacks.
func (r *Plugins) Decorators(p hosts.Process) (list []language.Decorator) {
	if r == nil {
		return nil
	}
	r.Wait()
	for _, x := range r.Usable {
		if d := x.Plugin.Decorator(p); d != nil {
			list = append(list, d)
		}
	}
	return list
}

// insert puts sniffers that are not in the table into it, each where its plug-in wants to stand.
// ordered says that the user has set the order: then it inserts only plug-ins of --plugin.
func (r *Plugins) insert(t *frame.Table, list []hosts.Sniffer, ordered bool) {
	there := t.Sniffers()
	for i, s := range list {
		if !r.Usable[i].about.Unwinds || ordered && !r.Usable[i].named || slices.ContainsFunc(there, func(x frame.Sniffer) bool { return x.Name() == s.Name() }) {
			continue
		}
		s.Insert(t)
	}
}

// Warnings returns all warnings of plug-ins so far.
func (r *Plugins) Warnings() []string {
	if r == nil {
		return nil
	}
	r.Wait()
	list := slices.Clone(r.leftOutBecause)
	for _, x := range r.Usable {
		if err := x.Plugin.Err(); err != nil {
			list = append(list, err.Error())
		}
	}
	return list
}

// Close ends all plug-ins.
func (r *Plugins) Close() {
	if r == nil || r.cancel == nil {
		return
	}
	r.cancel() // stops plug-ins that are starting
	var closing sync.WaitGroup
	for _, x := range r.list {
		closing.Go(func() {
			if <-x.done; x.Plugin != nil {
				x.Plugin.Close()
			}
		})
	}
	closing.Wait()
}

// builtIn reports whether one of sfwalk's own sniffers has the name.
func builtIn(name string) bool { return slices.Contains(sniffer.AllNames(), name) }

// sameFile reports whether two paths lead to one file, through symbolic links. Two hard links
// count as two files, for a program may behave differently by its name.
func sameFile(a, b string) bool { return realPath(a) == realPath(b) }

func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// NameOf returns the first name that one of the plug-ins has for f. known says that the code
// has a name already; then only a name for the frame alone counts.
func NameOf(plugins []hosts.Sniffer, f *frame.Frame, known bool) (name logical.Name, ok bool) {
	for _, p := range plugins {
		if s, ok := p.Symbol(f); ok && (s.FrameOnly || !known) {
			return logical.Name{FrameOnly: s.FrameOnly, Lo: s.Lo, Function: s.Function, File: s.File, Line: s.Line}, true
		}
	}
	return logical.Name{}, false
}
