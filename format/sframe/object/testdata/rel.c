/* Small functions, one section each, for relocatable objects. */
int callee(char *);
int leaf(int x) { return x + 1; }
int frame(void) { char b[24]; return callee(b) + 1; }
__attribute__((cold)) int saves(int n)
{
	char b[400];
	for (int i = 0; i < n; i++)
		n += callee(b) * i;
	return n;
}
