/* MQTT and the connection's states: a device against the bytes of a correct server, and of a wrong one. */
#include "../core/line.h"

#include <inttypes.h>
#include <string.h>

#include "check.h"

static struct nyala_line l;
static int relay_is;

static bool save(void *ctx, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES])
{
    (void)ctx, (void)slot, (void)record;
    return true;
}

static bool relay(void *ctx, bool on)
{
    (void)ctx;
    relay_is = on;
    return true;
}

static void boot(void)
{
    struct nyala_board board = {NULL, save, relay, NULL, NULL};
    struct nyala_setup setup = {5, 0, NULL, NULL, NULL, false, false};
    struct nyala_login login = {"7", "0123456789abcdef0123456789abcdef", 3, 7};
    nyala_line_boot(&l, &login, &board, &setup, NULL, NULL, 42, 0);
}

/* Takes all bytes that wait to be sent. */
static size_t sent(uint8_t *to)
{
    size_t n = l.mqtt.out_n;
    memcpy(to, l.mqtt.out, n);
    nyala_mqtt_sent(&l.mqtt, n);
    return n;
}

#define SENDS(bytes) \
    do { \
        uint8_t sent_[NYALA_MQTT_OUT_BYTES]; \
        size_t n_ = sent(sent_); \
        CHECK(n_ == sizeof(bytes) - 1 && memcmp(sent_, bytes, n_) == 0); \
    } while (0)

#define RECEIVES(bytes, up_ms) CHECK(nyala_line_take(&l, (const uint8_t *)(bytes), sizeof(bytes) - 1, up_ms) == sizeof(bytes) - 1)

static void open_line(uint64_t up_ms)
{
    CHECK(nyala_line_tick(&l, up_ms) == NYALA_WANT_OPEN);
    nyala_line_opened(&l, up_ms);
}

/* Connects, up to the first state report. */
static void up(uint64_t up_ms)
{
    uint8_t out[NYALA_MQTT_OUT_BYTES];
    open_line(up_ms);
    sent(out);
    RECEIVES("\x20\x02\x00\x00", up_ms);
    sent(out);
    RECEIVES("\x90\x03\x00\x01\x00", up_ms);
    CHECK(l.state == NYALA_UP);
    sent(out);
}

static void it_logs_in_subscribes_and_then_reports_its_state(void)
{
    uint8_t out[NYALA_MQTT_OUT_BYTES];
    size_t n;
    boot();
    open_line(0);
    SENDS("\x10\x73\x00\x04MQTT\x04\xe6\x00\x1e\x00\x07nyala-7\x00\x12nyala/v1/3/7/state"
          "\x00\x25{\"online\":false,\"boot_id\":5,\"conn\":1}\x00\x01"
          "7\x00\x20"
          "0123456789abcdef0123456789abcdef");
    RECEIVES("\x20\x02\x00", 10);
    CHECK(l.mqtt.out_n == 0);
    RECEIVES("\x00", 10);
    SENDS("\x82\x15\x00\x01\x00\x10nyala/v1/3/7/cmd\x00");
    RECEIVES("\x90\x03\x00\x01\x00", 20);
    n = sent(out);
    /* A state report is published retained; the server treats it as any other message. */
    CHECK(n > 40 && memcmp(out, "\x31\x6c\x00\x12nyala/v1/3/7/state{\"online\":true,", 37) == 0);
    CHECK(nyala_line_tick(&l, 30020) == NYALA_WANT_NOTHING);
    CHECK(sent(out) > 2);
    nyala_line_end(&l, 30100);
    SENDS("\x31\x39\x00\x12nyala/v1/3/7/state{\"online\":false,\"boot_id\":5,\"conn\":1}");
}

static bool begin_pulses(void *ctx, uint32_t n, uint32_t width_ms, uint32_t gap_ms)
{
    (void)ctx, (void)n, (void)width_ms, (void)gap_ms;
    return true;
}

