struct pair { double x; long n; };

int c_is_waiting(void);
void c_waits(void);
