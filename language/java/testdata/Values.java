import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.Collectors;

/**
 * Variables of all kinds in frames that wait. What they are is printed first, as "name value" with
 * Java's own words for them. The argument says how often the method runs before it waits.
 */
public class Values {
    enum Color { RED, GREEN { int more() { return 1; } } }

    static class Base {
        protected int number = 7;
    }

    static class Account extends Base {
        static int count = 9;
        final String owner;
        boolean open = true;
        Account next;

        Account(String owner) { this.owner = owner; }
    }

    static class Point {
        final int x;
        final Point next;

        Point(int x, Point next) {
            this.x = x;
            this.next = next;
        }
    }

    static final Map<String, String> wanted = new LinkedHashMap<>();
    static volatile boolean waits;
    static volatile Object sink;

    static void say(String name, String value) {
        if (waits) {
            wanted.put(name, value);
        }
    }

    static void end() {
        if (!waits) {
            return;
        }
        System.out.println("ready");
        wanted.forEach((name, value) -> System.out.println(name + " " + value));
        System.out.println("end");
        System.out.flush();
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    static long numbers(boolean flag, byte b, char c, short s, int i, long l, float f, double d, int[] none) {
        say("flag", "" + flag);
        say("b", "" + b);
        say("c", "'" + c + "'");
        say("s", "" + s);
        say("i", "" + i);
        say("l", "" + l);
        say("f", "" + f);
        say("d", "" + d);
        say("none", "null");
        long sum = l + i;
        double half = d / 2;
        say("half", "" + half);
        {
            int block = 3;
            sum += block;
        }
        say("sum", "" + sum);
        String text = "in a block's slot";
        say("text", '"' + text + '"');
        objects(new Account("Ada"), "text", 5);
        return sum + (long) half + text.length() + (flag ? b : s) + c + i + l + (long) f + (long) d + (none == null ? 0 : 1);
    }

    static int objects(Account account, String latin, Integer boxed) {
        String wide = "\u5bff \ud83d\ude00 \"quoted\"\n";
        String empty = "";
        int[] ints = {1, -2, 3};
        byte[] bytes = new byte[12];
        boolean[] booleans = {true, false};
        char[] chars = {'a', '\''};
        long[][] longs = {{1, Long.MIN_VALUE}, null};
        double[] doubles = {0.1, 1e10, 1e-5, Double.NaN};
        String[] strings = {"a", null};
        Object[] objects = {1, "b", 'c', 2.5f};
        Color color = Color.RED, body = Color.GREEN;
        Class<?> type = String.class, array = int[].class;
        Long big = 1L << 40;
        Boolean truth = true;
        Throwable problem = new IllegalStateException("no such key");
        List<Object> list = new ArrayList<>(Arrays.asList(1, 2, null));
        List<Object> fixed = Arrays.asList(1, 2);
        List<Integer> linked = new LinkedList<>(fixed.stream().map(x -> (Integer) x).collect(Collectors.toList()));
        Map<Object, Object> map = new HashMap<>(), ordered = new LinkedHashMap<>(), sorted = new TreeMap<>(), shared = new ConcurrentHashMap<>();
        for (Map<Object, Object> m : List.of(map, ordered, sorted, shared)) {
            m.put(3, 4);
            m.put(1, 2);
        }
        Set<Object> set = new HashSet<>(List.of(8, 9));
        List<Integer> one = List.of(1), three = List.of(1, 2, 3);
        AtomicInteger atomic = new AtomicInteger(6);
        Optional<String> optional = Optional.of("x");
        say("latin", "\"text\"");
        say("boxed", "5");
        say("wide", "\"\u5bff \ud83d\ude00 \\\"quoted\\\"\\n\"");
        say("empty", "\"\"");
        say("ints", "int[3] { 1, -2, 3 }");
        say("bytes", "byte[12] { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ... }");
        say("booleans", "boolean[2] { true, false }");
        say("chars", "char[2] { 'a', '\\'' }");
        say("longs", "long[2][] { long[2] { 1, " + Long.MIN_VALUE + " }, null }");
        say("doubles", "double[4] { 0.1, 1.0E10, 1.0E-5, NaN }");
        say("strings", "String[2] { \"a\", null }");
        say("objects", "Object[4] { 1, \"b\", 'c', 2.5 }");
        say("color", "Color." + color);
        say("body", "Color." + body);
        say("type", "java.lang.String.class");
        say("array", "int[].class");
        say("big", "" + big);
        say("truth", "" + truth);
        say("problem", "" + problem);
        say("list", "" + list);
        say("fixed", "" + fixed);
        say("linked", "" + linked);
        say("map", "" + map);
        say("ordered", "" + ordered);
        say("sorted", "" + sorted);
        say("shared", "" + shared);
        say("set", "" + set);
        say("one", "" + one);
        say("three", "" + three);
        say("atomic", "" + atomic);
        say("optional", "Optional[\"x\"]");
        say("account", "Values$Account@* {number=7, owner=\"Ada\", open=true, next=null}");
        Values v = new Values();
        v.method(account, 4);
        Object[] all = {wide, empty, ints, bytes, booleans, chars, longs, doubles, strings, objects, color, body, type, array, big, truth,
            problem, list, fixed, linked, map, ordered, sorted, shared, set, one, three, atomic, optional, account, latin, boxed, v};
        sink = all;
        return all.length;
    }

    int field = 11;

    int method(Account a, int n) {
        say("this", "Values@* {field=11}");
        int local = n * 2;
        say("n", "" + n);
        say("local", "" + local);
        Point apart = new Point(n, new Point(3, null)); // a compiler needs no such object
        Integer number = n + 1000;
        say("apart", "Values$Point@* {x=4, next=Values$Point@*...}");
        say("number", "1004");
        say("a", "Values$Account@* {number=7, owner=\"Ada\", open=true, next=null}");
        end();
        return field + local + n + (a == null ? 0 : 1) + apart.x + apart.next.x + number;
    }

    public static void main(String[] args) {
        int times = Integer.parseInt(args[0]);
        for (int n = 0; n <= times; n++) {
            waits = n == times;
            sink = numbers(true, (byte) -1, '\u00e6', (short) -2, 1 << 30, 1L << 50, 1.5f, 1e100, null);
        }
    }
}
