#include "pulses.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "machine.h"

/* No file descriptor of this program is higher. */
enum { FILES = 256 };

static volatile sig_atomic_t ended;

static void on_signal(int signal)
{
    (void)signal;
    ended = 1;
}

static bool close_contact(const struct pulses *p, bool closed)
{
    return machine_switch(p->file, p->command, "NYALA_PULSE", closed);
}

static void wait_until(const struct timespec *at)
{
    for (;;) {
        struct timespec now, rest;
        clock_gettime(CLOCK_MONOTONIC, &now);
        rest.tv_sec = at->tv_sec - now.tv_sec;
        rest.tv_nsec = at->tv_nsec - now.tv_nsec;
        if (rest.tv_nsec < 0) {
            rest.tv_nsec += 1000000000;
            rest.tv_sec--;
        }
        if (ended || rest.tv_sec < 0 || (nanosleep(&rest, NULL) != 0 && errno != EINTR))
            return;
    }
}

static void later(struct timespec *at, uint32_t ms)
{
    at->tv_sec += ms / 1000;
    at->tv_nsec += (long)(ms % 1000) * 1000000;
    if (at->tv_nsec >= 1000000000) {
        at->tv_nsec -= 1000000000;
        at->tv_sec++;
    }
}

/* Each pulse begins where the gap before it ended, so that no delay adds up. */
static bool send_all(const struct pulses *p, pid_t parent, uint32_t n, uint32_t width_ms, uint32_t gap_ms)
{
    struct timespec at;
    bool good = true;
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (; n > 0 && good; n--) {
        /* Without its parent, the journal would never know of it. */
        if (ended || getppid() != parent)
            return false;
        good = close_contact(p, true);
        later(&at, width_ms);
        wait_until(&at);
        good = close_contact(p, false) && good;
        later(&at, gap_ms);
        wait_until(&at);
    }
    return good && !ended;
}

void pulses_init(struct pulses *p)
{
    p->fd = -1;
    if (p->file || p->command)
        close_contact(p, false);
}

bool pulses_begin(struct pulses *p, uint32_t n, uint32_t width_ms, uint32_t gap_ms)
{
    int ends[2], file;
    pid_t parent = getpid();
    if (!close_contact(p, false) || pipe(ends) != 0)
        return false;
    p->child = fork();
    if (p->child == 0) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        sigaction(SIGUSR1, &action, NULL);
        /* A service manager signals all processes of the program, but the parent waits for the pulses. */
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGUSR1);
#endif
        /* The connection must end when the parent closes it. */
        for (file = STDERR_FILENO + 1; file < FILES; file++)
            if (file != ends[1])
                close(file);
        _exit(send_all(p, parent, n, width_ms, gap_ms) && write(ends[1], "1", 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    if (p->child < 0) {
        close(ends[0]);
        return false;
    }
    p->fd = ends[0];
    return true;
}

bool pulses_end(struct pulses *p)
{
    char all;
    bool good = read(p->fd, &all, 1) == 1;
    close(p->fd);
    p->fd = -1;
    while (waitpid(p->child, NULL, 0) < 0 && errno == EINTR)
        ;
    return good;
}
