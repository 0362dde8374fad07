/** Objects that a collector of garbage moves all the time. */
public class Moves {
    static class Pair {
        final int number;
        final String text;
        final int twice;

        Pair(int number) {
            this.number = number;
            text = "is " + number;
            twice = number * 2;
        }
    }

    static volatile Object sink;

    static int down(Pair outer, int depth) {
        Pair own = new Pair(depth);
        if (depth > 0) {
            return down(own, depth - 1) + own.number + outer.twice;
        }
        for (int i = 0; i < 100000; i++) {
            sink = new Pair(i);
        }
        return own.number + outer.twice;
    }

    public static void main(String[] args) {
        System.out.println("ready");
        System.out.flush();
        for (long sum = 0; sum >= 0;) {
            sum += down(new Pair(1000), 50) & 1;
        }
    }
}
