/* Device program for Linux: the core with a socket, a file as flash, and a relay that is a file or a command. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../core/line.h"
#include "flash.h"
#include "link.h"
#include "machine.h"
#include "options.h"
#include "pulses.h"

#define VERSION "2"

/* CONTACTS_MS, COIN_MS: how often the contacts and the coin input are read. COIN_STABLE_MS: how long a coin must last at least, which
 * bounces do not. FAREWELL_MS: how long the last message may take. */
enum { CONTACTS_MS = 50, COIN_MS = 5, COIN_STABLE_MS = 10, FAREWELL_MS = 200 };
/* Limit of reading in one turn of the loop. It is more than TLS buffers. */
enum { READ_BYTES = 512, READS = 64 };

static struct options options;
static struct flash flash;
static struct link link_;
static struct nyala_line line;
static struct contact running, fault, sense, coin;
static struct pulses pulses;
static int signals[2];
static volatile sig_atomic_t ending;
/* Received bytes that the core has not consumed: it first has to send the answers to earlier ones. */
static uint8_t in[READ_BYTES];
static size_t in_n;

static void on_signal(int signal)
{
    (void)signal;
    ending = 1;
    /* The pipe also wakes a poll that has not begun yet. */
    if (write(signals[1], "", 1) < 0)
        return;
}

/* Uptime, including the time in which the computer sleeps where the system counts it: the machine does not sleep. */
static uint64_t uptime_ms(void)
{
#ifdef CLOCK_BOOTTIME
    const clockid_t clock = CLOCK_BOOTTIME;
#else
    const clockid_t clock = CLOCK_MONOTONIC;
#endif
    static uint64_t begun;
    struct timespec t;
    uint64_t ms;
    clock_gettime(clock, &t);
    ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    if (!begun)
        begun = ms;
    return ms - begun;
}

static void tell(const char *what)
{
    fprintf(stderr, "nyala-device: %s\n", what);
}

static bool save(void *ctx, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES])
{
    bool good = flash_save(&flash, slot, record);
    (void)ctx;
    if (!good)
        fprintf(stderr, "nyala-device: %s: %s; nothing starts until it can be written\n", options.journal, strerror(errno));
    return good;
}

static bool relay(void *ctx, bool on)
{
    bool none = !options.relay && !options.relay_command;
    bool good = none ? !on : machine_switch(options.relay, options.relay_command, "NYALA_RELAY", on);
    (void)ctx;
    if (none)
        return good;
    fprintf(stderr, "nyala-device: relay %s%s\n", on ? "on" : "off", good ? "" : ": failed");
    return good;
}

static bool pulse(void *ctx, uint32_t n, uint32_t width_ms, uint32_t gap_ms)
{
    bool good = pulses_begin(&pulses, n, width_ms, gap_ms);
    (void)ctx;
    fprintf(stderr, "nyala-device: pulses: %u%s\n", (unsigned)n, good ? "" : ": failed");
    return good;
}

static const char *why(enum nyala_line_end end)
{
    switch (end) {
    case NYALA_END_REFUSED: return "the server refuses the login";
    case NYALA_END_DENIED: return "the server refuses the subscription to cmd";
    case NYALA_END_VIOLATION: return "the server does not speak MQTT 3.1.1";
    case NYALA_END_SILENT: return "the server is silent";
    case NYALA_END_FULL: return "the server takes nothing";
    default: return "the connection is closed";
    }
}

static void closed(void)
{
    uint64_t now = uptime_ms();
    link_close(&link_);
    nyala_line_closed(&line, now);
    fprintf(stderr, "nyala-device: %s; the next try is in %.1f s\n", why(line.end), (double)(line.open_ms - now) / 1000);
}

/* Does what the core asks for, until it asks for nothing. */
static void obey(void)
{
    enum nyala_line_want want;
    while ((want = nyala_line_tick(&line, uptime_ms())) != NYALA_WANT_NOTHING) {
        if (want == NYALA_WANT_CLOSE || !link_begin(&link_, options.host, options.port))
            closed();
    }
}

/* Reads and writes on the connection; false: it is over. */
static bool serve(void)
{
    int reads;
    if (link_.state != LINK_OPEN) {
        in_n = 0;
        if (!link_go_on(&link_))
            return false;
        if (link_.state != LINK_OPEN)
            return true;
        nyala_line_opened(&line, uptime_ms());
    }
    /* READS is a limit, so that a server that sends a lot cannot delay turning the machine off. */
    for (reads = 0; reads < READS; reads++) {
        enum nyala_line_state state = line.state;
        size_t taken;
        ssize_t n;
        while (line.mqtt.out_n > 0) {
            n = link_write(&link_, line.mqtt.out, line.mqtt.out_n);
            if (n < 0)
                return false;
            if (n == 0)
                break;
            nyala_mqtt_sent(&line.mqtt, (size_t)n);
        }
        if (in_n == 0) {
            n = link_read(&link_, in, sizeof in);
            if (n <= 0)
                return n == 0;
            in_n = (size_t)n;
        }
        taken = nyala_line_take(&line, in, in_n, uptime_ms());
        in_n -= taken;
        memmove(in, in + taken, in_n);
        if (line.state == NYALA_UP && state != NYALA_UP)
            tell("connected");
        if (taken == 0)
            break;
    }
    return true;
}

