// Package kept is the verb cache: what sfwalk keeps for its next run, how much it is, and an end to
// it.
package kept

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/debuginfod"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/usercache"
)

// Variable bounds all that is kept.
const Variable = "SFWALK_CACHE_SIZE"

// Bound sets the bound that the environment has.
func Bound() error {
	text := os.Getenv(Variable)
	if text == "" {
		return nil
	}
	var size cmdline.Size
	if text != "0" {
		if err := size.Set(text); err != nil {
			return fmt.Errorf("%s=%s: %w, or 0 to keep nothing", Variable, text, err)
		}
	}
	usercache.SetRoom(int64(size))
	return nil
}

// FirstWord is what sfwalk says when it has made the cache; "" if it was there before.
func FirstWord() string {
	path := usercache.Made()
	if path == "" {
		return ""
	}
	bound := ""
	if n := usercache.Room(math.MaxInt64); n > 0 { // without room, symbol files are kept that --symbols has fetched
		bound = ", at most " + inUnits(n)
	}
	return fmt.Sprintf("what takes long to find out is kept in %s%s: 'sfwalk cache' shows it, 'sfwalk cache clear' clears it", path, bound)
}

// New makes the verb.
func New() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Show or clear what sfwalk keeps for its next run",
		Long: `cache shows the folder in which sfwalk keeps what takes long to find out, how much it has
of each kind, and the bound of all together. What was not used for longest goes first. The variable
` + Variable + ` sets another bound: 500M, 20G, or 0 to keep nothing.

Debug files that DEBUGINFOD_URLS has led to are in a folder of their own, which elfutils and gdb
share: cache shows it, and clears nothing there.`,
		Example: `  sfwalk cache
  sfwalk cache clear
  sfwalk cache --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return show(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (see docs/json.md)")
	cmd.AddCommand(&cobra.Command{
		Use:     "clear",
		Short:   "Remove all that sfwalk keeps for its next run",
		Long:    "clear removes what sfwalk keeps for its next run, which takes longer then. The folder that elfutils and gdb\nshare stays as it is.",
		Example: "  sfwalk cache clear",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			top, err := usable()
			if err != nil {
				return err
			}
			files, size, stay := usercache.Clear()
			_, err = printable.Fprintf(cmd.OutOrStdout(), "%s: %s with %s removed\n", top, count.Of(files, "file"), inUnits(size))
			if stay > 0 {
				return fmt.Errorf("cache: %s could not be removed from %s: may you write to its folders?", count.Of(stay, "file"), top)
			}
			return err
		},
	})
	return cmd
}

// usable returns the path of the cache. The error says why it cannot be used.
func usable() (top string, err error) {
	if top, err = usercache.Top(); err != nil {
		return "", fmt.Errorf("cache: there is no folder for it: %w", err)
	}
	if _, err := os.Lstat(top); err == nil {
		if _, err := usercache.Make(top); err != nil {
			return "", fmt.Errorf("cache: nothing is kept: %w", err)
		}
	}
	return top, nil
}

// document is the verb's JSON document.
type document struct {
	Folder     string `json:"folder"`
	Bytes      int64  `json:"bytes"`
	Room       int64  `json:"room"`
	Kinds      []kind `json:"kinds"`
	Debuginfod *kind  `json:"debuginfod,omitempty"`
}

type kind struct {
	Name  string `json:"name"`
	Holds string `json:"holds,omitempty"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

func show(cmd *cobra.Command, asJSON bool) error {
	top, err := usable()
	if err != nil {
		return err
	}
	doc := document{Folder: top, Room: usercache.Room(math.MaxInt64)}
	for _, k := range usercache.List() {
		doc.Kinds = append(doc.Kinds, kind{k.Name, k.Holds, k.Files, k.Bytes})
		doc.Bytes += k.Bytes
	}
	if dir := debuginfod.FromEnvironment().Dir; dir != "" {
		if files, size := contents(dir); files > 0 {
			doc.Debuginfod = &kind{Name: dir, Files: files, Bytes: size}
		}
	}
	out := cmd.OutOrStdout()
	if asJSON {
		text, err := json.Marshal(doc)
		if err == nil {
			_, err = out.Write(append(text, '\n'))
		}
		return err
	}
	printable.Fprintf(out, "%s: %s, at most %s\n", doc.Folder, inUnits(doc.Bytes), inUnits(doc.Room))
	for _, k := range doc.Kinds {
		if _, err := printable.Fprintf(out, "  %-13s %9s  %-13s %s\n", k.Name, inUnits(k.Bytes), count.Of(k.Files, "file"), k.Holds); err != nil {
			return err
		}
	}
	if d := doc.Debuginfod; d != nil {
		_, err = printable.Fprintf(out, "%s: %s, %s: debug files of DEBUGINFOD_URLS. elfutils and gdb share them, and drop what was not used for a week; sfwalk does not clear them\n",
			d.Name, inUnits(d.Bytes), count.Of(d.Files, "file"))
	}
	return err
}

// mostCounted bounds the files of the shared folder that are counted.
const mostCounted = 1 << 20

// contents returns the files of a folder, and their bytes. Links are not followed.
func contents(dir string) (files int, size int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			files++
			size += info.Size()
		}
		if files == mostCounted {
			return fs.SkipAll
		}
		return nil
	})
	return files, size
}

// inUnits writes a number of bytes for people: "1.2 GiB".
func inUnits(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, unit := float64(n), -1
	for ; size >= 1<<10 && unit < len("KMGT")-1; unit++ {
		size /= 1 << 10
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', 1, 64), ".0") + " " + "KMGT"[unit:unit+1] + "iB"
}
