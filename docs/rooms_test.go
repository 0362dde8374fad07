package docs

import (
	"errors"
	"go/build"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sfwalk/sfwalk/"

// packages returns the packages of the module by their directories, as they are on linux/amd64.
func packages(t *testing.T) map[string]*build.Package {
	t.Helper()
	list := map[string]*build.Package{}
	system := build.Context{GOOS: "linux", GOARCH: "amd64", Compiler: "gc"}
	err := filepath.WalkDir("..", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || dir == ".." {
			return err
		}
		if name := d.Name(); name == "testdata" || strings.HasPrefix(name, ".") {
			return fs.SkipDir
		}
		p, err := system.ImportDir(dir, 0)
		if none := (*build.NoGoError)(nil); errors.As(err, &none) || err == nil && len(p.GoFiles) == 0 {
			return nil
		}
		list[filepath.ToSlash(dir[len("../"):])] = p
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var node = regexp.MustCompile(`(\w+)\["([^"<]*)[^"]*"\]`)

// TestRooms compares the diagram of the rooms in architecture.md with the imports.
func TestRooms(t *testing.T) {
	_, diagram, ok := strings.Cut(readFile(t, "architecture.md"), "flowchart BT\n")
	if !ok {
		t.Fatal("architecture.md has no diagram of the rooms")
	}
	diagram, _, _ = strings.Cut(diagram, "```")
	list := packages(t)
	rooms := map[string][]string{} // packages by the name of the node: "arch/amd64, arm64" are two
	for _, m := range node.FindAllStringSubmatch(diagram, -1) {
		dir := ""
		for _, name := range strings.Split(m[2], ", ") {
			if beside := path.Join(dir, name); list[beside] != nil {
				name = beside
			}
			dir = path.Dir(name)
			rooms[m[1]] = append(rooms[m[1]], name)
		}
	}
	above := map[string]map[string]bool{} // what a package may import, by the diagram
	for _, line := range strings.Split(node.ReplaceAllString(diagram, "$1"), "\n") {
		ends := strings.Split(strings.TrimSpace(line), " --> ")
		for i, from := range ends[:len(ends)-1] {
			imported := false
			for _, x := range append(rooms[from], from) {
				if list[x] == nil {
					continue
				}
				for _, y := range append(rooms[ends[i+1]], ends[i+1]) {
					if above[x] == nil {
						above[x] = map[string]bool{}
					}
					above[x][y] = true
					imported = imported || slices.Contains(list[x].Imports, module+y)
				}
			}
			if !imported {
				t.Errorf("%s: there is no such import", strings.TrimSpace(line))
			}
		}
	}
	if len(above) < 20 {
		t.Fatalf("the diagram has only %d packages that import others", len(above))
	}
	for grown := true; grown; { // the diagram leads on from room to room
		grown = false
		for _, list := range above {
			for next := range list {
				for to := range above[next] {
					grown = grown || !list[to]
					list[to] = true
				}
			}
		}
	}
	shown := map[string]bool{}
	for from, list := range above {
		shown[from] = true
		for to := range list {
			shown[to] = true
		}
	}
	for from := range above {
		if above[from][from] {
			t.Errorf("the diagram leads from %s back to it", from)
		}
		for _, to := range list[from].Imports {
			if to, ok := strings.CutPrefix(to, module); ok && shown[to] && !above[from][to] {
				t.Errorf("%s imports %s: the diagram does not have it", from, to)
			}
		}
	}
}
