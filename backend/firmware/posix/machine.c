#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { COMMAND_MS = 2000, LOOK_MS = 10 };

static bool write_file(const char *path, bool on)
{
    /* O_NONBLOCK: opening a pipe without a reader fails instead of blocking. */
    int file = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0644);
    bool good;
    if (file < 0)
        return false;
    good = write(file, on ? "1\n" : "0\n", 2) == 2;
    return close(file) == 0 && good;
}

static bool run(const char *command, const char *variable, bool on)
{
    int status = -1, waited;
    pid_t self = getpid(), child = fork();
    if (child < 0)
        return false;
    if (child == 0) {
        setpgid(0, 0);
#ifdef __linux__
        /* The command must end with this program: later it would switch the relay without control. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self)
            _exit(1);
#endif
        setenv(variable, on ? "1" : "0", 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    setpgid(child, child);
    for (waited = 0; waited < COMMAND_MS; waited += LOOK_MS) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (ended < 0 && errno != EINTR)
            return false;
        poll(NULL, 0, LOOK_MS);
    }
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return false;
}

bool machine_switch(const char *file, const char *command, const char *variable, bool on)
{
    return file ? write_file(file, on) : run(command, variable, on);
}

bool contact_changed(struct contact *c, uint64_t up_ms)
{
    char first = '0';
    bool closed;
    int file;
    if (!c->file)
        return false;
    file = open(c->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, &first, 1) != 1)
            first = '0';
        close(file);
    }
    closed = first == '1';
    if (closed != c->seen) {
        c->seen = closed;
        c->since_ms = up_ms;
    }
    if (closed == c->closed || up_ms - c->since_ms < c->stable_ms)
        return false;
    c->closed = closed;
    return true;
}
