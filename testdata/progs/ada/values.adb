with Ada.Text_IO; use Ada.Text_IO;
procedure Values is
   type Color is (Red, Green, Blue);
   type Small is range -5 .. 100;
   type Modular is mod 256;
   type Fix is delta 0.01 range 0.0 .. 100.0;
   type Vec is array (1 .. 4) of Integer;
   type By_Color is array (Color) of Integer;
   type Matrix is array (1 .. 2, 1 .. 3) of Integer;
   type Unc is array (Positive range <>) of Integer;
   type Point is record
      X, Y : Integer;
   end record;
   type Kind is (Circle, Square);
   type Shape (K : Kind := Circle) is record
      Name : String (1 .. 3);
      case K is
         when Circle => Radius : Float;
         when Square => Side : Integer;
      end case;
   end record;
   type Point_Access is access Point;
   type Tagged_T is tagged record
      A : Integer;
   end record;
   type Derived_T is new Tagged_T with record
      B : Integer;
   end record;
   procedure Inner (S : String; U : Unc; P : Point; N : in out Integer) is
      L : String (1 .. N) := (others => 'z');
      C : Character;
   begin
      N := N + 1;
      L (1) := S (S'First);
      Put_Line ("ready");
      Flush;
      if not End_Of_File then
         Get (C);
      end if;
      Put_Line (L & Integer'Image (U (U'First) + P.X));
   end Inner;
   I : Integer := -3;
   F : Float := 1.5;
   D : Long_Float := -2.25;
   B : Boolean := True;
   Ch : Character := 'q';
   Co : Color := Green;
   Sm : Small := 42;
   Mo : Modular := 200;
   Fx : Fix := 1.25;
   V : Vec := (1, 2, 3, 4);
   Bc : By_Color := (10, 20, 30);
   M : Matrix := ((1, 2, 3), (4, 5, 6));
   U : Unc (3 .. 6) := (7, 8, 9, 10);
   S : String := "hello";
   P : Point := (5, 6);
   Sh : Shape := (Circle, "abc", 2.5);
   Sq : Shape := (Square, "def", 9);
   Pa : Point_Access := new Point'(7, 8);
   Np : Point_Access := null;
   T : Derived_T := (A => 1, B => 2);
   N : Integer := 4;
begin
   Inner (S, U, P, N);
   Put_Line (Integer'Image (I) & Float'Image (F) & B'Image & Ch & Co'Image & Sm'Image & Mo'Image & V (1)'Image & Bc (Red)'Image & M (1, 1)'Image & Sh.Name & Sq.Name & Pa.X'Image & T.A'Image & D'Image & Fx'Image);
end Values;
