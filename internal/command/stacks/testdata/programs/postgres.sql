set jit_above_cost = 0
set max_parallel_workers_per_gather = 0
select sum(x::bigint * (x + 7) % (x % 1009 + 1)) from (select generate_series(1, 2000000000) as x) t
