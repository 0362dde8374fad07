package fromelf

import (
	"debug/elf"
	"fmt"
	"strings"
	"sync"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// Names of registers in STACK CFI records, by DWARF number, as Breakpad's reader expects them. s390x, which it does not
// have, is named as sfwalk and gdb do.
var (
	amd64Names = fields(`$rax $rdx $rcx $rbx $rsi $rdi $rbp $rsp $r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15 $rip
		$xmm0 $xmm1 $xmm2 $xmm3 $xmm4 $xmm5 $xmm6 $xmm7 $xmm8 $xmm9 $xmm10 $xmm11 $xmm12 $xmm13 $xmm14 $xmm15
		$st0 $st1 $st2 $st3 $st4 $st5 $st6 $st7 $mm0 $mm1 $mm2 $mm3 $mm4 $mm5 $mm6 $mm7 $rflags
		$es $cs $ss $ds $fs $gs $unused1 $unused2 $fs.base $gs.base $unused3 $unused4 $tr $ldtr $mxcsr $fcw $fsw`)
	i386Names = fields(`$eax $ecx $edx $ebx $esp $ebp $esi $edi $eip $eflags $unused1
		$st0 $st1 $st2 $st3 $st4 $st5 $st6 $st7 $unused2 $unused3
		$xmm0 $xmm1 $xmm2 $xmm3 $xmm4 $xmm5 $xmm6 $xmm7 $mm0 $mm1 $mm2 $mm3 $mm4 $mm5 $mm6 $mm7
		$fcw $fsw $mxcsr $es $cs $ss $ds $fs $gs $unused4 $unused5 $tr $ldtr`)
	armNames   = slots(map[int]string{0: "r0-r12", 13: "sp lr pc f0-f7 fps cpsr", 64: "s0-s31 f0-f7"})
	arm64Names = slots(map[int]string{0: "x0-x30 sp", 64: "v0-v31"})
	s390xNames = slots(map[int]string{0: "r0-r15 f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15", 64: "pswm pswa"})
)

func fields(names string) func() []string {
	return sync.OnceValue(func() []string { return strings.Fields(names) })
}

// slots returns names by number. Of each run of names, the number of the first is given; "r0-r2" stands for r0 r1 r2.
func slots(runs map[int]string) func() []string {
	return sync.OnceValue(func() []string { return numbered(runs) })
}

func numbered(runs map[int]string) []string {
	var list []string
	for at, run := range runs {
		for word := range strings.FieldsSeq(run) {
			prefix := word[:1]
			var lo, hi int
			names := []string{word}
			if n, _ := fmt.Sscanf(word, prefix+"%d-"+prefix+"%d", &lo, &hi); n == 2 {
				names = names[:0]
				for i := lo; i <= hi; i++ {
					names = append(names, fmt.Sprint(prefix, i))
				}
			}
			for _, name := range names {
				for len(list) <= at {
					list = append(list, "")
				}
				list[at] = name
				at++
			}
		}
	}
	return list
}

// registerNames returns the names of registers in symbol files, by DWARF number. "" stands for none.
func registerNames(im *elfimage.Image) []string {
	switch im.Machine {
	case elf.EM_X86_64:
		return amd64Names()
	case elf.EM_386:
		return i386Names()
	case elf.EM_AARCH64:
		return arm64Names()
	case elf.EM_ARM:
		return armNames()
	case elf.EM_S390:
		return s390xNames()
	}
	return nil
}
