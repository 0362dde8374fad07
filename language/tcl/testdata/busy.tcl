# Keeps all kinds of Tcl's frames busy for ever. The first argument is the path of the native
# extension.
load [lindex $argv 0] Oracle

namespace eval ::work {
	proc spin {{n 20}} {
		incr n 300
		set sum 0
		for {set i 0} {$i < $n} {incr i} {
			incr sum [expr {$i * 3 % 7}]
			if {$sum > 100} {
				set sum [expr {$sum - 50}]
			}
		}
		set text [string repeat "x$sum" 5]
		return [string length [string toupper $text]]
	}
	proc recurse {depth} {
		if {$depth == 0} {
			return [spin]
		}
		return [expr {1 + [recurse [expr {$depth - 1}]]}]
	}
	proc tail {n} {
		spin 5
		if {$n > 0} {
			tailcall ::work::tail [expr {$n - 1}]
		}
		return 0
	}
	namespace export spin recurse
	namespace ensemble create -map {deep ::work::recurse flat ::work::spin}
}

proc compare {a b} {
	::work::spin 3
	return [expr {$a - $b}]
}

proc evaluates {} {
	eval {
		::work::recurse 3
	}
	eval [list ::work::recurse 2]
	set script "set x 1\n::work::spin"
	eval $script
	uplevel 1 {
		::work::spin
	}
	set command ::work::recurse
	$command 4
	{*}[list ::work::recurse 3]
	catch { ::work::recurse 2; error "x" } message
	try {
		::work::spin
		error again
	} on error {message} {
		::work::recurse 1
	} finally {
		::work::spin 4
	}
	subst {a [::work::spin] b}
	foreach x {1 2} y {3 4} { ::work::spin $x }
	dict for {k v} {a 1 b 2} { ::work::recurse $v }
	if 1 "::work::spin 9"
	expr "1 + \[::work::spin 4\]"
}

proc sorts {} {
	lsort -command compare {3 1 2 9 4}
	lsort -command {apply {{a b} {
		compare $a $b
	}}} {3 1 2}
	regsub -all {a+} [string repeat "baab" 50] x
}

proc traced {name index op} {
	::work::spin 6
}

proc traces {} {
	set watched 1
	trace add variable watched write traced
	set watched 2
	incr watched
	lappend watched 4
}

proc calls {} {
	o_call {
		::work::recurse 3
	}
	o_invoke ::work::recurse 2
	o_call "o_invoke compare 3 4"
	work deep 2
	work flat
}

proc lambdas {} {
	apply {{n} {
		::work::recurse $n
	}} 3
	apply {{} { ::work::spin } ::work}
}

oo::class create Shape {
	variable size
	constructor {s} {
		set size $s
		::work::spin 3
	}
	method area {} {
		return [expr {[my side] * [my side]}]
	}
	method side {} {
		::work::recurse 1
		return $size
	}
	destructor {
		::work::spin 3
	}
}
oo::class create Square {
	superclass Shape
	method side {} {
		::work::spin 4
		next
	}
}

proc objects {} {
	set s [Square new 3]
	$s area
	oo::objdefine $s method own {} {
		my area
	}
	$s own
	$s destroy
}

proc generator {n} {
	yield
	while {1} {
		for {set i 0} {$i < $n} {incr i} {
			::work::spin 4
			yield [::work::recurse 2]
		}
		inner
	}
}
coroutine inner apply {{} {
	while 1 {
		yield [::work::spin 5]
	}
}}
coroutine outer generator 3

proc coroutines {} {
	outer
	outer
	inner
	outer
}

proc events {} {
	set ::done 0
	after 0 {
		::work::spin
		set ::done 1
	}
	vwait ::done
}

proc aliased {n} {
	::work::recurse $n
}
interp alias {} other {} aliased 2

proc all {} {
	evaluates
	sorts
	traces
	calls
	lambdas
	objects
	coroutines
	events
	other
	::work::tail 3
}

puts ready
flush stdout
while {1} {
	all
}
