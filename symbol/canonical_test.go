package symbol

import "testing"

// TestCanonicalFunction has names as gdb 13 writes them of a program's functions.
func TestCanonicalFunction(t *testing.T) {
	for _, tt := range []struct {
		name       string
		parameters []string
		end, want  string
	}{
		{"out::in::none", nil, "", "out::in::none()"},
		{"__cxx_global_var_init.5", nil, "", "__cxx_global_var_init.5(void)"},
		{"(anonymous namespace)::many<>", nil, "", "(anonymous namespace)::many<>(void)"},
		{"fr", []string{"int (&)(const char *)", "int (&)[3]", "int (&&)[4]", "const char * const *"}, "", "fr(int (&)(char const*), int (&) [3], int (&&) [4], char const* const*)"},
		{"mp", []string{"int (Hidden::*)(const Hidden * const, int &&)", "int Hidden::*"}, "", "mp(int (Hidden::*)(Hidden const* const, int&&), int Hidden::*)"},
		{"f", []string{"complex double", "const char *"}, "", "f(complex double, const char *)"},
		{"k", []string{"complex", "const char *"}, "", "k(complex, char const*)"},
		{"d", []string{"const __int128 *"}, "", "d(__int128 const*)"},
		{"e", []string{"const __int128 unsigned *", "const char *"}, "", "e(const __int128 unsigned *, const char *)"},
		{"none", nil, " const", "none() const"},
	} {
		if got := CanonicalFunction(tt.name, tt.parameters, tt.end); got != tt.want {
			t.Errorf("%q %q: %s, want %s", tt.name, tt.parameters, got, tt.want)
		}
	}
}
