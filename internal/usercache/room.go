package usercache

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// UsualRoom bounds all that is kept, bytes, where the user has set no other bound.
const UsualRoom = 8 << 30

// room is the bound in force.
var room atomic.Int64

func init() { room.Store(UsualRoom) }

// SetRoom bounds all that is kept in this process's runs, bytes. With 0 nothing is kept.
func SetRoom(n int64) { room.Store(max(n, 0)) }

// Room returns the bound of all that is kept, bytes. What one kind may take is less, if most is.
func Room(most int64) int64 { return min(most, room.Load()) }

// A Kind is one folder of the cache.
type Kind struct {
	Name  string // of the folder
	Holds string // for people
	dirs  bool   // what belongs together is a folder with its files, not a file
}

// Kinds are the folders of the cache.
var Kinds = []Kind{
	{Name: "sections", Holds: "inflated debug information"},
	{Name: "symbol-index", Holds: "indexes of large symbol files"},
	{Name: "symbols", Holds: "symbol files that servers have sent", dirs: true},
	{Name: "kernel", Holds: "names of the kernel's functions"},
}

const (
	// mostEntries bounds how many files and folders of one kind are looked at.
	mostEntries = 1 << 20
	// recent is how long ago a folder's last use must be for it to go: another process may be about
	// to open its files.
	recent = time.Hour
)

// An item is kept, and goes, as a whole: a file, or a folder with its files.
type item struct {
	files []string // slash-separated paths below the cache
	dir   string   // "" for a file by itself
	size  int64    // bytes
	used  time.Time
}

// items returns what is kept of a kind. Links are not followed.
func (k *Kind) items(root *os.Root) (list []item) {
	at := map[string]int{}
	seen := 0
	fs.WalkDir(root.FS(), k.Name, func(name string, d fs.DirEntry, err error) error {
		if seen++; err != nil || d.IsDir() {
			if seen > mostEntries {
				return fs.SkipAll
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		key := name
		if k.dirs {
			key = path.Dir(name)
		}
		i, ok := at[key]
		if !ok {
			i, at[key] = len(list), len(list)
			list = append(list, item{})
			if k.dirs {
				list[i].dir = key
			}
		}
		x := &list[i]
		x.files = append(x.files, name)
		x.size += info.Size()
		if info.ModTime().After(x.used) {
			x.used = info.ModTime()
		}
		return nil
	})
	return list
}

// remove removes an item. It returns how many files it has removed, how many bytes have gone, also
// by another process that makes room at the same time, and how many files stay.
func (x *item) remove(root *os.Root) (files int, gone int64, stay int) {
	gone = x.size
	for _, name := range x.files {
		info, err := root.Lstat(name)
		if err == nil {
			err = root.Remove(name)
		}
		switch {
		case err == nil:
			files++
		case !errors.Is(err, fs.ErrNotExist) && info != nil:
			gone -= info.Size()
			stay++
		}
	}
	for dir := x.dir; dir != "" && dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil { // it has something else
			break
		}
	}
	return files, gone, stay
}

// recount is how long what a walk has found counts, with what this process has added since. What
// other processes add meanwhile, the next walk finds.
const recount = time.Minute

// counted is what the last walk has found.
var counted struct {
	sync.Mutex
	top  string
	at   time.Time
	size int64 // bytes of all that is kept
}

// MakeRoom removes what was not used for longest, of all kinds, until there is room for size bytes
// more, and a sixteenth of the bound. It reports whether there is room for size bytes: what cannot
// be removed stays. A walk over all that is kept takes long, so not each call makes one.
func MakeRoom(size int64) bool {
	top, err := Top()
	if err != nil {
		return false
	}
	counted.Lock()
	defer counted.Unlock()
	if counted.top != top || time.Since(counted.at).Abs() >= recount || counted.size+size > room.Load() {
		counted.top, counted.at, counted.size = top, time.Now(), removeOld(size)
	}
	counted.size += size
	return counted.size <= room.Load()
}

// removeOld removes what was not used for longest if there is no room for size bytes more. It
// returns the bytes that are left.
func removeOld(size int64) (left int64) {
	root := openTop()
	if root == nil {
		return 0
	}
	defer root.Close()
	var all []item
	for i := range Kinds {
		for _, x := range Kinds[i].items(root) {
			all = append(all, x)
			left += x.size
		}
	}
	most := room.Load()
	if left+size <= most {
		return left
	}
	slices.SortFunc(all, func(a, b item) int { return a.used.Compare(b.used) })
	for i := range all {
		if left+size <= most-most/16 {
			break
		}
		if x := &all[i]; x.dir == "" || time.Since(x.used).Abs() >= recent {
			_, gone, _ := x.remove(root)
			left -= gone
		}
	}
	return left
}

// Kept is how much is kept of a kind.
type Kept struct {
	Kind
	Files int
	Bytes int64
}

// List returns what is kept, by kind; nothing where the folder is not there or not the user's own.
func List() (list []Kept) {
	root := openTop()
	if root != nil {
		defer root.Close()
	}
	for i := range Kinds {
		k := Kept{Kind: Kinds[i]}
		if root != nil {
			for _, x := range Kinds[i].items(root) {
				k.Files += len(x.files)
				k.Bytes += x.size
			}
		}
		list = append(list, k)
	}
	return list
}

// Clear removes all that is kept, and returns how many files and bytes have gone, and how many
// files could not be removed. Files that are not this package's stay.
func Clear() (files int, size int64, stay int) {
	root := openTop()
	if root == nil {
		return 0, 0, 0
	}
	defer root.Close()
	for i := range Kinds {
		for _, x := range Kinds[i].items(root) {
			n, gone, kept := x.remove(root)
			files += n
			size += gone
			stay += kept
		}
		root.Remove(Kinds[i].Name) // if it is empty
	}
	return files, size, stay
}

// openTop opens the cache, if it is there and the user's own.
func openTop() *os.Root {
	top, err := Top()
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(top); err != nil {
		return nil
	}
	return Open(top)
}

// Top returns the path of the cache.
func Top() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "sfwalk"), err
}
