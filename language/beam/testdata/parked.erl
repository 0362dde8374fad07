%% Processes of many kinds, which are parked or suspended. For each line of standard input, the
%% program tells what the run time system knows of them, and "end". Each has a line:
%%   PID TAB NAME TAB STATUS TAB MESSAGES TAB LINKS TAB FRAMES TAB FUNCTIONS
%% FRAMES are FUNCTION@FILE:LINE, the innermost first, with ; between. The ones of the interpreter
%% of files are left out. FUNCTIONS are of each call, of which FRAMES has equal neighbours once.
-module(parked).
-export([start/0, deep/2, worker/1, held/1, server/0, thrower/0, twice/2]).

start() ->
    erlang:system_flag(backtrace_depth, 1000),
    process_flag(trap_exit, true),
    Waiting = [spawn(?MODULE, deep, [N, a]) || N <- lists:seq(0, 40, 4)],
    register('a name', hd(Waiting)),
    Linked = spawn_link(?MODULE, held, [[]]),
    register(linked, Linked),
    Server = spawn(?MODULE, server, []),
    Full = spawn(?MODULE, held, [full]),
    [Full ! {message, N} || N <- lists:seq(1, 17)],
    Port = spawn(fun() -> P = open_port({spawn, "cat"}, []), held(P) end),
    Thrower = spawn(?MODULE, thrower, []),
    Closure = (fun(X) -> spawn(fun() -> map(fun(Y) -> held(Y) end, [X, 2]) end) end)(1),
    Workers = [spawn(?MODULE, worker, [N]) || N <- lists:seq(1, 8)],
    io:format("ready~n"),
    rounds(Waiting ++ [Linked, Server, Full, Port, Thrower, Closure], Workers).

rounds(Parked, Workers) ->
    case io:get_line("") of
        eof -> halt();
        _ ->
            [erlang:suspend_process(W) || W <- Workers],
            [hd(Workers) ! {more, N} || N <- lists:seq(1, 3)],
            [tell(P) || P <- Parked ++ Workers],
            io:format("end~n"),
            _ = io:get_line(""),
            [erlang:resume_process(W) || W <- Workers],
            rounds(Parked, Workers)
    end.

tell(P) ->
    [{_, Stack}, {_, Messages}, {_, Links}, {_, Status}, Registered] =
        [process_info(P, What) || What <- [current_stacktrace, message_queue_len, links, status, registered_name]],
    Name = case Registered of {_, N} -> io_lib:format("~p", [N]); [] -> "" end,
    {_, Backtrace} = process_info(P, backtrace),
    {match, Calls} = re:run(Backtrace, "^(?:Program counter: 0x|0x[0-9a-f]+ Return addr 0x)[0-9a-f]+ \\(([^ ]*:[^ ]*/[0-9]+) \\+", [global, multiline, {capture, [1], list}]),
    io:format("~p\t~s\t~s\t~b\t~s\t~s\t~s~n",
              [P, Name, Status, Messages, lists:join(",", [io_lib:format("~p", [L]) || L <- Links]),
               lists:join(";", [frame(F) || F <- Stack]), lists:join(";", Calls)]).

frame({M, F, A, Where}) ->
    io_lib:format("~p:~p/~b@~s:~b", [M, F, A, proplists:get_value(file, Where, ""), proplists:get_value(line, Where, 0)]).

deep(0, _) -> receive never -> ok end;
deep(N, X) -> R = deep(N - 1, {X, N}), {R, X, N}.

held(X) -> receive {never, X} -> ok end, X.

server() ->
    receive {call, From} -> From ! reply, server() after 1000000 -> server() end.

thrower() ->
    try erlang:error(because) catch error:R:_ -> held(R) after ok end.

map(F, [H | T]) -> [F(H) | map(F, T)];
map(_, []) -> [].

%% Workers run, and are suspended anywhere.
worker(N) -> _ = busy(N, 30), worker(N).

busy(_, 0) -> 0;
busy(N, D) ->
    X = case (N + D) rem 7 of
        0 -> lists:foldl(fun(A, B) -> twice(A, B) end, 0, lists:seq(1, 20));
        1 -> try throw_at(D rem 5) catch throw:T -> T end;
        2 -> length([A || A <- lists:seq(1, 50), A rem 2 =:= 0]);
        3 -> maps:size(maps:from_list([{A, A} || A <- lists:seq(1, 40)]));
        4 -> byte_size(term_to_binary({N, D, lists:seq(1, 30)}));
        5 -> length(lists:sort([(A * 7919) rem 101 || A <- lists:seq(1, 60)]));
        6 -> bits(<<N:32, D:32>>, 0)
    end,
    X + busy(N, D - 1).

twice(A, B) -> 1 + once(A, B).
once(A, B) -> A + B.
throw_at(0) -> throw(7);
throw_at(N) -> 1 + throw_at(N - 1).
bits(<<B:1, R/bits>>, N) -> bits(R, N + B);
bits(<<>>, N) -> N.