/* With the longest names of an outlet and a machine, and with the largest of each number. */
static void the_longest_state_fits_into_a_packet(void)
{
    static const char version[] = "0123456789012345678901234567890123";
    struct nyala_board board = {NULL, save, relay, NULL, begin_pulses};
    struct nyala_setup setup = {UINT32_MAX, 0, version, version, "watchdog", true, true};
    struct nyala_login login = {"7", "0123456789abcdef0123456789abcdef", INT64_MAX, INT64_MAX};
    struct nyala_known *known = l.device.journal.known;
    uint8_t out[NYALA_MQTT_OUT_BYTES];
    uint64_t up_ms = NYALA_WHOLE_MAX;
    size_t n;
    nyala_line_boot(&l, &login, &board, &setup, NULL, NULL, 42, up_ms);
    l.device.conn = UINT32_MAX - 1;
    open_line(up_ms);
    sent(out);
    RECEIVES("\x20\x02\x00\x00", up_ms);
    sent(out);
    l.device.seq = UINT32_MAX - 1;
    l.device.journal.epoch = NYALA_WHOLE_MAX;
    l.device.coins = UINT32_MAX;
    l.device.running = 1;
    l.device.timed = true;
    l.device.ends_ms = up_ms + NYALA_LONGEST_RUN_S * UINT64_C(1000);
    l.device.journal.rest_ms = NYALA_LONGEST_RUN_S * 1000u;
    l.device.journal.tambah_s = NYALA_LONGEST_WAIT_S;
    known[0].result = NYALA_REFUSED;
    known[1].result = NYALA_CREDITED;
    RECEIVES("\x90\x03\x00\x01\x00", up_ms);
    n = sent(out);
    printf("   %zu bytes of %d\n", n, NYALA_PACKET_BYTES);
    CHECK(n > 500 && n <= NYALA_PACKET_BYTES && out[n - 1] == '}' && memcmp(out + n - 10, "watchdog\"}", 10) == 0);
    CHECK(l.end == NYALA_END_NONE);
}

static void a_message_in_any_pieces_is_received_and_acknowledged(void)
{
    /* QoS 1, packet 9. */
    static const char packet[] = "\x32\x77\x00\x10nyala/v1/3/7/cmd\x00\x09"
                                 "{\"cmd_id\":\"00000000-0000-0000-0000-000000000000\",\"op\":\"query\",\"epoch\":0,\"exp\":1,\"x\":\"123456789012\"}";
    size_t i;
    boot();
    up(0);
    for (i = 0; i < sizeof packet - 2; i++)
        CHECK(nyala_line_take(&l, (const uint8_t *)packet + i, 1, 5) == 1 && l.mqtt.out_n == 0);
    CHECK(nyala_line_take(&l, (const uint8_t *)packet + i, 1, 5) == 1);
    CHECK(l.mqtt.out_n > 60 && memcmp(l.mqtt.out, "\x40\x02\x00\x09\x31", 5) == 0);
    CHECK(nyala_line_tick(&l, 5) == NYALA_WANT_NOTHING);
}

static void messages_on_other_topics_and_malformed_ones_are_ignored(void)
{
    boot();
    up(0);
    RECEIVES("\x30\x15\x00\x10nyala/v1/3/8/cmd{}x", 5);
    RECEIVES("\x30\x12\x00\x0fnyala/v1/3/7/cmx", 5);
    RECEIVES("\x31\x13\x00\x10nyala/v1/3/7/cmd{", 5);
    RECEIVES("\xd0\x00\x40\x02\x00\x01", 5);
    CHECK(l.mqtt.out_n == 0 && nyala_line_tick(&l, 5) == NYALA_WANT_NOTHING);
}

static void a_connection_to_a_server_that_violates_mqtt_is_closed(void)
{
    static const struct {
        const char *bytes;
        size_t n;
    } wrong[] = {
#define BYTES(b) {b, sizeof(b) - 1}
        BYTES("\x20\x02\x00\x00"),                         /* a second CONNACK */
        BYTES("\x30\x00"),                                 /* a message without a topic */
        BYTES("\x30\x02\x00\x00"),                         /* with an empty one */
        BYTES("\x30\x03\x00\x02" "a"),                     /* with half of one */
        BYTES("\x34\x05\x00\x01" "a\x00\x01"),             /* of QoS 2 */
        BYTES("\x32\x03\x00\x01" "a"),                     /* of QoS 1 without a number */
        BYTES("\x32\x05\x00\x01" "a\x00\x00"),             /* with the number 0 */
        BYTES("\x40\x03\x00\x01\x00"), BYTES("\x90\x02\x00\x01"), BYTES("\x90\x03\x00\x01\x02"), BYTES("\xd0\x01\x00"),
        BYTES("\xd1\x00"), BYTES("\x50\x02\x00\x01"), BYTES("\x10\x00"), BYTES("\xe0\x00"), BYTES("\x00\x00"), BYTES("\xf0\x00"),
        BYTES("\x30\xfe\x03"),                             /* 513 bytes */
        BYTES("\x30\xff\xff\xff"), BYTES("\x30\x80\x80"),
        BYTES("\x90\x03\x00\x02\x00"),                     /* a second grant */
    };
    size_t i;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        boot();
        up(0);
        nyala_line_take(&l, (const uint8_t *)wrong[i].bytes, wrong[i].n, 5);
        if (nyala_line_tick(&l, 5) != NYALA_WANT_CLOSE || l.end != NYALA_END_VIOLATION || nyala_line_wake(&l) != 0) {
            fprintf(stderr, "taken: number %zu\n", i);
            exit(1);
        }
    }
    boot();
    open_line(0);
    RECEIVES("\x90\x03\x00\x01\x00", 5);
    CHECK(nyala_line_tick(&l, 5) == NYALA_WANT_CLOSE && l.end == NYALA_END_VIOLATION);
    boot();
    open_line(0);
    RECEIVES("\x20\x02\x01\x00", 5);
    CHECK(nyala_line_tick(&l, 5) == NYALA_WANT_CLOSE);
    boot();
    open_line(0);
    RECEIVES("\x20\x02\x00\x05", 5);
    CHECK(nyala_line_tick(&l, 5) == NYALA_WANT_CLOSE && l.end == NYALA_END_REFUSED);
    boot();
    open_line(0);
    RECEIVES("\x20\x02\x00\x00\x90\x03\x00\x01\x80", 5);
    CHECK(nyala_line_tick(&l, 5) == NYALA_WANT_CLOSE && l.end == NYALA_END_DENIED);
}

