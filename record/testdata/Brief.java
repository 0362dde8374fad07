/** A class that is made again and again. */
public class Brief {
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    public static Object run() {
        int sum = 0;
        for (int i = 0; i < 2000; i++) {
            sum += fib(10);
        }
        return sum;
    }
}
