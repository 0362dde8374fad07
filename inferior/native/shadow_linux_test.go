package native

import "testing"

// The kernel tells of a shadow stack in /proc/TID/status (its Documentation/arch/x86/shstk.rst). No
// machine that runs these tests has one.
func TestShadowStack(t *testing.T) {
	const begin, end = "Name:\tprogram\nState:\tS (sleeping)\n", "x86_Thread_features_locked:\tshstk wrss\nuntag_mask:\t0xffffffffffffffff\n"
	for line, want := range map[string]bool{
		"": false, "x86_Thread_features:\t\n": false, "x86_Thread_features:\twrss \n": false,
		"x86_Thread_features:\tshstk \n": true, "x86_Thread_features:\tshstk wrss \n": true,
	} {
		if got := hasWord(begin+line+end, "x86_Thread_features", "shstk"); got != want {
			t.Errorf("%q: a shadow stack: %t", line, got)
		}
	}
}
