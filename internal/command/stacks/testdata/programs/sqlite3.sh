# sqlite3, in whose folder this runs, with load.sql again and again.
cd sqlite3
mkfifo queries
while cat "$SRC/load.sql"; do :; done >queries &
exec ./sqlite3 file.db <queries
