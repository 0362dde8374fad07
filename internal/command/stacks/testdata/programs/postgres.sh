# A query that PostgreSQL compiles with LLVM, again and again, in a server process of its own.
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
chmod 755 . .. && mkdir data && chown postgres . data
su postgres -c "$bin/initdb -D data" >/dev/null
