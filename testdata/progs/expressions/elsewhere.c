struct hidden { int inside; struct hidden *self; };
static struct hidden one = {314, &one};
struct hidden *secret = &one;
int far_away = 2718;
static int unseen = 55;
enum elsewhere { NORTH = 3, SOUTH };
enum elsewhere way = SOUTH;
const char *const names[] = {"one", "two", 0};
int use(void) { return unseen + way; }
