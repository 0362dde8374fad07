package php_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/php"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestCores holds the frames in core files, also of a program whose code opcache shares among
// processes, against what PHP has said before the process died.
func TestCores(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	extension := oracle(t)
	for _, settings := range []string{"opcache.enable_cli=0", "opcache.enable_cli=1"} {
		t.Run(settings, func(t *testing.T) {
			dir := t.TempDir()
			p := begin(t, dir, extension, settings)
			p.run(t, 300)
			text, ok := p.ask(t)
			if !ok {
				t.Fatal("PHP has ended")
			}
			p.Dies(t, syscall.SIGABRT)
			files, err := filepath.Glob(filepath.Join(dir, "core*"))
			if err != nil || len(files) != 1 {
				gdbtest.Cannot(t, "the process has left no core file: is RLIMIT_CORE 0?")
			}
			tg, err := core.Open(files[0], core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			var seen tally
			seen.compare(t, languagetest.All(t, tg, php.Decorator{}, nil)[p.PID], parseOracle(t, text))
			t.Logf("%+v", seen)
		})
	}
}
