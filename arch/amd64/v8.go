package amd64

// v8Exit implements arch.Arch.V8Exit: call [r13+n], of V8's table of builtin functions. r13 is
// V8's root register.
func v8Exit(code []byte) (n int) {
	const short, long = 4, 7
	if len(code) < short || code[0] != 0x41 || code[1] != 0xff {
		return 0
	}
	switch {
	case code[2] == 0x55:
		return short
	case code[2] == 0x95 && len(code) >= long:
		return long
	}
	return 0
}
