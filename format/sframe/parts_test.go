package sframe

import (
	"bytes"
	"strings"
	"testing"
)

// A section has as many parts as a program has objects, and no more than a large program has.
func TestMaxParts(t *testing.T) {
	one := withoutFREs(t, little, AMD64)
	list, err := OpenParts(bytes.Repeat(one, maxParts), 0x2000)
	if err != nil || len(list) != maxParts {
		t.Errorf("%d parts, %v", len(list), err)
	}
	list, err = OpenParts(bytes.Repeat(one, maxParts+1), 0x2000)
	if err == nil || len(list) != maxParts || !strings.Contains(err.Error(), "no more than") {
		t.Errorf("%d parts, %v", len(list), err)
	}
}
