package php

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestUnknown tries layouts of other releases than the process is of: only its own one fits.
func TestUnknown(t *testing.T) {
	gdbtest.Later(t, "php")
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "php"), filepath.Join("testdata", "tasks.php"))
	for line := ""; line != "end\n"; {
		var err error
		if line, err = p.Stdout.ReadString('\n'); err != nil {
			gdbtest.Cannot(t, "this PHP has no fibers")
		}
	}
	p.Rest(t)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	found, err := language.Find(&language.Process{Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules()}, []language.Decorator{Decorator{}})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d run times: %v", len(found), err)
	}
	e := found[0].Runtime.(*engine)
	own := e.layout
	files, err := layouts.ReadDir("layouts")
	if err != nil {
		t.Fatal(err)
	}
	fitting := 0
	for _, f := range files {
		api, isLayout := strings.CutSuffix(f.Name(), ".txt")
		if !isLayout {
			continue
		}
		n, err := strconv.Atoi(api)
		if err != nil {
			t.Fatal(err)
		}
		if e.layout, err = layoutOf(n); err != nil || e.layout == nil {
			t.Fatalf("%s: %v", api, err)
		}
		err = e.fits(tg.Memory())
		if err == nil {
			fitting++
		}
		if e.layout.api == own.api && err != nil {
			t.Errorf("its own layout: %v", err)
		}
		t.Logf("%s: %v", api, err)
	}
	if fitting != 1 {
		t.Errorf("%d layouts fit", fitting)
	}
}
