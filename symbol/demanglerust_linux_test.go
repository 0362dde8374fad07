package symbol

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Names of Rust's older mangling have their underscores, as c++filt has them.
func TestLegacyRust(t *testing.T) {
	for _, name := range []string{
		"_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h07ac9118f36d271cE",
		"_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h07ac9118f36d271cE.llvm.123",
		"_ZN3app1_17h07ac9118f36d271cE",
		"_ZN3app5_main6__same17h07ac9118f36d271cE",
		"_ZN57_$LT$app..Key$u20$as$u20$core..cmp..Ord$GT$3cmp17h0123456789abcdefE",
		"_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
		"_ZN3app4main17h0123456789abcdefE",
		"_ZN1A4_fooEv",
	} {
		out, err := exec.Command(gdbtest.Tool(t, "c++filt"), name).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace(string(out))
		if i := strings.LastIndex(want, "::h"); i > 0 {
			want = want[:i]
		}
		want = strings.TrimSuffix(want, "()") // parameters are left out
		if got := Demangle(name); got != want {
			t.Errorf("%s: %q, c++filt has %q", name, got, want)
		}
	}
}
