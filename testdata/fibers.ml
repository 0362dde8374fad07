(* A program of OCaml 5 that is in functions of all kinds, also on the stacks of effects' fibers. It
   tells its own stack as OCaml's frame tables have it, an empty line behind it, and waits for a
   byte. *)
open Effect
open Effect.Deep

type _ Effect.t += Ask : int -> int Effect.t
type _ Effect.t += Other : unit Effect.t

let told () =
  print_string (Printexc.raw_backtrace_to_string (Printexc.get_callstack 100000));
  print_string "\n";
  flush stdout;
  ignore (input_char stdin)

let rec down n f =
  if n = 0 then f ()
  else 1 + down (n - 1) f

let asks k =
  let x = perform (Ask k) in
  1 + down x (fun () -> told (); x)

let handled f =
  match_with f ()
    { retc = (fun x -> x + 1);
      exnc = raise;
      effc = (fun (type a) (e : a Effect.t) ->
        match e with
        | Ask n ->
          Some (fun (k : (a, _) continuation) ->
            told ();
            1 + continue k (n + 1))
        | _ -> None) }

let passes f =
  match_with f ()
    { retc = (fun x -> x); exnc = raise; effc = (fun (type a) (_ : a Effect.t) -> None) }

exception Wrong

let scenarios = [|
  (fun n -> down n (fun () -> told (); n));
  (fun n -> 1 + handled (fun () -> asks n));
  (fun n -> 1 + handled (fun () -> 2 + passes (fun () -> 3 + asks n)));
  (fun n -> 1 + passes (fun () -> down n (fun () -> 1 + passes (fun () -> told (); n))));
  (fun n -> 1 + handled (fun () -> 2 + handled (fun () -> asks n + asks (n + 1))));
  (fun n -> try passes (fun () -> ignore (down n (fun () -> raise Wrong)); 0) with Wrong -> told (); n);
  (fun n -> passes (fun () -> try perform Other; 0 with Unhandled _ -> told (); n));
  (fun n -> List.fold_left (+) 0 (List.map (fun x -> told (); x + n) [1; 2]));
  (fun n -> let a = [| 3; n |] in Array.sort (fun x y -> told (); compare x y) a; a.(0));
  (fun n -> down n (fun () -> Gc.finalise (fun _ -> passes (fun () -> told (); 0) |> ignore) (ref n); Gc.full_major (); n));
|]

let () =
  print_string "ready\n";
  let n = ref 0 in
  while true do
    ignore (Sys.opaque_identity (scenarios.(!n mod Array.length scenarios) (1 + !n mod 7)));
    incr n
  done
