//go:build linux && (amd64 || arm64)

package delve_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/delvetest"
)

// The stacks of an arm64 core agree with Delve's, too.
func TestGuest(t *testing.T) {
	grp, _ := delvetest.Guest(t)
	c := compare(t, grp.Selected, 60)
	c.goroutines(all)
	c.threads()
	if c.stacks < 900 {
		t.Errorf("%d stacks", c.stacks)
	}
	c.report(t)
	checkLead(t, grp.Selected)
}
