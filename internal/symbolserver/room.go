package symbolserver

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	maxKept = 8 << 30   // bytes of what all servers' folders have together
	recent  = time.Hour // what was used since stays: another process may be about to open it
)

// A symbol file's folder has these beside it.
const (
	noneName = ".none" // the server has no such file; as old as the answer
	usedName = ".used" // as old as the last use; the file's own time says which index is true
	partName = ".part" // what was fetched in part; partName+".about" is about it
)

// used notes that a symbol file is about to be used.
func used(file string) {
	name, now := filepath.Join(filepath.Dir(file), usedName), time.Now()
	if os.Chtimes(name, now, now) != nil {
		os.WriteFile(name, nil, 0o600)
	}
}

// keptFile is a symbol file, or a part of one, in its folder.
type keptFile struct {
	dir  string
	size int64
	used time.Time
}

// makeRoom removes symbol files below the folder of all servers, those first that were not used for
// the longest time, until the others have no more than limit bytes.
func makeRoom(cache string, limit int64) {
	var list []keptFile
	size := int64(0)
	filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if k := keptIn(path); k.size > 0 {
			list = append(list, k)
			size += k.size
		}
		return nil
	})
	slices.SortFunc(list, func(a, b keptFile) int { return a.used.Compare(b.used) })
	for _, k := range list {
		if size <= limit || time.Since(k.used).Abs() < recent {
			return
		}
		k.remove()
		size -= k.size
	}
}

// keptIn returns what a folder has of symbols.
func keptIn(dir string) keptFile {
	k := keptFile{dir: dir}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || e.IsDir() {
			continue
		}
		if strings.HasSuffix(e.Name(), ".sym") || e.Name() == partName {
			k.size += info.Size()
		}
		if info.ModTime().After(k.used) {
			k.used = info.ModTime()
		}
	}
	return k
}

// remove removes the folder with all that fetching has made there.
func (k *keptFile) remove() {
	entries, _ := os.ReadDir(k.dir)
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, ".sym"), name == usedName, name == noneName, name == partName, name == partName+".about":
			os.Remove(filepath.Join(k.dir, name))
		}
	}
	os.Remove(k.dir)
}
