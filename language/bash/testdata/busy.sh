# Runs the hard parts of bash for ever: see stops_linux_test.go.
enable -f "$1" o_call o_start
here=${BASH_SOURCE[0]%/*}

work() {
	local i n=${1:-3} s=
	for ((i = 0; i < n; i++)); do
		s+=$((i * 7 % 5))
		[[ $s == *"$i" ]] &&
			s=${s%?}
	done
	return 0
}

recurse() {
	if (($1 <= 0)); then
		work 2
		return
	fi
	recurse $(($1 - 1))
	work 1
}

early() {
	local x
	for x in 1 2 3 4; do
		work 1
		case $x in
		3) return 5 ;;
		esac
	done
}

substitutes() {
	local text
	text=$(
		work 1
		recurse 1
		echo text
	)
	work "${#text}"
	: <<-TEXT
		$(work 1)
	TEXT
}

subshells() {
	(
		work 1
	)
	work 1 | work 2
	{ work 1; } &
	wait $!
}

evals() {
	eval 'work 1
		recurse 2
		work 1'
	eval "of_eval() {
		work 2
	}"
	of_eval
}

sources() {
	source "$here/sourced.sh" 1
	. "$here/sourced.sh" return
	source /dev/stdin <<<'work 1
		recurse 1'
}

# Is called by bash itself.
on_signal() {
	work 1
	recurse 1
}
signals() {
	trap 'on_signal
		work 1' USR1
	kill -USR1 $$
	work 2
	trap - USR1
}

on_error() {
	work 1
}
errors() {
	trap on_error ERR
	early
	! work
	trap - ERR
	trap 'work 1' RETURN
	work 1
	trap - RETURN
}

debugs() {
	set -T
	trap 'seen=$BASH_COMMAND' DEBUG
	recurse 1
	trap - DEBUG
	set +T
}

callbacks() {
	o_call 'recurse 2'
	o_call 'o_call "work 2
		recurse 1"'
}

command_not_found_handle() {
	work 1
	return 1
}
missing() {
	no_such_command
	work 1
}

redefines() {
	of_this_moment() {
		unset -f of_this_moment
		work 2
	}
	of_this_moment
}

reads() {
	local line
	while read -r line; do
		work "$line"
	done <<<'1
2'
	mapfile -C work -c 1 list <<<'1
2'
}

o_start
echo ready
all=(work 'recurse 12' early substitutes subshells evals sources signals errors debugs callbacks missing redefines reads)
while :; do
	${all[RANDOM % ${#all[@]}]}
done
