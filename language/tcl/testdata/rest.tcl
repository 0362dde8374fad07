# Comes to rest in a function of C, below two interpreters and functions of C that call Tcl. The
# first argument is the path of the native extension.
load [lindex $argv 0] Oracle
interp create kid
kid eval {
	proc in_kid {} {
		back
	}
}
interp alias kid back {} middle

proc bottom {} {
	puts ready
	flush stdout
	o_rest
}
proc middle {} {
	o_call {
		bottom
	}
}
proc compare {a b} {
	kid eval in_kid
}
proc top {} {
	foreach x 1 {
		lsort -command compare {1 2}
	}
}
o_invoke top
