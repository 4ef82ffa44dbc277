#include "line.h"

#include <string.h>

typedef char nyala_line_is_small[sizeof(struct nyala_line) <= NYALA_LINE_BYTES ? 1 : -1];

/* Space that the answers to one command need: a state report and an ack with their topics, and a PUBACK. */
enum { ANSWERS = 1024 };

static void put_number(char **to, uint64_t n)
{
    uint64_t unit = 1;
    while (n / unit >= 10)
        unit *= 10;
    for (; unit > 0; unit /= 10)
        *(*to)++ = (char)('0' + n / unit % 10);
}

static void topic(const struct nyala_line *l, const char *leaf, char to[NYALA_TOPIC_BYTES])
{
    memcpy(to, "nyala/v1/", 9);
    to += 9;
    put_number(&to, l->login.idoutlet);
    *to++ = '/';
    put_number(&to, l->login.idmesin);
    *to++ = '/';
    memcpy(to, leaf, strlen(leaf) + 1);
}

/* Marsaglia's xorshift. It only has to keep devices that lost the same server from reconnecting at the same moment. */
static uint32_t up_to(struct nyala_line *l, uint32_t most)
{
    l->random ^= l->random << 13;
    l->random ^= l->random >> 17;
    l->random ^= l->random << 5;
    return l->random % (most + 1);
}

static void begin(struct nyala_line *l, enum nyala_line_state state, uint64_t up_ms)
{
    l->state = state;
    l->since_ms = up_ms;
}

/* Marks the connection as failed; the next nyala_line_tick asks the board to close it. */
static void give_up(struct nyala_line *l, enum nyala_line_end end)
{
    if (l->end == NYALA_END_NONE)
        l->end = end;
}

static void say(void *ctx, enum nyala_topic leaf, const char *json, size_t n)
{
    static const char *const leaves[] = {"ack", "state", "hb"};
    struct nyala_line *l = ctx;
    char to[NYALA_TOPIC_BYTES];
    topic(l, leaves[leaf], to);
    /* QoS 0 is enough: a server that missed a message asks again. If the buffer is full, the connection is dead. */
    if (!nyala_mqtt_publish(&l->mqtt, to, json, n, 0, leaf == NYALA_STATE))
        give_up(l, NYALA_END_FULL);
}

static bool save(void *ctx, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES])
{
    const struct nyala_line *l = ctx;
    return l->board.save(l->board.ctx, slot, record);
}

static bool relay(void *ctx, bool on)
{
    const struct nyala_line *l = ctx;
    return l->board.relay(l->board.ctx, on);
}

static bool pulse(void *ctx, uint32_t n, uint32_t width_ms, uint32_t gap_ms)
{
    const struct nyala_line *l = ctx;
    return l->board.pulse(l->board.ctx, n, width_ms, gap_ms);
}

void nyala_line_boot(struct nyala_line *l, const struct nyala_login *login, const struct nyala_board *board,
                     const struct nyala_setup *setup, const uint8_t *slot0, const uint8_t *slot1, uint32_t random, uint64_t up_ms)
{
    struct nyala_board own = {NULL, save, relay, say, board->pulse ? pulse : NULL};
    memset(l, 0, sizeof *l);
    own.ctx = l;
    l->board = *board;
    l->login = *login;
    /* xorshift never leaves 0. */
    l->random = random ? random : 1;
    l->most_wait_ms = NYALA_FIRST_WAIT_MS;
    nyala_device_boot(&l->device, &own, setup, slot0, slot1, up_ms);
    begin(l, NYALA_WAITING, up_ms);
    l->open_ms = up_ms;
}

enum nyala_line_want nyala_line_tick(struct nyala_line *l, uint64_t up_ms)
{
    nyala_device_tick(&l->device, up_ms);
    if (l->state == NYALA_WAITING) {
        if (up_ms < l->open_ms)
            return NYALA_WANT_NOTHING;
        begin(l, NYALA_OPENING, up_ms);
        l->end = NYALA_END_NONE;
        return NYALA_WANT_OPEN;
    }
    if (l->state != NYALA_UP) {
        if (up_ms - l->since_ms >= NYALA_STEP_MS)
            give_up(l, NYALA_END_SILENT);
    } else if (up_ms - l->heard_ms >= NYALA_SILENCE_MS) {
        give_up(l, NYALA_END_SILENT);
    } else if (up_ms - l->heard_ms >= NYALA_ASK_MS && up_ms - l->asked_ms >= NYALA_ASK_MS) {
        l->asked_ms = up_ms;
        if (!nyala_mqtt_ping(&l->mqtt))
            give_up(l, NYALA_END_FULL);
    }
    return l->end == NYALA_END_NONE ? NYALA_WANT_NOTHING : NYALA_WANT_CLOSE;
}

