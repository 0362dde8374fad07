//go:build linux

package symbol

import (
	"os"
	"path/filepath"
	"testing"
)

// A function has inlined calls: first inlines second, and third is beside them.
const nested = `
static inline __attribute__((always_inline)) int second(int x) {
	__asm__ volatile(".globl in_second\nin_second: nop");
	return x * 3;
}
static inline __attribute__((always_inline)) int first(int x) {
	__asm__ volatile(".globl in_first\nin_first: nop");
	return second(x + 1) ^ 5;
}
static inline __attribute__((always_inline)) int third(int x) {
	__asm__ volatile(".globl in_third\nin_third: nop");
	return x * 7;
}
__attribute__((noinline)) int outer(int x) {
	__asm__ volatile("nop");
	x = first(x);
	__asm__ volatile("nop");
	return third(x);
}
__attribute__((noinline)) int other(int x) { return x + 9; }
int main(int argc, char **argv) { return outer(argc) + other(argc); }
`

// InlinedInto agrees with the source.
func TestWithin(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nested.c"), []byte(nested), 0o644); err != nil {
		t.Fatal(err)
	}
	file := compile(t, dir, "cc", "nested.c", "-g", "-O1")
	ms, bias := mapped(t, file)
	s := New(Options{})
	defer s.Close()
	im, _, err := ms.All()[0].Image()
	if err != nil {
		t.Fatal(err)
	}
	entry := make(map[string]uint64) // of a call or function
	for _, label := range []string{"in_first", "in_second", "in_third", "other"} {
		found := im.Lookup(label, 1)
		if len(found) != 1 {
			t.Fatalf("no label %s", label)
		}
		for _, at := range s.Locate(ms, found[0].Addr+bias) {
			entry[at.Function] = at.Entry
		}
	}
	within := map[[2]string]bool{{"first", "outer"}: true, {"second", "outer"}: true, {"second", "first"}: true, {"third", "outer"}: true}
	names := []string{"first", "second", "third", "outer", "other"}
	for _, inner := range names {
		for _, outer := range names {
			if entry[inner] == 0 || entry[outer] == 0 {
				t.Fatalf("entries %#x", entry)
			}
			if want := inner == outer || within[[2]string{inner, outer}]; s.InlinedInto(ms, entry[inner], entry[outer]) != want {
				t.Errorf("%s within %s: want %t", inner, outer, want)
			}
		}
	}
}
