/* Non-blocking connection to the server, with TLS where it was built in. The caller polls its file descriptor. */
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
    /* Events that poll(2) waits for on fd. */
    short wants;
    /* Child process that looks up the addresses of a host name. */
    pid_t finder;
    struct link_address address[LINK_ADDRESSES];
    size_t addresses, next;
    struct link_tls *tls;
    const char *host;
};

/* Call before the first connection. `ca`: PEM, or empty for no TLS. False: TLS cannot be set up. */
bool link_init(struct link *link, const char *ca);
/* Starts to connect. False: it failed, and the connection is closed. The host's name is not copied. */
bool link_begin(struct link *link, const char *host, uint16_t port);
/* Takes the next step once poll reports an event. False: the connection failed and is closed. */
bool link_go_on(struct link *link);
/* Reads or writes on an open connection. Returns the number of bytes; 0: would block, -1: the connection is over. */
ssize_t link_read(struct link *link, void *to, size_t n);
ssize_t link_write(struct link *link, const void *from, size_t n);
void link_close(struct link *link);

#endif
