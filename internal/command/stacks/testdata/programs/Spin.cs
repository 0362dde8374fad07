using System;

class Spin {
	static int Deep(int n, int[] a) {
		if (n > 0) return Deep(n - 1, a) + 1;
		Array.Sort(a, (x, y) => y.CompareTo(x) ^ a.Length & 1);
		return a[0];
	}

	static void Main() {
		for (int n = 0;; n++) Deep(n & 31, new int[] { n, 3, 2, 1, n * 7, 5 });
	}
}
