package valuetest

// A Build is one way to compile a program.
type Build struct {
	Compiler string // gcc or clang; of C++ g++ or clang++
	Flags    []string
}

// Builds are ways to compile that differ in what compilers write: how far the code is optimized, the version of DWARF, where
// it is.
var Builds = []Build{
	{"gcc", []string{"-O0", "-g"}},
	{"gcc", []string{"-O2", "-g"}},
	{"gcc", []string{"-O1", "-g3"}},
	{"gcc", []string{"-O3", "-g"}},
	{"gcc", []string{"-Og", "-g"}},
	{"gcc", []string{"-O2", "-gdwarf-4", "-gstrict-dwarf"}},
	{"gcc", []string{"-O2", "-gdwarf-2", "-gstrict-dwarf"}},
	{"gcc", []string{"-O1", "-gdwarf-3"}},
	{"clang", []string{"-O0", "-g"}},
	{"clang", []string{"-O2", "-g"}},
	{"clang", []string{"-O1", "-gdwarf-4"}},
	{"gcc", []string{"-O2", "-g", "-gsplit-dwarf"}},
	{"gcc", []string{"-O0", "-g", "-fdebug-types-section"}},
	{"clang", []string{"-Og", "-g"}},
	{"gcc", []string{"-O2", "-g", "-fno-omit-frame-pointer"}},
	{"clang", []string{"-O2", "-gdwarf-2"}},
	{"gcc", []string{"-O0", "-gdwarf-2", "-gstrict-dwarf"}},
	{"gcc", []string{"-O0", "-gdwarf-4"}},
	{"clang", []string{"-O3", "-g"}},
	{"gcc", []string{"-O2", "-g", "-static-pie"}},
	{"gcc", []string{"-O3", "-g3", "-fdebug-types-section", "-gdwarf-4"}},
	{"clang", []string{"-O1", "-g", "-gsplit-dwarf"}},
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
	return append(append(cmd, "-w"), b.Flags...)
}
