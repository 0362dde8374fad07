# Is sourced by busy.sh again and again.
local_of_file=$1
twice() {
	work "$1"
	work "$1"
}
if [[ $1 == return ]]; then
	return 3
fi
twice 2
recurse 2
