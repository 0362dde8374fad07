package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/plugindir"
	"github.com/sfwalk/sfwalk/sniffer"
)

// plugins are the plug-ins that one run of the command asks. They start while the target is
// read. nil means none.
type plugins struct {
	list     []*startedPlugin // those of --plugin, in that order; then those of the directories
	warnings []string         // of plug-ins that are left out
	cancel   context.CancelFunc

	once     sync.Once
	usable   []*startedPlugin // set when all have started
	sniffers []Sniffer        // of usable, for the one target
}

type startedPlugin struct {
	Program
	named bool // by --plugin

	done   chan struct{} // closed when the fields below are set
	plugin Plugin
	about  About
	err    error
}

// start starts the plug-ins. If this program cannot run them, it becomes one that can.
func (p *pluginFlags) start(ctx context.Context, sniffers []string) (*plugins, error) {
	unknown := slices.ContainsFunc(sniffers, func(name string) bool { return !builtIn(name) })
	var dirs []string
	if len(sniffers) == 0 || unknown { // else --sniffers names no plug-in
		dirs = p.dirs()
	}
	found := plugindir.Candidates(dirs...)
	switch {
	case len(p.paths) == 0 && len(found) == 0:
		return nil, nil
	case p.host != nil:
	case len(p.paths) > 0 || unknown:
		return nil, becomeFull()
	default:
		err := becomeFull()
		if !errors.Is(err, errNoFull) {
			return nil, err
		}
		return &plugins{warnings: []string{fmt.Sprintf("plug-ins %s: %v: they are left out", strings.Join(found, ", "), err)}}, nil
	}
	r := &plugins{}
	for _, program := range p.named() {
		r.list = append(r.list, &startedPlugin{Program: program, named: true})
	}
	more, warnings := p.host.Find(dirs...)
	for _, w := range warnings {
		r.warnings = append(r.warnings, w.Error())
	}
	for _, program := range more {
		if !slices.ContainsFunc(r.list, func(x *startedPlugin) bool { return sameFile(x.Path, program.Path) }) {
			r.list = append(r.list, &startedPlugin{Program: program})
		}
	}
	r.begin(ctx, p.host)
	return r, nil
}

// begin starts all plug-ins at once. They end when ctx is done.
func (r *plugins) begin(ctx context.Context, host PluginHost) {
	ctx, r.cancel = context.WithCancel(ctx)
	for _, x := range r.list {
		x.done = make(chan struct{})
		go func() {
			defer close(x.done)
			if x.plugin, x.err = host.Start(ctx, StartOptions{Program: x.Program, Host: asker()}); x.err == nil {
				x.about = x.plugin.About()
				context.AfterFunc(ctx, func() { x.plugin.Close() })
			}
		}()
	}
}

// wait waits until each plug-in has started or failed. It leaves out plug-ins with the name of an
// earlier one. (The host refuses names of sfwalk's own sniffers.)
func (r *plugins) wait() {
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
				r.leaveOut(x, fmt.Sprintf("plug-in %s: its name, %s, is that of %s", x.Path, x.about.Name, other))
				continue
			}
			names[x.about.Name] = x.Path
			r.usable = append(r.usable, x)
		}
	})
}

func (r *plugins) leaveOut(x *startedPlugin, why string) {
	r.warnings = append(r.warnings, why+": it is left out")
	if x.plugin != nil {
		x.plugin.Close()
	}
}

// names returns the names of the plug-ins that are asked.
func (r *plugins) names() (list []string) {
	if r == nil {
		return nil
	}
	r.wait()
	for _, x := range r.usable {
		list = append(list, x.about.Name)
	}
	return list
}

// of returns the sniffers that ask the plug-ins about the one target. They are the same each time.
func (r *plugins) of(s *source) []Sniffer {
	if r == nil {
		return nil
	}
	if r.sniffers == nil {
		r.sniffers = r.about(s.process)
	}
	return r.sniffers
}

// about returns new sniffers that ask the plug-ins about a process.
func (r *plugins) about(p Process) (list []Sniffer) {
	if r == nil {
		return nil
	}
	r.wait()
	for _, x := range r.usable {
		list = append(list, x.plugin.Sniffer(p))
	}
	return list
}

// insert puts sniffers that are not in the table into it, each where its plug-in wants to stand.
// ordered says that the user has set the order: then it inserts only those of --plugin.
func (r *plugins) insert(t *frame.Table, list []Sniffer, ordered bool) {
	there := t.Sniffers()
	for i, s := range list {
		if ordered && !r.usable[i].named || slices.ContainsFunc(there, func(x frame.Sniffer) bool { return x.Name() == s.Name() }) {
			continue
		}
		s.Insert(t)
	}
}

// warned returns all warnings of plug-ins so far.
func (r *plugins) warned() []string {
	if r == nil {
		return nil
	}
	r.wait()
	list := slices.Clone(r.warnings)
	for _, x := range r.usable {
		if err := x.plugin.Err(); err != nil {
			list = append(list, err.Error())
		}
	}
	return list
}

// Close ends all plug-ins.
func (r *plugins) Close() {
	if r == nil || r.cancel == nil {
		return
	}
	r.cancel() // stops those that are starting
	var closing sync.WaitGroup
	for _, x := range r.list {
		closing.Go(func() {
			if <-x.done; x.plugin != nil {
				x.plugin.Close()
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
