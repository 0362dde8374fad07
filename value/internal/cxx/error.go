package cxx

import (
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// ErrorCode writes a std::error_code or std::error_condition.
func ErrorCode(o *Object) *value.Shown {
	n, ok := FirstNumber(o.V, "_M_value", "__val_")
	category, of, ok2 := FirstPointer(o.V, "_M_cat", "__cat_")
	if !ok || !ok2 {
		return nil
	}
	table, err := o.Word(category)
	if err != nil {
		return &value.Shown{Err: err}
	}
	name, class := "", o.Without(of.Strip().FullName())
	if symbol, _, ok := o.T.Reader().SymbolAt(table); ok {
		symbol, ok = strings.CutPrefix(symbol, "vtable for ")
		if ok {
			class = o.Without(symbol)
		}
	}
	for _, known := range [...]string{"generic", "system", "future", "io"} {
		if strings.HasSuffix(class, "::"+known+"_error_category") || strings.HasSuffix(class, "::__"+known+"_error_category") {
			name = known
		}
	}
	if strings.HasSuffix(class, "::__iostream_category") { // libc++'s
		name = "iostream"
	}
	usual := "system"
	if strings.HasSuffix(o.Name, "condition") {
		usual = "generic"
	}
	text := strconv.FormatInt(n, 10)
	switch {
	case n == 0 && name == usual:
		return &value.Shown{Text: o.Name + " = { }"}
	case n > 0 && n < int64(len(errnoNames)) && errnoNames[n] != "" && (name == "generic" || name == "system"):
		text = errnoNames[n]
	case name == "future" && n >= 0 && n < int64(len(futureErrors)):
		text = futureErrors[n]
	case (name == "io" || name == "iostream") && n == 1:
		text = "stream"
	}
	if name != "" {
		class = strconv.Quote(name)
	}
	return &value.Shown{Text: o.Name + " = {" + class + ": " + text + "}"}
}

// futureErrors are the names of std::future_errc.
var futureErrors = [...]string{"", "future_already_retrieved", "promise_already_satisfied", "no_state", "broken_promise"}

// errnoNames are the names of Linux's error numbers on most processors.
var errnoNames = [...]string{
	"", "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG",
	"ENOEXEC", "EBADF", "ECHILD", "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK",
	"EBUSY", "EEXIST", "EXDEV", "ENODEV", "ENOTDIR", "EISDIR", "EINVAL", "ENFILE",
	"EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS", "EMLINK",
	"EPIPE", "EDOM", "ERANGE", "EDEADLOCK", "ENAMETOOLONG", "ENOLCK", "ENOSYS", "ENOTEMPTY",
	"ELOOP", "", "ENOMSG", "EIDRM", "ECHRNG", "EL2NSYNC", "EL3HLT", "EL3RST",
	"ELNRNG", "EUNATCH", "ENOCSI", "EL2HLT", "EBADE", "EBADR", "EXFULL", "ENOANO",
	"EBADRQC", "EBADSLT", "", "EBFONT", "ENOSTR", "ENODATA", "ETIME", "ENOSR",
	"ENONET", "ENOPKG", "EREMOTE", "ENOLINK", "EADV", "ESRMNT", "ECOMM", "EPROTO",
	"EMULTIHOP", "EDOTDOT", "EBADMSG", "EOVERFLOW", "ENOTUNIQ", "EBADFD", "EREMCHG", "ELIBACC",
	"ELIBBAD", "ELIBSCN", "ELIBMAX", "ELIBEXEC", "EILSEQ", "ERESTART", "ESTRPIPE", "EUSERS",
	"ENOTSOCK", "EDESTADDRREQ", "EMSGSIZE", "EPROTOTYPE", "ENOPROTOOPT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "ENOTSUP",
	"EPFNOSUPPORT", "EAFNOSUPPORT", "EADDRINUSE", "EADDRNOTAVAIL", "ENETDOWN", "ENETUNREACH", "ENETRESET", "ECONNABORTED",
	"ECONNRESET", "ENOBUFS", "EISCONN", "ENOTCONN", "ESHUTDOWN", "ETOOMANYREFS", "ETIMEDOUT", "ECONNREFUSED",
	"EHOSTDOWN", "EHOSTUNREACH", "EALREADY", "EINPROGRESS", "ESTALE", "EUCLEAN", "ENOTNAM", "ENAVAIL",
	"EISNAM", "EREMOTEIO", "EDQUOT", "ENOMEDIUM", "EMEDIUMTYPE", "ECANCELED", "ENOKEY", "EKEYEXPIRED",
	"EKEYREVOKED", "EKEYREJECTED", "EOWNERDEAD", "ENOTRECOVERABLE", "ERFKILL",
}

// Ordering writes the result of a comparison of C++20.
func Ordering(o *Object) *value.Shown {
	n, ok := FirstNumber(o.V, "_M_value", "__value_")
	if !ok {
		return nil
	}
	name := "equivalent"
	switch {
	case n == 0 && o.T.Name == "strong_ordering":
		name = "equal"
	case n == 0:
	case n == 2 || n == -128 || n == -127: // the second since GCC 14, the third of libc++
		name = "unordered"
	case n == -1:
		name = "less"
	case n == 1:
		name = "greater"
	default:
		return nil
	}
	return &value.Shown{Text: "std::" + o.T.Name + "::" + name}
}
