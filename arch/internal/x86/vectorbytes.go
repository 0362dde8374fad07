package x86

import (
	"slices"
	"strings"
)

// Processors, by gcc's names (-march), by the widest vectors that they have. Those of the first
// list have none.
const (
	withoutSSE = `i386 i486 i586 i686 pentium lakemont pentium-mmx winchip-c6 winchip2 c3 samuel-2 pentiumpro pentium2 k6
		k6-2 k6-3 geode athlon athlon-tbird`
	withoutAVX = `x86-64 x86-64-v2 pentium3 pentium3m pentium-m pentium4 pentium4m prescott nocona core2 nehalem corei7
		westmere bonnell atom silvermont slm goldmont goldmont-plus tremont c3-2 c7 nehemiah esther eden-x2
		eden-x4 nano nano-1000 nano-2000 nano-3000 nano-x2 nano-x4 athlon-4 athlon-xp athlon-mp k8 k8-sse3
		opteron opteron-sse3 athlon64 athlon64-sse3 athlon-fx amdfam10 barcelona btver1`
	withAVX = `x86-64-v3 sandybridge corei7-avx ivybridge core-avx-i haswell core-avx2 broadwell skylake alderlake
		raptorlake meteorlake arrowlake arrowlake-s lunarlake pantherlake sierraforest grandridge
		clearwaterforest gracemont bdver1 bdver2 bdver3 bdver4 btver2 znver1 znver2 znver3 lujiazui yongfeng
		shijidadao`
	withAVX512 = `x86-64-v4 knl knm skylake-avx512 cannonlake icelake-client icelake-server rocketlake cascadelake
		cooperlake tigerlake sapphirerapids emeraldrapids graniterapids graniterapids-d znver4 znver5`
)

// VectorBytes implements arch.Arch.VectorBytes: gcc records its options (-grecord-gcc-switches),
// -march among them.
func VectorBytes(producer string) (n uint64, known bool) {
	options := strings.Fields(producer)
	for _, o := range options {
		model, ok := strings.CutPrefix(o, "-march=")
		switch {
		case !ok:
			continue
		case slices.Contains(strings.Fields(withoutSSE), model):
			n, known = 0, true
		case slices.Contains(strings.Fields(withoutAVX), model):
			n, known = 16, true
		case slices.Contains(strings.Fields(withAVX), model):
			n, known = 32, true
		case slices.Contains(strings.Fields(withAVX512), model):
			n, known = 64, true
		default:
			return 0, false
		}
	}
	for _, o := range options {
		name, ok := strings.CutPrefix(o, "-m")
		switch {
		case !ok:
		case strings.HasPrefix(name, "avx10"):
			return 0, false
		case strings.HasPrefix(name, "avx512"):
			n = max(n, 64)
		case strings.HasPrefix(name, "avx"), name == "fma", name == "fma4", name == "f16c", name == "xop":
			n = max(n, 32)
		case strings.HasPrefix(name, "sse") && name != "sseregparm":
			n = max(n, 16)
		}
	}
	for name, most := range map[string]uint64{"-mno-avx512f": 32, "-mno-avx": 16, "-mno-sse": 0, "-mgeneral-regs-only": 0} {
		if slices.Contains(options, name) {
			n = min(n, most)
		}
	}
	return n, known
}