static void a_silent_connection_gets_a_ping_and_is_then_closed(void)
{
    uint8_t out[NYALA_MQTT_OUT_BYTES];
    boot();
    up(0);
    CHECK(nyala_line_wake(&l) == 20000);
    CHECK(nyala_line_tick(&l, 20000) == NYALA_WANT_NOTHING);
    SENDS("\xc0\x00");
    CHECK(nyala_line_tick(&l, 30000) == NYALA_WANT_NOTHING && sent(out) > 2);
    CHECK(nyala_line_tick(&l, 40000) == NYALA_WANT_NOTHING);
    SENDS("\xc0\x00");
    RECEIVES("\xd0\x00", 44000);
    CHECK(nyala_line_tick(&l, 88999) == NYALA_WANT_NOTHING && nyala_line_wake(&l) == 89000);
    CHECK(nyala_line_tick(&l, 89000) == NYALA_WANT_CLOSE && l.end == NYALA_END_SILENT);
}

static void each_step_has_a_time_limit(void)
{
    boot();
    CHECK(nyala_line_tick(&l, 0) == NYALA_WANT_OPEN && nyala_line_wake(&l) == 15000);
    CHECK(nyala_line_tick(&l, 14999) == NYALA_WANT_NOTHING && nyala_line_tick(&l, 15000) == NYALA_WANT_CLOSE);
    boot();
    open_line(10);
    CHECK(nyala_line_tick(&l, 15009) == NYALA_WANT_NOTHING && nyala_line_tick(&l, 15010) == NYALA_WANT_CLOSE);
    boot();
    open_line(0);
    RECEIVES("\x20\x02\x00\x00", 9000);
    CHECK(nyala_line_tick(&l, 23999) == NYALA_WANT_NOTHING && nyala_line_tick(&l, 24000) == NYALA_WANT_CLOSE);
}

static void reconnect_delays_are_random_double_and_reset_after_a_good_connection(void)
{
    static const uint64_t most[] = {2000, 4000, 8000, 16000, 30000, 30000, 30000};
    uint64_t now = 0, drawn[7];
    size_t i, tries;
    for (i = 0; i < 7; i++)
        drawn[i] = 0;
    boot();
    for (tries = 0; tries < 50; tries++) {
        now = nyala_line_wake(&l) > now ? nyala_line_wake(&l) : now;
        l.most_wait_ms = NYALA_FIRST_WAIT_MS;
        for (i = 0; i < 7; i++) {
            CHECK(nyala_line_tick(&l, now) == NYALA_WANT_OPEN);
            nyala_line_closed(&l, now);
            CHECK(l.end == NYALA_END_CLOSED && l.open_ms - now <= most[i] && nyala_line_wake(&l) == l.open_ms);
            if (l.open_ms - now > drawn[i])
                drawn[i] = l.open_ms - now;
            now = l.open_ms;
        }
    }
    for (i = 0; i < 7; i++)
        CHECK(drawn[i] > most[i] / 2);
    up(now);
    nyala_line_closed(&l, now + 29999);
    CHECK(l.most_wait_ms == 30000);
    now = l.open_ms;
    up(now);
    nyala_line_closed(&l, now + 30000);
    CHECK(l.most_wait_ms == 4000 && l.open_ms - (now + 30000) <= 2000);
}

