#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tls.h"

bool link_init(struct link *l, const char *ca)
{
    memset(l, 0, sizeof *l);
    l->fd = -1;
    if (*ca)
        l->tls = tls_new(ca);
    return !*ca || l->tls;
}

static size_t find(const char *host, uint16_t port, int flags, struct link_address *to)
{
    struct addrinfo hints, *all, *one;
    char service[8];
    size_t n = 0;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    snprintf(service, sizeof service, "%u", (unsigned)port);
    if (getaddrinfo(host, service, &hints, &all) != 0)
        return 0;
    for (one = all; one && n < LINK_ADDRESSES; one = one->ai_next) {
        if (one->ai_addrlen > sizeof to[n].is)
            continue;
        memcpy(&to[n].is, one->ai_addr, one->ai_addrlen);
        to[n++].n = one->ai_addrlen;
    }
    freeaddrinfo(all);
    return n;
}

/* Looks up the host name in a child process. A lookup may take half a minute, and this process must be able to turn the
 * machine off in that time. */
static bool begin_finding(struct link *l, uint16_t port)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    l->finder = fork();
    if (l->finder == 0) {
        size_t n = find(l->host, port, AI_ADDRCONFIG, l->address) * sizeof *l->address;
        _exit(write(ends[1], l->address, n) == (ssize_t)n ? 0 : 1);
    }
    close(ends[1]);
    if (l->finder < 0) {
        close(ends[0]);
        return false;
    }
    l->state = LINK_FINDING;
    l->fd = ends[0];
    l->wants = POLLIN;
    return true;
}

static void end_finding(struct link *l)
{
    if (l->finder > 0) {
        kill(l->finder, SIGKILL);
        while (waitpid(l->finder, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    l->finder = 0;
}

/* Tries the next addresses until one connection attempt starts. */
static bool begin_connecting(struct link *l)
{
    while (l->next < l->addresses) {
        const struct link_address *to = &l->address[l->next++];
        int fd = socket(to->is.ss_family, SOCK_STREAM, 0), one = 1;
        if (fd < 0)
            continue;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && (connect(fd, (const struct sockaddr *)&to->is, to->n) == 0 || errno == EINPROGRESS)) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            l->state = LINK_CONNECTING;
            l->fd = fd;
            l->wants = POLLOUT;
            return true;
        }
        close(fd);
    }
    return false;
}

bool link_begin(struct link *l, const char *host, uint16_t port)
{
    bool begun;
    l->host = host;
    l->next = 0;
    l->addresses = find(host, port, AI_NUMERICHOST, l->address);
    begun = l->addresses ? begin_connecting(l) : begin_finding(l, port);
    if (!begun)
        link_close(l);
    return begun;
}

static bool found(struct link *l)
{
    /* The addresses are smaller than a pipe's buffer, so one read gets all of them. */
    ssize_t n = read(l->fd, l->address, sizeof l->address);
    close(l->fd);
    l->fd = -1;
    end_finding(l);
    l->addresses = n > 0 ? (size_t)n / sizeof *l->address : 0;
    return begin_connecting(l);
}

static bool connected(struct link *l)
{
    int error = 0;
    socklen_t n = sizeof error;
    if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error == 0) {
        l->state = l->tls ? LINK_SHAKING_HANDS : LINK_OPEN;
        l->wants = POLLIN;
        return !l->tls || (tls_begin(l->tls, l->host, &l->fd) && link_go_on(l));
    }
    close(l->fd);
    l->fd = -1;
    return begin_connecting(l);
}

bool link_go_on(struct link *l)
{
    bool goes_on = true;
    if (l->state == LINK_FINDING) {
        goes_on = found(l);
    } else if (l->state == LINK_CONNECTING) {
        goes_on = connected(l);
    } else if (l->state == LINK_SHAKING_HANDS) {
        int done = tls_shake_hands(l->tls, &l->wants);
        goes_on = done >= 0;
        if (done > 0)
            l->state = LINK_OPEN;
    }
    if (!goes_on)
        link_close(l);
    return goes_on;
}

ssize_t link_read(struct link *l, void *to, size_t n)
{
    ssize_t got;
    if (l->tls)
        return tls_read(l->tls, to, n);
    got = recv(l->fd, to, n, 0);
    if (got > 0)
        return got;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : -1;
}

ssize_t link_write(struct link *l, const void *from, size_t n)
{
    ssize_t put;
    if (l->tls)
        return tls_write(l->tls, from, n);
    put = send(l->fd, from, n, MSG_NOSIGNAL);
    if (put >= 0)
        return put;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

void link_close(struct link *l)
{
    end_finding(l);
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    l->state = LINK_CLOSED;
}
