# Runs code on and on that calls no command: each part has lines of its own, and a number that the
# native extension tells. The first argument is the path of the native extension.
load [lindex $argv 0] Oracle

proc phases {} {
	o_phase 1
	for {set i 0} {$i < 30000} {incr i} { ;# 1
		set j [expr {$i * 3 + 1}] ;# 1
	}
	o_phase 2
	set text [string repeat abc 20] ;# 2
	for {set i 0} {$i < 3000} {incr i} { ;# 2
		set part [string range $text 1 end-$j] ;# 2
		append part [string index $text 3] ;# 2
		if {[string match {*[0-9]*} $text]} { set part "" } ;# 2
	}
	o_phase 3
	set list {} ;# 3
	while {[llength $list] < 3000} { ;# 3
		lappend list [llength $list] ;# 3
		set last [lindex $list end] ;# 3
	}
	foreach {a b} $list { ;# 3
		set sum [expr {$a + $b}] ;# 3
	}
	o_phase 4
	set big 1 ;# 4
	for {set i 1} {$i < 120} {incr i} { ;# 4
		set big [expr {$big * $i}] ;# 4
	}
	o_phase 5
	if {[regexp {^(a+)+$} aaaaaaaaaaaaaaaaaaaaaaaaaaab]} { ;# 5
		set i 0 ;# 5
	}
	for {set i 0} {$i < 100} {incr i} { ;# 5
		regexp {(a|b|ab)*c(\d+)\1} $text ;# 5
	}
	o_phase 6
	dict set d x 1 ;# 6
	for {set i 0} {$i < 3000} {incr i} { ;# 6
		dict incr d x ;# 6
		dict set d y [dict get $d x] ;# 6
	}
}

puts ready
flush stdout
while 1 {
	phases
}
