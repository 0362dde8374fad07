# source.sh NAME: unpacks the upstream sources of Debian's package NAME, of this release, into the folder NAME.
. /etc/os-release
options="-o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists -o APT::Sandbox::User=root"
mkdir -p lists/partial "$1"
echo "deb-src http://deb.debian.org/debian ${VERSION_CODENAME:-testing} main" > sources.list
apt-get -q $options update
apt-get -q $options source --download-only "$1"
tar -C "$1" --strip-components=1 -xf "$(ls "$1"_*.orig.tar.* | grep -v '\.asc$')" # a signature may lie beside it
