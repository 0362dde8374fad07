# Waits for what $1 says; everything ends together with the standard input.
process() {
	cat
}
pipeline() {
	cat | tail -n 5
}
subshell() (
	cat
	:
)
substitution() {
	local text=$(cat)
}
jobs_of() {
	exec 3<&0
	cat <&3 &
	wait
}
trapped() {
	trap 'cat; :' USR1
	kill -USR1 $$
	:
}
exec 2>/dev/null # who waits for the shell waits for the end of that, too
echo ready
"$1"
:
