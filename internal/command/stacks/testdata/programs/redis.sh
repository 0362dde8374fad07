# redis-server, in whose folder this runs, with clients that ask for everything that redis-benchmark knows, and for scripts.
cd redis/src
(
	until ./redis-benchmark -s "$PWD/socket" -n 1 -t ping; do :; done
	while ./redis-benchmark -s "$PWD/socket" -q -n 20000 -r 1000 -P 4; do
		./redis-benchmark -s "$PWD/socket" -q -n 2000 -r 100 eval 'for i = 1, 20 do redis.call("zadd", KEYS[1], i, ARGV[1] .. i) end return redis.call("zrange", KEYS[1], 0, -1)' 1 z__rand_int__ text
		./redis-benchmark -s "$PWD/socket" -q -n 200 -r 10 sort mylist by nosort get '#' limit 0 20
	done
) &
exec ./redis-server --port 0 --unixsocket "$PWD/socket" --save 5 1 --appendonly yes
