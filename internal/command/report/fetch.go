package report

import (
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
)

// maxRounds bounds how often files are fetched that others which were fetched before refer to.
const maxRounds = 3

// FetchDebugFilesOf fetches the debug files that the stacks of a target need, if there are servers
// to ask. To know them, it walks the stacks: nobody waits for a server while a thread is held, and
// files that no frame is in are not fetched.
func FetchDebugFilesOf(s Source, flags *Flags) {
	d := &flags.Debug
	if len(d.Servers.URLs) == 0 || flags.Holds {
		return
	}
	visit(s, flags)
	for range maxRounds {
		lacking := lacking(s, flags)
		if len(lacking) == 0 || d.Ended() {
			return
		}
		began := time.Now()
		failed := d.Get(lacking)
		flags.log.add("fetched", "build_ids", strings.Join(lacking, ","), "failed", len(failed), "took", time.Since(began).Round(time.Microsecond))
		d.Failed = append(d.Failed, failed...)
	}
}

// visit walks all stacks, so that the modules which have frames are known. Its walk uses no tables
// of separate debug files: they are looked for once, and now some are not here yet.
func visit(s Source, flags *Flags) {
	visiting := &Flags{
		Choice: sniffers.Choice{Order: flags.Order, First: flags.First, Separate: flags.Separate, Scan: flags.Scan, SymbolDirs: flags.SymbolDirs, Plugins: flags.Plugins},
		TIDs:   flags.TIDs, MaxFrames: flags.MaxFrames, NoLines: true,
	}
	symbols := ownSymbolizer(s, visiting, visiting.Values.Any())
	defer symbols.Close()
	walkBy(s, symbols, visiting, func(*Walker, *frame.Frame) {})
}

// lacking returns the build IDs of files that are not on this machine, and that nobody has asked
// for.
func lacking(s Source, flags *Flags) (list []string) {
	symbols := ownSymbolizer(s, flags, flags.Values.Any())
	defer symbols.Close()
	for _, m := range s.Modules().All() {
		if !m.ImageUsed() {
			continue // no frame is in it
		}
		for _, id := range symbols.Lacks(m) {
			if flags.Debug.Ask(id) {
				list = append(list, id)
			}
		}
	}
	return list
}
