/* TLS by mbedTLS, where it was built in (make TLS=1). */
#ifndef NYALA_TLS_H
#define NYALA_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct link_tls;

/* NULL: it cannot be, and a line on standard error says why. */
struct link_tls *tls_new(const char *ca);
/* On a socket that is connected; the server's certificate has to be the host's. */
bool tls_begin(struct link_tls *tls, const char *host, int *fd);
/* 1: done, 0: when poll says so it goes on, -1: it is over, and a line says why. */
int tls_shake_hands(struct link_tls *tls, short *wants);
/* As link_read and link_write. */
ssize_t tls_read(struct link_tls *tls, void *to, size_t n);
ssize_t tls_write(struct link_tls *tls, const void *from, size_t n);

#endif
