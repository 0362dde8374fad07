import java.util.Arrays;

/** Calls that run interpreted, compiled, and in and out of the virtual machine. */
public class Spin {
    static int deep(int n, int[] a) {
        if (n > 0) {
            return deep(n - 1, a) + 1;
        }
        Arrays.sort(a.clone());
        Integer[] boxed = Arrays.stream(a).boxed().toArray(Integer[]::new);
        Arrays.sort(boxed, (x, y) -> Integer.compare(y, x));
        return boxed[0];
    }

    public static void main(String[] args) throws Exception {
        int[] a = new int[2000];
        for (int i = 0; i < a.length; i++) {
            a[i] = (int) (i * 2654435761L);
        }
        for (long sum = 0;; sum++) {
            sum += deep((int) (sum & 31), a);
        }
    }
}
