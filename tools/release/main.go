// Command release makes what a release of sfwalk consists of, in a folder: archives of static
// programs for each platform, Debian packages and rpms, a container image, an SBOM, and the
// checksums of them all.
//
//	cd tools && go run ./release -version v0.1.0 -o ../dist
//
// The bytes depend on the sources, the version, the time of the commit and the release of Go alone:
// not on the folder, the user, the machine or the day. docs/releasing.md has the list of what is
// made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sfwalk/sfwalk/tools/internal/platforms"
	"github.com/sfwalk/sfwalk/tools/internal/version"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	syscall.Umask(0o022)
	dir := flag.String("C", "..", "the folder of sfwalk's sources")
	output := flag.String("o", "../dist", "the folder to write to, which is emptied")
	given := flag.String("version", "", "the version, such as v0.1.0, or what git describe says of a commit between")
	only := flag.String("platforms", strings.Join(platforms.All(), ","), "the platforms to make it for")
	flag.Parse()
	r, err := newRelease(*dir, *output, *given, strings.Split(*only, ","))
	if err == nil {
		err = r.make(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// release is what all steps need.
type release struct {
	source, output string // absolute folders
	work           string // a folder of what is put together; it is removed in the end
	version        version.Version
	time           time.Time // of all files
	platforms      []string
}

func newRelease(source, output, given string, on []string) (*release, error) {
	v, err := version.Parse(given)
	if err != nil {
		return nil, err
	}
	r := &release{version: v, platforms: on}
	if r.source, err = filepath.Abs(source); err == nil {
		r.output, err = filepath.Abs(output)
	}
	if err == nil {
		r.time, err = sourceTime(r.source)
	}
	return r, err
}

// sourceTime is SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch), or the
// time of the last commit.
func sourceTime(dir string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		cmd := exec.Command("git", "log", "-1", "--format=%ct")
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the last commit: %w; SOURCE_DATE_EPOCH can give one", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// make makes all of it.
func (r *release) make(ctx context.Context) (err error) {
	if err := r.empty(); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "sfwalk-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	shared := filepath.Join(r.work, "share")
	if err := r.share(ctx, shared); err != nil {
		return err
	}
	var trees []tree
	for _, p := range r.platforms {
		log.Printf("building %s", p)
		t, err := r.tree(ctx, p, shared)
		if err == nil {
			err = r.archive(t)
		}
		if err == nil && t.live() {
			err = r.packages(t)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		trees = append(trees, t)
	}
	if err := r.image(trees); err != nil {
		return fmt.Errorf("the container image: %w", err)
	}
	if err := r.materials(ctx, trees); err != nil {
		return fmt.Errorf("the SBOM: %w", err)
	}
	return r.checksums()
}

// empty makes the folder for the output. It removes what an earlier run has left, and nothing else.
func (r *release) empty() error {
	if err := os.MkdirAll(r.output, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.output)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != sums && !strings.HasPrefix(e.Name(), "sfwalk") || !e.Type().IsRegular() {
			return fmt.Errorf("%s has %s, which no release has made: name another folder", r.output, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(r.output, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// file is the path of a file of the release.
func (r *release) file(name string) string { return filepath.Join(r.output, name) }
