package valuetest

// A Build is one way to compile a program.
type Build struct {
	Compiler string // gcc or clang; of C++ g++ or clang++
	Flags    []string
	Triple   string // of gcc's cross compiler; "" for this machine's own
}

// Builds are ways to compile that differ in what compilers write: how far the code is optimized,
// the version of DWARF, where it is.
var Builds = []Build{
	{Compiler: "gcc", Flags: []string{"-O0", "-g"}},
	{Compiler: "gcc", Flags: []string{"-O2", "-g"}},
	{Compiler: "gcc", Flags: []string{"-O1", "-g3"}},
	{Compiler: "gcc", Flags: []string{"-O3", "-g"}},
	{Compiler: "gcc", Flags: []string{"-Og", "-g"}},
	{Compiler: "gcc", Flags: []string{"-O2", "-gdwarf-4", "-gstrict-dwarf"}},
	{Compiler: "gcc", Flags: []string{"-O2", "-gdwarf-2", "-gstrict-dwarf"}},
	{Compiler: "gcc", Flags: []string{"-O1", "-gdwarf-3"}},
	{Compiler: "clang", Flags: []string{"-O0", "-g"}},
	{Compiler: "clang", Flags: []string{"-O2", "-g"}},
	{Compiler: "clang", Flags: []string{"-O1", "-gdwarf-4"}},
	{Compiler: "gcc", Flags: []string{"-O2", "-g", "-gsplit-dwarf"}},
	{Compiler: "gcc", Flags: []string{"-O0", "-g", "-fdebug-types-section"}},
	{Compiler: "clang", Flags: []string{"-Og", "-g"}},
	{Compiler: "gcc", Flags: []string{"-O2", "-g", "-fno-omit-frame-pointer"}},
	{Compiler: "clang", Flags: []string{"-O2", "-gdwarf-2"}},
	{Compiler: "gcc", Flags: []string{"-O0", "-gdwarf-2", "-gstrict-dwarf"}},
	{Compiler: "gcc", Flags: []string{"-O0", "-gdwarf-4"}},
	{Compiler: "clang", Flags: []string{"-O3", "-g"}},
	{Compiler: "gcc", Flags: []string{"-O2", "-g", "-static-pie"}},
	{Compiler: "gcc", Flags: []string{"-O3", "-g3", "-fdebug-types-section", "-gdwarf-4"}},
	{Compiler: "clang", Flags: []string{"-O1", "-g", "-gsplit-dwarf"}},
}

// Command returns the compiler and its flags for a program.
func (b Build) Command(p Program) []string {
	cmd := []string{b.Compiler}
	if p.cxx {
		cmd[0] = map[string]string{"gcc": "g++", "clang": "clang++"}[b.Compiler]
		cmd = append(cmd, "-std=gnu++20", "-fpermissive", map[string]string{"gcc": "-Wno-narrowing", "clang": "-Wno-c++11-narrowing"}[b.Compiler])
	} else {
		cmd = append(cmd, "-std=gnu17")
	}
	if b.Triple != "" {
		cmd[0] = b.Triple + "-" + cmd[0]
	}
	return append(append(cmd, "-w"), b.Flags...)
}