uint64_t nyala_line_wake(const struct nyala_line *l)
{
    uint64_t wake = nyala_device_wake(&l->device), own;
    if (l->end != NYALA_END_NONE && l->state != NYALA_WAITING)
        return 0;
    if (l->state == NYALA_WAITING) {
        own = l->open_ms;
    } else if (l->state != NYALA_UP) {
        own = l->since_ms + NYALA_STEP_MS;
    } else {
        own = (l->asked_ms > l->heard_ms ? l->asked_ms : l->heard_ms) + NYALA_ASK_MS;
        if (own > l->heard_ms + NYALA_SILENCE_MS)
            own = l->heard_ms + NYALA_SILENCE_MS;
    }
    return own < wake ? own : wake;
}

void nyala_line_opened(struct nyala_line *l, uint64_t up_ms)
{
    char id[32] = "nyala-", *end = id + 6, will_topic[NYALA_TOPIC_BYTES], will[NYALA_WORD_BYTES];
    struct nyala_mqtt_login login = {0};
    put_number(&end, l->login.idmesin);
    *end = 0;
    topic(l, "state", will_topic);
    nyala_device_linked(&l->device, up_ms);
    login.client_id = id;
    login.user = l->login.user;
    login.secret = l->login.secret;
    login.will_topic = will_topic;
    login.will = will;
    login.will_n = nyala_device_gone(&l->device, will);
    login.keep_alive_s = NYALA_KEEP_ALIVE_S;
    begin(l, NYALA_LOGGING_IN, up_ms);
    if (!nyala_mqtt_connect(&l->mqtt, &login))
        give_up(l, NYALA_END_FULL);
}

void nyala_line_closed(struct nyala_line *l, uint64_t up_ms)
{
    if (l->state == NYALA_WAITING)
        return;
    give_up(l, NYALA_END_CLOSED);
    nyala_device_unlinked(&l->device, up_ms);
    l->mqtt.out_n = 0;
    if (l->state == NYALA_UP && up_ms - l->since_ms >= NYALA_GOOD_MS)
        l->most_wait_ms = NYALA_FIRST_WAIT_MS;
    l->open_ms = up_ms + up_to(l, l->most_wait_ms);
    l->most_wait_ms = l->most_wait_ms * 2 < NYALA_MOST_WAIT_MS ? l->most_wait_ms * 2 : NYALA_MOST_WAIT_MS;
    begin(l, NYALA_WAITING, up_ms);
}

static void accepted(struct nyala_line *l, uint64_t up_ms)
{
    char to[NYALA_TOPIC_BYTES];
    topic(l, "cmd", to);
    begin(l, NYALA_SUBSCRIBING, up_ms);
    if (!nyala_mqtt_subscribe(&l->mqtt, to, 0))
        give_up(l, NYALA_END_FULL);
}

static void granted(struct nyala_line *l, uint64_t up_ms)
{
    if (l->state != NYALA_SUBSCRIBING) {
        give_up(l, NYALA_END_VIOLATION);
        return;
    }
    begin(l, NYALA_UP, up_ms);
    l->asked_ms = up_ms;
    nyala_device_subscribed(&l->device, up_ms);
}

static void message(struct nyala_line *l, const struct nyala_mqtt_message *m, uint64_t up_ms)
{
    char own[NYALA_TOPIC_BYTES];
    topic(l, "cmd", own);
    if (m->topic_n == strlen(own) && memcmp(m->topic, own, m->topic_n) == 0)
        nyala_device_hear(&l->device, m->payload, m->payload_n, m->retained, up_ms);
}

size_t nyala_line_take(struct nyala_line *l, const uint8_t *bytes, size_t n, uint64_t up_ms)
{
    const uint8_t *at = bytes;
    size_t left = n;
    if (n > 0)
        l->heard_ms = up_ms;
    while (left > 0 && l->end == NYALA_END_NONE && l->mqtt.out_n + ANSWERS <= NYALA_MQTT_OUT_BYTES) {
        struct nyala_mqtt_message m;
        switch (nyala_mqtt_feed(&l->mqtt, &at, &left, &m)) {
        case NYALA_MQTT_ACCEPTED: accepted(l, up_ms); break;
        case NYALA_MQTT_REFUSED: give_up(l, NYALA_END_REFUSED); break;
        case NYALA_MQTT_GRANTED: granted(l, up_ms); break;
        case NYALA_MQTT_DENIED: give_up(l, NYALA_END_DENIED); break;
        case NYALA_MQTT_MESSAGE: message(l, &m, up_ms); break;
        case NYALA_MQTT_VIOLATION: give_up(l, NYALA_END_VIOLATION); break;
        case NYALA_MQTT_NOTHING:
        case NYALA_MQTT_ARRIVED:
        case NYALA_MQTT_PONG: break;
        }
    }
    return n - left;
}

void nyala_line_end(struct nyala_line *l, uint64_t up_ms)
{
    nyala_device_end(&l->device, up_ms);
}
