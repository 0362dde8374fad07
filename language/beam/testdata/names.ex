# Processes that wait in functions of all kinds of names. The program tells their stacks as Elixir
# writes functions, a line for each: PID TAB FUNCTIONS, the innermost first, with ; between.
defmodule Names do
  import Kernel, except: [+: 2, <>: 2, |>: 2, and: 2]

  def wait, do: (receive do :never -> :ok end)

  def plain, do: {wait()}
  def asks?, do: {wait()}
  def raises!, do: {wait()}
  def _under_score, do: {wait()}
  def unquote(:"two words")(), do: {wait()}
  def unquote(:Upper)(), do: {wait()}
  def unquote(:"ends?not")(), do: {wait()}
  def unquote(:größe)(), do: {wait()}
  def unquote(:"9lives")(), do: {wait()}
  def a + b, do: {wait(), a, b}
  def a <> b, do: {wait(), a, b}
  def a |> b, do: {wait(), a, b}
  def a ~> b, do: {wait(), a, b}
  def a and b, do: {wait(), a, b}
  def unquote(:nil)(a), do: {wait(), a}
  def unquote(:do)(a), do: {wait(), a}
  def unquote(:when)(a), do: {wait(), a}
  def unquote(:%{})(a), do: {wait(), a}
  def unquote(:{})(a), do: {wait(), a}
  def unquote(:"quoted \"name\"")(a), do: {wait(), a}
  def anonymous, do: {(fn -> {wait()} end).()}
  def nested, do: {(fn -> {(fn x -> {wait(), x} end).(1)} end).()}
  def mapped(list), do: {Enum.map(list, fn x -> {wait(), x} end)}
  def comprehension(list), do: {for(x <- list, into: [], do: {wait(), x})}
  def rescued, do: (try do {wait()} rescue _ -> :no end)
  def default(a \\ 1), do: {wait(), a}
  def by_erlang(list), do: {:lists.map(fn x -> {wait(), x} end, list)}
  defp hidden(x), do: {wait(), x}
  def private, do: {hidden(1)}

  defmodule Inner.Most do
    def deep, do: {Names.wait()}
    def asked?(x), do: {(fn -> {Names.wait(), x} end).()}
  end

  def start do
    pids =
      for {module, f, args} <- [
            {Names, :plain, []}, {Names, :asks?, []}, {Names, :raises!, []}, {Names, :_under_score, []},
            {Names, :"two words", []}, {Names, :Upper, []}, {Names, :"ends?not", []}, {Names, :größe, []}, {Names, :"9lives", []},
            {Names, :+, [1, 2]}, {Names, :<>, [1, 2]}, {Names, :|>, [1, 2]}, {Names, :~>, [1, 2]}, {Names, :and, [1, 2]},
            {Names, nil, [1]}, {Names, :do, [1]}, {Names, :when, [1]}, {Names, :%{}, [1]}, {Names, :{}, [1]}, {Names, :"quoted \"name\"", [1]},
            {Names, :anonymous, []}, {Names, :nested, []}, {Names, :mapped, [[1]]}, {Names, :comprehension, [[1]]},
            {Names, :rescued, []}, {Names, :default, []}, {Names, :by_erlang, [[1]]}, {Names, :private, []},
            {Names.Inner.Most, :deep, []}, {Names.Inner.Most, :asked?, [1]}
          ] do
        spawn(fn -> {apply(module, f, args)} end)
      end

    Process.sleep(100)
    :ok = :io.setopts(:standard_io, encoding: :unicode)
    IO.puts("ready")

    for pid <- pids do
      {:current_stacktrace, stack} = Process.info(pid, :current_stacktrace)
      IO.puts([:io_lib.format("~p", [pid]), "\t", Enum.intersperse(for({m, f, a, _} <- stack, do: name(m, f, a)), ";")])
    end

    IO.puts("end")
    _ = IO.gets("")
    System.halt(0)
  end

  defp name(m, f, a) do
    if String.starts_with?(Atom.to_string(m), "Elixir."),
      do: Exception.format_mfa(m, f, a),
      else: :io_lib.format("~p:~p/~b", [m, f, a])
  end
end
