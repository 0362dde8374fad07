%% A process that tells its own stack in a file, and then runs for a while with just that stack below
%% the function spin/2. A record in the file has a fixed size, and is written at once:
%%   NUMBER TAB FRAMES padded with blanks. FRAMES are as parked.erl has them; "-" says that the
%% process is between two of them.
-module(running).
-export([start/1, down/3, spin/2, native/1, dirty/1]).
-on_load(load/0).

load() -> _ = erlang:load_nif(filename:rootname(code:which(?MODULE)) ++ "_nif", 0), ok.
native(_) -> erlang:nif_error(none).
dirty(_) -> erlang:nif_error(none).

-define(SIZE, 65536).

start([File | Kinds]) ->
    erlang:system_flag(backtrace_depth, 1000),
    {ok, F} = file:open(File, [write, raw, binary]),
    put(file, F),
    ets = ets:new(ets, [named_table, public]),
    [ets:insert(ets, {N, N}) || N <- lists:seq(1, 1000)],
    note(0, "-"),
    io:format("ready~n"),
    spawn(fun() -> _ = io:get_line(""), halt() end),
    loop(1, [list_to_atom(K) || K <- Kinds]).

loop(N, Kinds) ->
    [down(N + I, (N * 7 + I * 13) rem 34, K) || {I, K} <- lists:enumerate(0, Kinds)],
    loop(N + length(Kinds), Kinds).

down(N, 0, Kind) ->
    announce(N),
    spin(Kind, cpu() + 200),
    note(N, "-");
down(N, D, Kind) when D rem 3 =:= 0 -> [R] = lists:map(fun(X) -> down(X, D - 1, Kind) end, [N]), {R, D};
down(N, D, Kind) when D rem 7 =:= 0 -> try down(N, D - 1, Kind) after ok end;
down(N, D, Kind) when D rem 5 =:= 0 -> R = apply(?MODULE, down, [N, D - 1, Kind]), {R};
down(N, D, Kind) -> {catch down(N, D - 1, Kind), D}.

announce(N) ->
    {current_stacktrace, S} = process_info(self(), current_stacktrace),
    note(N, lists:join(";", [frame(F) || F <- S])).

frame({M, F, A, Where}) ->
    io_lib:format("~p:~p/~b@~s:~b", [M, F, A, proplists:get_value(file, Where, ""), proplists:get_value(line, Where, 0)]).

note(N, Text) ->
    B = iolist_to_binary([integer_to_list(N), "\t", Text]),
    ok = file:pwrite(get(file), 0, [B, binary:copy(<<" ">>, ?SIZE - byte_size(B))]).

spin(Kind, Until) ->
    case cpu() < Until of
        true -> _ = once(Kind, 50000), spin(Kind, Until);
        false -> ok
    end.

%% Processor time of the run time system, ms: it stands still while others have the processor.
cpu() -> {Total, _} = statistics(runtime), Total.

once(_, 0) -> 0;
once(sum, N) -> once(sum, N - 1);
once(body, N) -> 1 + body(200) + once(body, max(0, N - 200));
once(bif, N) -> _ = lists:reverse([N, 1, 2, 3]), _ = erlang:phash2({N, foo}), once(bif, N - 1);
once(binary, N) -> _ = binary_to_term(term_to_binary({N, [a, b, c], <<"text">>})), once(binary, max(0, N - 10));
once(garbage, N) -> _ = lists:seq(1, 100), once(garbage, max(0, N - 20));
once(big, N) -> _ = (N bsl 100) * (N bsl 90) div 12345678901234567890, once(big, N - 1);
once(ets, N) -> _ = ets:lookup(ets, N rem 1000), once(ets, N - 1);
once(throw, N) -> _ = (catch thrown(N rem 5)), once(throw, N - 1);
once(map, N) -> _ = maps:map(fun(_, V) -> V + 1 end, #{a => 1, b => 2, c => N}), once(map, N - 1);
once(closure, N) -> F = fun(X) -> X + N end, _ = lists:foldl(fun(A, B) -> F(A) + B end, 0, [1, 2, 3]), once(closure, max(0, N - 4));
once(float, N) -> _ = math:sqrt(N * 1.5) + N / 3.0, once(float, N - 1);
once(compare, N) -> _ = {N, [1, 2, {a, "b"}]} =< {N, [1, 2, {a, "c"}]}, once(compare, N - 1);
once(bits, N) -> <<A:3, B:7/bits, C/bits>> = <<N:64>>, _ = <<C/bits, B/bits, A:5>>, once(bits, N - 1);
once(port, N) -> _ = (catch erlang:port_info(hd(erlang:ports()))), once(port, max(0, N - 20));
once(message, N) -> self() ! {m, N}, receive {m, N} -> ok end, once(message, N - 1);
once(yield, N) -> erlang:yield(), once(yield, max(0, N - 20));
once(native, N) -> _ = native(2000), once(native, max(0, N - 200));
once(dirty, N) -> _ = dirty(20000), once(dirty, max(0, N - 1000)).

body(0) -> 0;
body(N) -> 1 + body(N - 1).

thrown(0) -> throw(done);
thrown(N) -> 1 + thrown(N - 1).
