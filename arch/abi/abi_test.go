package abi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/i386"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
)

// descriptors calls test for each processor.
func descriptors(t *testing.T, test func(*testing.T, *arch.Arch)) {
	for _, name := range arch.Names() {
		t.Run(name, func(t *testing.T) { test(t, arch.ByName(name)) })
	}
}

// TestRefused: a call that cannot be made says why.
func TestRefused(t *testing.T) {
	integer := &abi.Type{Kind: abi.Integer, Size: 4}
	array := &abi.Type{Kind: abi.Array, Size: 8, Elem: integer, Count: 2}
	itself := &abi.Type{Kind: abi.Struct, Size: 8}
	itself.Members = []abi.Member{{Type: itself}}
	deep := integer
	for range 100 {
		deep = &abi.Type{Kind: abi.Struct, Size: 4, Members: []abi.Member{{Type: deep}}}
	}
	wide := integer
	for range 30 {
		wide = &abi.Type{Kind: abi.Union, Size: 4, Members: []abi.Member{{Type: wide}, {Type: wide}}}
	}
	word := func(t *abi.Type) abi.Value { return abi.Value{Type: t, Bytes: make([]byte, 4)} }
	descriptors(t, func(t *testing.T, a *arch.Arch) {
		for _, test := range []struct {
			f      abi.Func
			args   []abi.Value
			sp     uint64
			why    string
			isType bool
		}{
			{abi.Func{Params: []*abi.Type{integer}}, nil, 1 << 20, "1 parameters, the call 0 arguments", false},
			{abi.Func{}, []abi.Value{word(integer)}, 1 << 20, "0 parameters, the call 1 arguments", false},
			{abi.Func{Params: []*abi.Type{integer}}, []abi.Value{{Bytes: make([]byte, 8)}}, 1 << 20, "argument 1 has 8 bytes, its type 4", false},
			{abi.Func{Variadic: true}, []abi.Value{word(nil)}, 1 << 20, "no type", true},
			{abi.Func{Variadic: true}, []abi.Value{word(array)}, 1 << 20, "pass a pointer", true},
			{abi.Func{Variadic: true}, []abi.Value{word(itself)}, 1 << 20, "contains itself", true},
			{abi.Func{Variadic: true}, []abi.Value{word(deep)}, 1 << 20, "levels", true},
			{abi.Func{Variadic: true}, []abi.Value{word(wide)}, 1 << 20, "parts", true},
			{abi.Func{Variadic: true}, []abi.Value{word(&abi.Type{Kind: abi.Struct, Size: 4, Members: []abi.Member{{Type: integer, Offset: 1}}})}, 1 << 20, "outside", true},
			{abi.Func{Result: array}, nil, 1 << 20, "no function returns an array", true},
			{abi.Func{Result: &abi.Type{Kind: abi.Struct, Size: 1 << 30}}, nil, 1 << 20, "no room", false},
		} {
			_, err := a.Calls.PushDummyCall(&test.f, test.args, test.sp, 0x1000)
			if err == nil || !strings.Contains(err.Error(), test.why) || errors.Is(err, abi.ErrType) != test.isType {
				t.Errorf("error %v, want one with %q, a wrong type: %t", err, test.why, test.isType)
			}
		}
	})
}
