package amd64

import "testing"

func FuzzReadAhead(f *testing.F) { processor.FuzzReadAhead(f, fuzzSeeds) }

func FuzzCallTarget(f *testing.F) { processor.FuzzCallTarget(f, fuzzSeeds) }

// What the ways out of pieces of code say, by the manual (Intel SDM, volume 2: CALL, LEAVE,
// POP, PUSH, RET).
func TestReadAhead(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		at         uint64
		want       []string
	}{
		{"body", "\x90\x48\x83\xc4\x10\x5b\x5d\xc3", 0,
			[]string{"CFA=rsp+40 RA=[CFA-8] FP=[CFA-16] rbx=[CFA-24]"}},
		{"leave", "\x90\xc9\xc3", 0, []string{"CFA=rbp+16 RA=[CFA-8] FP=[CFA-16]"}},
		{"a call, and one that does not come back", "\x85\xc0\x74\x05\xe8\x00\x01\x00\x00\x5b\xc3", 0, // test; je +5; call; pop rbx; ret
			[]string{"CFA=rsp+16 RA=[CFA-8] FP=same rbx=[CFA-16]"}},
		{"pushed on the way", "\x57\xe8\x00\x01\x00\x00\x5f\x48\x83\xc4\x08\xc3", 0,
			[]string{"CFA=rsp+16 RA=[CFA-8] FP=same"}},
		{"a loop that leads back", "\xc3\x90\xeb\xfc", 1, []string{"CFA=rsp+8 RA=[CFA-8] FP=same"}},
		{"the stack pointer from memory", "\x48\x8b\x64\x24\x40\x5b\xc3", 0, // mov rsp,[rsp+64]; pop rbx; ret
			[]string{"CFA=*(r7+64)+16 RA=[CFA-8] FP=same rbx=[CFA-16]"}},
		{"another's code, which returns for it", "\x5b\xe9\x00\x01\x00\x00", 0,
			[]string{"CFA=rsp+16 RA=[CFA-8] FP=same rbx=[CFA-16] guess"}},
		{"saved only now", "\x53\x48\x8b\x5d\xf8\xc9\xc3", 0, // push rbx; mov rbx,[rbp-8]; leave; ret
			[]string{"CFA=rbp+16 RA=[CFA-8] FP=[CFA-16] rbx=undefined"}},
		{"stored as data", "\x49\x89\x2c\x24\x48\x8b\x6c\x24\x08\x48\x83\xc4\x38\xc3", 0, // mov [r12],rbp; mov rbp,[rsp+8]; add rsp,56; ret
			[]string{"CFA=rsp+64 RA=[CFA-8] FP=[CFA-56]"}},
		{"the thread ends", "\x89\xc7\xb8\x3c\x00\x00\x00\x0f\x05", 0, []string{"CFA=rsp+8 outermost"}},
		{"the thread ends, in small code", "\x31\xc0\xb0\x3c\x0f\x05\xf4", 0, []string{"CFA=rsp+8 outermost"}},
		{"a trap", "\x0f\x0b\x5b\xc3", 0, nil},
		{"pushed, and returned to", "\x50\xc3", 0, []string{"CFA=rsp RA=rax FP=same"}},
		{"loaded, pushed, and returned to", "\x48\x8b\x4a\x10\x51\x31\xc0\xc3", 0, []string{"CFA=rsp RA=[rdx+16] FP=same"}}, // mov rcx,[rdx+16]; push rcx; xor eax,eax; ret
		{"nowhere", "\xeb\xfe", 0, nil},
		{"kept by a function that is called", "\xe8\x04\x00\x00\x00\x48\x89\xcc\xc3\x31\xc0\xc3", 0, // call 1f; mov rsp,rcx; ret; 1: xor eax,eax; ret
			[]string{"CFA=rcx+8 RA=[CFA-8] FP=same"}},
		{"kept by all that are called", "\xe8\x04\x00\x00\x00\x48\x89\xcc\xc3\xe8\x01\x00\x00\x00\xc3\x31\xd2\xc3", 0, // 1: call 2f; ret; 2: xor edx,edx; ret
			[]string{"CFA=rcx+8 RA=[CFA-8] FP=same"}},
		{"changed by another that is called", "\xe8\x04\x00\x00\x00\x48\x89\xcc\xc3\xe8\x01\x00\x00\x00\xc3\x31\xc9\xc3", 0, nil},
		{"changed by a function that is called", "\xe8\x04\x00\x00\x00\x48\x89\xcc\xc3\x31\xc9\xc3", 0, nil},                 // xor ecx,ecx
		{"changed as none of its operands", "\xe8\x04\x00\x00\x00\x48\x89\xcc\xc3\x66\x0f\x3a\x61\xc1\x00\xc3", 0, nil},      // pcmpestri
		{"changed as none of its operands, VEX", "\xe8\x04\x00\x00\x00\x48\x89\xcc\xc3\xc4\xe3\x79\x61\xc1\x00\xc3", 0, nil}, // vpcmpestri
		{"changed by a jump elsewhere", "\xe8\x04\x00\x00\x00\x48\x89\xcc\xc3\x74\x7f\xc3", 0, nil},                          // je elsewhere
		{"changed by a function that nobody knows", "\xff\xd0\x48\x89\xcc\xc3", 0, nil},                                      // call *rax
		{"through a table", "\xff\x24\xc5\x00\x10\x00\x00\xc3", 0, nil},                                                      // jmp *0x1000(,%rax,8)
	} {
		processor.ReadAhead(t, tt.name, tt.code, tt.at, nil, tt.want)
	}
}

// What the ways out say that a jump leads to another place of, by the manual (the Intel SDM, volume
// 2: ADD, JMP, POP, RET).
func TestReadAway(t *testing.T) {
	for _, tt := range []struct {
		name, code, away string
		want             []string
	}{
		{"one way out for many", "\xe9\xfb\x1f\x00\x00", "\x48\x83\xc4\x10\x5b\xc3", // jmp away; away: add rsp,16; pop rbx; ret
			[]string{"CFA=rsp+8 RA=[CFA-8] FP=same guess", "CFA=rsp+32 RA=[CFA-8] FP=same rbx=[CFA-16]"}},
		{"the near way first", "\x74\x05\xe9\xf9\x1f\x00\x00\x5b\xc3", "\x58\xc3", // je 1f; jmp away; 1: pop rbx; ret; away: pop rax; ret
			[]string{"CFA=rsp+8 RA=[CFA-8] FP=same guess", "CFA=rsp+16 RA=[CFA-8] FP=same rbx=[CFA-16]", "CFA=rsp+16 RA=[CFA-8] FP=same"}},
		{"there and back", "\xe9\xfb\x1f\x00\x00\x5b\xc3", "\x59\xe9\xff\xdf\xff\xff", // jmp away; 1: pop rbx; ret; away: pop rcx; jmp 1b
			[]string{"CFA=rsp+8 RA=[CFA-8] FP=same guess", "CFA=rsp+16 RA=[CFA-8] FP=same guess", "CFA=rsp+24 RA=[CFA-8] FP=same rbx=[CFA-16]"}},
		{"a circle", "\xe9\xfb\x1f\x00\x00", "\xe9\xfb\xdf\xff\xff", []string{"CFA=rsp+8 RA=[CFA-8] FP=same guess", "CFA=rsp+8 RA=[CFA-8] FP=same guess"}},
		{"nothing there", "\xe9\xfb\x1f\x00\x00", "", []string{"CFA=rsp+8 RA=[CFA-8] FP=same guess"}},
	} {
		processor.ReadAhead(t, tt.name, tt.code, 0, &tt.away, tt.want)
	}
}
