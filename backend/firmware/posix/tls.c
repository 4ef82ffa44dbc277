#include "tls.h"

#include <stdio.h>

#ifndef NYALA_TLS

struct link_tls *tls_new(const char *ca)
{
    (void)ca;
    fputs("nyala-device: the login has a `ca`, and this program was built without TLS: make TLS=1\n", stderr);
    return NULL;
}

bool tls_begin(struct link_tls *tls, const char *host, int *fd)
{
    (void)tls, (void)host, (void)fd;
    return false;
}

int tls_shake_hands(struct link_tls *tls, short *wants)
{
    (void)tls, (void)wants;
    return -1;
}

ssize_t tls_read(struct link_tls *tls, void *to, size_t n)
{
    (void)tls, (void)to, (void)n;
    return -1;
}

ssize_t tls_write(struct link_tls *tls, const void *from, size_t n)
{
    (void)tls, (void)from, (void)n;
    return -1;
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/oid.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

struct link_tls {
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
    mbedtls_x509_crt ca;
    mbedtls_ssl_config config;
    mbedtls_ssl_context ssl;
    /* A write that was not done has to be tried again as it was. */
    size_t unsent;
    const char *host;
};

static void tell(const char *what, int error)
{
    char why[128];
    mbedtls_strerror(error, why, sizeof why);
    fprintf(stderr, "nyala-device: %s: %s\n", what, why);
}

static bool is_address(const char *host)
{
    struct in6_addr address;
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* mbedTLS 2.28 knows names only: a certificate for an address has it as its common name, too. */
static int check_address(void *ctx, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
    const struct link_tls *t = ctx;
    const mbedtls_x509_name *part;
    if (depth > 0 || !is_address(t->host))
        return 0;
    for (part = &certificate->subject; part; part = part->next)
        if (MBEDTLS_OID_CMP(MBEDTLS_OID_AT_CN, &part->oid) == 0 && part->val.len == strlen(t->host)
            && memcmp(part->val.p, t->host, part->val.len) == 0)
            *flags &= ~(uint32_t)MBEDTLS_X509_BADCERT_CN_MISMATCH;
    return 0;
}

struct link_tls *tls_new(const char *ca)
{
    static struct link_tls t;
    int error;
    mbedtls_entropy_init(&t.entropy);
    mbedtls_ctr_drbg_init(&t.random);
    mbedtls_x509_crt_init(&t.ca);
    mbedtls_ssl_config_init(&t.config);
    mbedtls_ssl_init(&t.ssl);
    error = mbedtls_ctr_drbg_seed(&t.random, mbedtls_entropy_func, &t.entropy, NULL, 0);
    if (error == 0)
        error = mbedtls_x509_crt_parse(&t.ca, (const unsigned char *)ca, strlen(ca) + 1);
    if (error == 0)
        error = mbedtls_ssl_config_defaults(&t.config, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
    if (error == 0) {
        mbedtls_ssl_conf_min_version(&t.config, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
        mbedtls_ssl_conf_authmode(&t.config, MBEDTLS_SSL_VERIFY_REQUIRED);
        mbedtls_ssl_conf_verify(&t.config, check_address, &t);
        mbedtls_ssl_conf_ca_chain(&t.config, &t.ca, NULL);
        mbedtls_ssl_conf_rng(&t.config, mbedtls_ctr_drbg_random, &t.random);
        error = mbedtls_ssl_setup(&t.ssl, &t.config);
    }
    if (error != 0) {
        tell("TLS", error);
        return NULL;
    }
    return &t;
}

static int send_some(void *ctx, const unsigned char *from, size_t n)
{
    ssize_t put = send(*(int *)ctx, from, n, MSG_NOSIGNAL);
    if (put >= 0)
        return (int)put;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_WRITE : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

static int receive_some(void *ctx, unsigned char *to, size_t n)
{
    ssize_t got = recv(*(int *)ctx, to, n, 0);
    if (got >= 0)
        return (int)got;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_READ : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

bool tls_begin(struct link_tls *t, const char *host, int *fd)
{
    int error = mbedtls_ssl_session_reset(&t->ssl);
    t->unsent = 0;
    t->host = host;
    if (error == 0)
        error = mbedtls_ssl_set_hostname(&t->ssl, host);
    mbedtls_ssl_set_bio(&t->ssl, fd, send_some, receive_some, NULL);
    if (error != 0)
        tell("TLS", error);
    return error == 0;
}

int tls_shake_hands(struct link_tls *t, short *wants)
{
    int error = mbedtls_ssl_handshake(&t->ssl);
    if (error == MBEDTLS_ERR_SSL_WANT_READ || error == MBEDTLS_ERR_SSL_WANT_WRITE) {
        *wants = error == MBEDTLS_ERR_SSL_WANT_READ ? POLLIN : POLLOUT;
        return 0;
    }
    if (error != 0)
        tell("the server's TLS", error);
    return error == 0 ? 1 : -1;
}

static ssize_t some(int n)
{
    if (n > 0)
        return n;
    return n == MBEDTLS_ERR_SSL_WANT_READ || n == MBEDTLS_ERR_SSL_WANT_WRITE ? 0 : -1;
}

ssize_t tls_read(struct link_tls *t, void *to, size_t n)
{
    return some(mbedtls_ssl_read(&t->ssl, to, n));
}

ssize_t tls_write(struct link_tls *t, const void *from, size_t n)
{
    int put;
    n = t->unsent ? t->unsent : n;
    put = mbedtls_ssl_write(&t->ssl, from, n);
    t->unsent = put > 0 ? 0 : n;
    return some(put);
}

#endif
