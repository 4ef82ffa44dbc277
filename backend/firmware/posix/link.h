/* A connection to the server, with TLS where it was built in. It never waits: who has it polls its file. */
#ifndef NYALA_LINK_H
#define NYALA_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { LINK_ADDRESSES = 4 };

enum link_state { LINK_CLOSED, LINK_FINDING, LINK_CONNECTING, LINK_SHAKING_HANDS, LINK_OPEN };

struct link_address {
    socklen_t n;
    struct sockaddr_storage is;
};

struct link {
    enum link_state state;
    int fd;
    /* poll(2)'s, for fd. */
    short wants;
    /* Who asks for the addresses of a name. */
    pid_t finder;
    struct link_address address[LINK_ADDRESSES];
    size_t addresses, next;
    struct link_tls *tls;
    const char *host;
};

/* Before the first connection. `ca`: PEM, or empty for no TLS. False: it cannot be done. */
bool link_init(struct link *link, const char *ca);
/* False: it cannot be begun, and is closed. The host's name is not copied. */
bool link_begin(struct link *link, const char *host, uint16_t port);
/* Goes on with it when poll says so; false: it is over, and closed. */
bool link_go_on(struct link *link);
/* Of an open one: how much was read or written, 0: nothing now, -1: it is over. */
ssize_t link_read(struct link *link, void *to, size_t n);
ssize_t link_write(struct link *link, const void *from, size_t n);
void link_close(struct link *link);

#endif
