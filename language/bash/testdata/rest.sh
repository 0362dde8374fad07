# Prints what caller says of each call, and rests.
enable -f "$1" o_call o_rest
here=${BASH_SOURCE[0]%/*}
rest() {
	local i
	for ((i = 0; ; i++)); do
		caller $i || break
	done
	echo end
	o_rest
}
inner() {
	rest
}
outer() {
	trap 'source "$here/rest_sourced.sh" x' USR1
	kill -USR1 $$
	:
}
echo ready
o_call 'o_call "outer"'
