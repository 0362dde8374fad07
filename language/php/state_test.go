package php

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
)

// TestKey reads the code of tsrm_get_ls_cache as gcc 12 has compiled it in PHP 7.4, which objdump
// shows as
//
//	39e800:	mov    0x67679a(%rip),%edi        # a14fa0 <tls_key>
//	39e806:	jmp    200bc0 <pthread_getspecific@plt>
func TestKey(t *testing.T) {
	code := []byte{0x8b, 0x3d, 0x9a, 0x67, 0x67, 0x00, 0xe9, 0xb5, 0x23, 0xe6, 0xff}
	if got, ok := amd64.Arch.Zend.ThreadKey(code, 0x39e800); !ok || got != 0xa14fa0 {
		t.Errorf("got %#x, %t, want 0xa14fa0", got, ok)
	}
}
