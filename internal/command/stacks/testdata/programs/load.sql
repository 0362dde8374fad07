-- Tables, indexes, triggers, sorts, joins and recursive queries: this file is read again and again.
create table if not exists words (id integer primary key, word text, weight real, data blob);
create index if not exists by_word on words (word collate nocase, weight desc);
create table if not exists counts (word text primary key, n int) without rowid;
create trigger if not exists counted after insert on words begin
  insert into counts values (new.word, 1) on conflict (word) do update set n = n + 1;
end;
create view if not exists heavy as select word, sum(weight) as total, group_concat(id) as ids from words group by word having total > 3;
begin;
with recursive n(x) as (select 1 union all select x + 1 from n where x < 3000)
insert into words (word, weight, data) select printf('word %d %s', x % 97, hex(x * x)), x / 7.0, zeroblob(x % 50) from n;
commit;
select a.word, count(*), max(b.weight), json_group_array(json_object('id', b.id, 'w', b.weight))
  from words a join words b on a.word = b.word and a.id <> b.id group by a.word order by 3 desc, 1 limit 20;
select word, total, row_number() over (order by total), lag(word) over (partition by length(word) order by word) from heavy order by total desc limit 10;
with recursive fib(a, b) as (values (0.0, 1.0) union all select b, a + b from fib limit 5000) select sum(a * 1e-300) from fib;
update words set weight = weight * 2, word = replace(upper(word), 'WORD', 'w' || id % 5) where id % 3 = 0;
select word from words where word like '%ord 1%' or word glob '*[0-9A]*' order by random() limit 5;
explain query plan select * from words where word in (select word from counts where n > (select avg(n) from counts));
delete from words;
delete from counts;
vacuum;
