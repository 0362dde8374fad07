package docs

import (
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// wings are the nodes of the picture of the wings: folders, by the names of their nodes.
func wings(picture string) map[string][]string {
	list := map[string][]string{}
	for _, m := range node.FindAllStringSubmatch(picture, -1) {
		list[m[1]] = strings.Split(m[2], ", ")
	}
	return list
}

// TestWings compares the picture of the wings in architecture.md with the imports.
func TestWings(t *testing.T) {
	_, picture, ok := strings.Cut(readFile(t, "architecture.md"), "flowchart BT\n")
	if !ok {
		t.Fatal("architecture.md has no picture of the wings")
	}
	picture, _, _ = strings.Cut(picture, "```")
	list := packages(t)
	nodes := wings(picture)
	wingOf := func(pkg string) (wing string) { // the one with the longest folder
		longest := 0
		for name, folders := range nodes {
			for _, folder := range folders {
				if (pkg == folder || strings.HasPrefix(pkg, folder+"/")) && len(folder) > longest {
					wing, longest = name, len(folder)
				}
			}
		}
		return wing
	}
	imports := map[[2]string]string{} // from wing to wing: a package that does
	shown := 0
	for pkg, p := range list {
		from := wingOf(pkg)
		if from == "" {
			continue
		}
		shown++
		for _, to := range p.Imports {
			if to, ok := strings.CutPrefix(to, module); ok {
				if to := wingOf(to); to != "" && to != from {
					imports[[2]string{from, to}] = pkg
				}
			}
		}
	}
	if shown < 60 {
		t.Fatalf("the picture has only %d packages", shown)
	}
	above := map[string]map[string]bool{} // what a wing may import, by the picture
	for _, line := range strings.Split(node.ReplaceAllString(picture, "$1"), "\n") {
		from, to, ok := strings.Cut(strings.TrimSpace(line), " --> ")
		if !ok {
			continue
		}
		if above[from] == nil {
			above[from] = map[string]bool{}
		}
		above[from][to] = true
		if imports[[2]string{from, to}] == "" {
			t.Errorf("%s: there is no such import", line)
		}
	}
	for grown := true; grown; { // the picture leads on from wing to wing
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
	for from := range above {
		if above[from][from] {
			t.Errorf("the picture leads from %s back to it", from)
		}
	}
	for edge, pkg := range imports {
		if !above[edge[0]][edge[1]] {
			t.Errorf("%s imports a package of %s: the picture does not have that", pkg, edge[1])
		}
	}
}

var room = regexp.MustCompile("`([a-z0-9/…-]+)`")

// TestRooms compares the tables of rooms.md with the packages: all are there, and no others.
func TestRooms(t *testing.T) {
	list := packages(t)
	found := map[string]bool{}
	for line := range strings.Lines(readFile(t, "rooms.md")) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, m := range room.FindAllStringSubmatch(cell, -1) {
			below, open := strings.CutSuffix(m[1], "/…")
			some := false
			for pkg := range list {
				if pkg == m[1] || open && strings.HasPrefix(pkg, below+"/") {
					found[pkg], some = true, true
				}
			}
			if _, err := os.Stat("../" + below); err != nil || !some && !strings.HasPrefix(below, "tools") && below != "packaging" {
				t.Errorf("rooms.md has %s: there is no such package", m[1])
			}
		}
	}
	for pkg := range list {
		if !found[pkg] {
			t.Errorf("rooms.md does not say what the task of %s is", pkg)
		}
	}
}
