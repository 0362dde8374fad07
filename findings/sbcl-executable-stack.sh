#!/bin/sh
# SBCL's threads run on control stacks that are mapped readable, writable and executable: each word of such a stack that
# points into the stack passes for an address of code.
#
# An unwinder that takes "points into executable memory" for a sign of a return address finds such signs everywhere. The
# stack of the kernel's ([stack]) is not executable; the main thread leaves it for one of SBCL's own.
#
# Seen with sbcl 2:2.2.9-1 of Debian 12: "the stack pointer is in a mapping rwxp, which is not [stack]".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q sbcl=2:2.2.9-1 libzstd1=1.5.4+dfsg2-5 >/dev/null 2>&1 || { echo "the packages cannot be fetched: Debian 12 has them"; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done

cat >stack.lisp <<'LISP'
(defun at (line what) (parse-integer line :start (if (eq what :lo) 0 (1+ (position #\- line)))
                                          :end (position (if (eq what :lo) #\- #\Space) line) :radix 16))
(let ((sp (sb-sys:sap-int (sb-vm::current-sp))))
  (with-open-file (maps "/proc/self/maps")
    (loop for line = (read-line maps nil) while line
          when (and (<= (at line :lo) sp) (< sp (at line :hi)))
            do (format t "the stack pointer is in a mapping ~a, which is ~a[stack]~%"
                       (subseq line (1+ (position #\Space line)) (+ 5 (position #\Space line)))
                       (if (search "[stack]" line) "" "not ")))))
LISP
seen=$(LD_LIBRARY_PATH="$dir/root/usr/lib/x86_64-linux-gnu" SBCL_HOME="$dir/root/usr/lib/sbcl" root/usr/bin/sbcl --core root/usr/lib/sbcl/sbcl.core --script stack.lisp)
echo "$seen"
[ "$seen" = "the stack pointer is in a mapping rwxp, which is not [stack]" ]