static void a_connection_that_sends_nothing_is_not_read_and_then_closed(void)
{
    static const char ask[] = "\x30\x6a\x00\x10nyala/v1/3/7/cmd"
                              "{\"cmd_id\":\"00000000-0000-0000-0000-000000000000\",\"op\":\"query\",\"epoch\":0,\"exp\":1,\"x\":\"1\"}";
    uint64_t now = 0;
    int heard;
    boot();
    up(0);
    for (heard = 0; nyala_line_take(&l, (const uint8_t *)ask, sizeof ask - 1, 5) == sizeof ask - 1; heard++)
        CHECK(heard < 100);
    CHECK(heard > 5 && nyala_line_tick(&l, 5) == NYALA_WANT_NOTHING);
    /* Heartbeats fill the send buffer, because no byte is sent. */
    while (nyala_line_tick(&l, now += 10000) == NYALA_WANT_NOTHING) {
        CHECK(now < 1000000);
        l.heard_ms = now;
    }
    CHECK(l.end == NYALA_END_FULL);
    nyala_line_closed(&l, now);
    up(l.open_ms);
}

/* Fuzzing: correct packets with some wrong bytes, in pieces. The sanitizers find errors. */
static void random_bytes_do_not_crash_the_client(void)
{
    static const char talk[] = "\x20\x02\x00\x00\x90\x03\x00\x01\x00"
                               "\x32\x77\x00\x10nyala/v1/3/7/cmd\x00\x09"
                               "{\"cmd_id\":\"00000000-0000-0000-0000-000000000000\",\"op\":\"query\",\"epoch\":0,\"exp\":1,\"x\":\"123456789012\"}"
                               "\xd0\x00\x40\x02\x00\x01\x30\x84\x01\x00\x10nyala/v1/3/7/cmd"
                               "{\"cmd_id\":\"00000000-1000-0000-0000-000000000000\",\"op\":\"start\",\"epoch\":1,\"durasi_s\":9,\"exp\":1800000000,\"echo\":null}";
    const char *rounds_wanted = getenv("NYALA_FUZZ_ROUNDS");
    long rounds = (rounds_wanted ? atol(rounds_wanted) : 200000) / 10, round, ends[7] = {0};
    uint64_t x = 88172645463325252u;
    for (round = 0; round < rounds; round++) {
        uint8_t bytes[sizeof talk - 1], out[NYALA_MQTT_OUT_BYTES];
        size_t at = 0;
        int changes;
        memcpy(bytes, talk, sizeof bytes);
        for (changes = (int)(round % 4); changes > 0; changes--) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            bytes[(x >> 8) % sizeof bytes] = (uint8_t)(x & 1 ? x >> 40 : bytes[(x >> 8) % sizeof bytes] ^ 1u << (x >> 40) % 8);
        }
        boot();
        open_line(0);
        while (at < sizeof bytes && nyala_line_tick(&l, 10) == NYALA_WANT_NOTHING) {
            size_t n;
            uint8_t *piece;
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            n = 1 + (size_t)(x >> 16) % 40;
            n = n < sizeof bytes - at ? n : sizeof bytes - at;
            piece = malloc(n);
            CHECK(piece);
            memcpy(piece, bytes + at, n);
            at += nyala_line_take(&l, piece, n, 10);
            free(piece);
            sent(out);
        }
        ends[l.end]++;
        nyala_line_closed(&l, 20);
    }
    printf("   %ld of %ld to the end, %ld violations\n", ends[NYALA_END_NONE], rounds, ends[NYALA_END_VIOLATION]);
    CHECK(ends[NYALA_END_NONE] > rounds / 4 && ends[NYALA_END_VIOLATION] > 0);
}

int main(void)
{
    printf("   %zu bytes\n", sizeof(struct nyala_line));
    RUN(it_logs_in_subscribes_and_then_reports_its_state);
    RUN(the_longest_state_fits_into_a_packet);
    RUN(a_message_in_any_pieces_is_received_and_acknowledged);
    RUN(messages_on_other_topics_and_malformed_ones_are_ignored);
    RUN(a_connection_to_a_server_that_violates_mqtt_is_closed);
    RUN(a_silent_connection_gets_a_ping_and_is_then_closed);
    RUN(each_step_has_a_time_limit);
    RUN(reconnect_delays_are_random_double_and_reset_after_a_good_connection);
    RUN(a_connection_that_sends_nothing_is_not_read_and_then_closed);
    RUN(random_bytes_do_not_crash_the_client);
    return 0;
}
