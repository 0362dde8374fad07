/* server PORT: a web server that is slow, for docs/recording.md.

   GET /invoice?number=N   an invoice of 200 lines, with its sum

   Built with -DSORTED, it is not slow. */
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ARTICLES = 30000, LINES = 200, THREADS = 4 };

struct article {
	char name[24];
	long cents;
};

static struct article catalogue[ARTICLES]; /* by name */

static int by_name(const void *name, const void *article)
{
	return strcmp(name, ((const struct article *)article)->name);
}

static const struct article *find_article(const char *name)
{
#ifdef SORTED
	return bsearch(name, catalogue, ARTICLES, sizeof catalogue[0], by_name);
#else
	for (int i = 0; i < ARTICLES; i++)
		if (by_name(name, &catalogue[i]) == 0)
			return &catalogue[i];
	return NULL;
#endif
}

static long add_line(FILE *to, unsigned number)
{
	char name[24];
	snprintf(name, sizeof name, "article %05u", number % ARTICLES);
	const struct article *a = find_article(name);
	fprintf(to, "%-20s %6ld.%02ld\n", a->name, a->cents / 100, a->cents % 100);
	return a->cents;
}

static void write_invoice(FILE *to, unsigned number)
{
	long sum = 0;
	for (unsigned i = 0; i < LINES; i++)
		sum += add_line(to, number * 7919 + i * 104729);
	fprintf(to, "%-20s %6ld.%02ld\n", "sum", sum / 100, sum % 100);
}

static void answer(int connection)
{
	FILE *c = fdopen(connection, "r+");
	char line[1000];
	unsigned number;
	if (!c) {
		close(connection);
		return;
	}
	if (fgets(line, sizeof line, c)) {
		int known = sscanf(line, "GET /invoice?number=%u", &number) == 1;
		while (fgets(line, sizeof line, c) && strcmp(line, "\r\n") != 0)
			;
		fseek(c, 0, SEEK_CUR); /* from reading to writing */
		fprintf(c, "HTTP/1.0 %s\r\nContent-Type: text/plain\r\n\r\n", known ? "200 OK" : "404 Not Found");
		if (known)
			write_invoice(c, number);
	}
	fclose(c);
}

static void *work(void *listener)
{
	for (;;) {
		int connection = accept(*(int *)listener, NULL, NULL);
		if (connection >= 0)
			answer(connection);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < ARTICLES; i++) {
		snprintf(catalogue[i].name, sizeof catalogue[i].name, "article %05d", i);
		catalogue[i].cents = 100 + i * 37 % 9000;
	}
	signal(SIGPIPE, SIG_IGN);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(argc > 1 ? atoi(argv[1]) : 0)};
	socklen_t size = sizeof at;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (bind(listener, (struct sockaddr *)&at, size) || listen(listener, 128) || getsockname(listener, (struct sockaddr *)&at, &size)) {
		perror("server");
		return 1;
	}
	printf("http://127.0.0.1:%d/invoice?number=1\n", ntohs(at.sin_port));
	fflush(stdout);
	pthread_t thread;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, &listener))
			return 1;
	pthread_join(thread, NULL);
}