static short wanted(void)
{
    if (link_.state != LINK_OPEN)
        return link_.wants;
    return (short)((in_n == 0 ? POLLIN : 0) | (line.mqtt.out_n > 0 ? POLLOUT : 0));
}

static void look(void)
{
    uint64_t now = uptime_ms();
    if (contact_changed(&running, now))
        nyala_device_contact(&line.device, running.closed, now);
    if (contact_changed(&fault, now))
        nyala_device_fault(&line.device, fault.closed, now);
    if (contact_changed(&sense, now))
        nyala_device_sense(&line.device, sense.closed, now);
    if (contact_changed(&coin, now) && coin.closed)
        nyala_device_coin(&line.device, now);
}

static int wait_ms(void)
{
    uint64_t now = uptime_ms(), wake = nyala_line_wake(&line);
    uint64_t ms = wake > now ? wake - now : 0;
    uint64_t most = coin.file ? COIN_MS : running.file || fault.file || sense.file ? CONTACTS_MS : 60000;
    return (int)(ms < most ? ms : most);
}

/* Sends the last message, as far as the connection takes it without blocking. */
static void farewell(void)
{
    struct pollfd gone;
    nyala_line_end(&line, uptime_ms());
    if (link_.state != LINK_OPEN)
        return;
    while (line.mqtt.out_n > 0) {
        ssize_t n = link_write(&link_, line.mqtt.out, line.mqtt.out_n);
        if (n <= 0)
            break;
        nyala_mqtt_sent(&line.mqtt, (size_t)n);
    }
    /* Closing with unread bytes would reset the connection and lose the message. No DISCONNECT: the will reports the same. */
    shutdown(link_.fd, SHUT_WR);
    gone.fd = link_.fd;
    gone.events = POLLIN;
    poll(&gone, 1, FAREWELL_MS);
    link_close(&link_);
}

int main(int argc, char **argv)
{
    struct nyala_board board = {NULL, save, relay, NULL, NULL};
    struct nyala_setup setup = {0, 0, "nyala-device " VERSION, "posix", NULL, false, false};
    struct sigaction action;
    uint32_t random[2];
    FILE *source;
    options_read(&options, argc, argv);
    source = fopen("/dev/urandom", "re");
    if (!source || fread(random, sizeof *random, 2, source) != 2 || pipe(signals) != 0) {
        perror("nyala-device");
        return 1;
    }
    fclose(source);
    fcntl(signals[0], F_SETFD, FD_CLOEXEC);
    fcntl(signals[1], F_SETFD, FD_CLOEXEC);
    if (!flash_open(&flash, options.journal)) {
        bool taken = errno == EAGAIN || errno == EACCES;
        fprintf(stderr, "nyala-device: %s: %s\n", options.journal, taken ? "another process has it, or it is forbidden" : strerror(errno));
        return 1;
    }
    if (!link_init(&link_, options.ca))
        return 1;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    running.file = options.running_contact;
    fault.file = options.fault;
    sense.file = options.sense;
    running.stable_ms = fault.stable_ms = sense.stable_ms = CONTACTS_MS;
    coin.file = options.coin;
    coin.stable_ms = COIN_STABLE_MS;
    pulses.file = options.pulse;
    pulses.command = options.pulse_command;
    pulses_init(&pulses);
    if (pulses.file || pulses.command)
        board.pulse = pulse;
    setup.sense = sense.file;
    setup.coin = coin.file;
    setup.boot_id = random[0];
    setup.contact_ms = options.contact_ms;
    nyala_line_boot(&line, &options.login, &board, &setup, flash.there[0] ? flash.record[0] : NULL, flash.there[1] ? flash.record[1] : NULL,
                    random[1], uptime_ms());
    if ((flash.there[0] || flash.there[1]) && line.device.journal.number == 0)
        fprintf(stderr, "nyala-device: %s holds no journal; what was known is forgotten\n", options.journal);
    /* Pulses that were begun are sent to their end: stopped ones would be refused although the machine has a part of them. */
    while (!ending || pulses.fd >= 0) {
        struct pollfd files[3];
        nfds_t n = 2;
        look();
        obey();
        /* A negative one is ignored. */
        files[0].fd = ending ? -1 : signals[0];
        files[0].events = POLLIN;
        files[1].fd = pulses.fd;
        files[1].events = POLLIN;
        files[1].revents = 0;
        if (link_.state != LINK_CLOSED) {
            files[n].fd = link_.fd;
            files[n++].events = wanted();
        }
        if (poll(files, n, wait_ms()) < 0 && errno != EINTR) {
            perror("nyala-device: poll");
            break;
        }
        if (files[1].revents) {
            if (!pulses_end(&pulses)) {
                tell("the coin contact failed in the pulses; their command is refused at the next start");
                return 1;
            }
            nyala_device_pulsed(&line.device, uptime_ms());
        }
        if (link_.state != LINK_CLOSED && n > 2 && (files[2].revents || link_.state == LINK_OPEN) && !serve())
            closed();
    }
    farewell();
    return 0;
}
