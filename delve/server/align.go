//go:build linux && (amd64 || arm64)

package server

import "github.com/go-delve/delve/service/api"

// none stands for no frame's number.
const none = -1

// align returns for each of our frames the number of the same frame in Delve's stack, theirs, or
// none. Both stacks go outward. Delve's may lack frames, or have wrong ones.
func align(ours, theirs []api.Stackframe) []int {
	type key struct {
		pc       uint64
		offset   int64 // of the CFA from the end of the stack
		function string
	}
	of := func(f *api.Stackframe) key { return key{f.PC, f.FrameOffset, f.Function.Name()} }
	at := make(map[key][]int, len(theirs))
	for i := range theirs {
		if f := &theirs[i]; f.Err == "" && f.Function != nil {
			at[of(f)] = append(at[of(f)], i)
		}
	}
	list, next := make([]int, len(ours)), 0
	for i := range ours {
		list[i] = none
		if ours[i].Err != "" || ours[i].Function == nil {
			continue
		}
		k := of(&ours[i])
		for ; len(at[k]) > 0 && list[i] == none; at[k] = at[k][1:] {
			if j := at[k][0]; j >= next {
				list[i], next = j, j+1
			}
		}
	}
	return list
}
