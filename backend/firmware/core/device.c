#include "device.h"

#include <string.h>

typedef char nyala_device_is_small[sizeof(struct nyala_device) <= NYALA_DEVICE_BYTES ? 1 : -1];
typedef char nyala_acks_have_a_bit_each[NYALA_KNOWN <= 16 ? 1 : -1];

/* --- messages --- */

struct message {
    /* The longest state report fits; tests/device.c checks it. */
    char text[NYALA_WORD_BYTES];
    size_t n;
};

static void put(struct message *m, const char *text)
{
    size_t n = strlen(text);
    if (n > sizeof m->text - m->n)
        n = sizeof m->text - m->n;
    memcpy(m->text + m->n, text, n);
    m->n += n;
}

static void put_number(struct message *m, uint64_t n)
{
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    put(m, digits + at);
}

static void put_field(struct message *m, const char *name, uint64_t n)
{
    put(m, name);
    put_number(m, n);
}

static void put_id(struct message *m, const uint8_t id[NYALA_ID_BYTES])
{
    char text[NYALA_ID_TEXT + 1];
    nyala_id_text(id, text);
    text[NYALA_ID_TEXT] = 0;
    put(m, text);
}

/* Version, cut to NYALA_VERSION_CHARS. Characters that JSON would have to escape become '?'. */
static void put_version(struct message *m, const char *name, const char *version)
{
    char text[NYALA_VERSION_CHARS + 1];
    size_t n;
    if (!version)
        return;
    for (n = 0; n < NYALA_VERSION_CHARS && version[n]; n++)
        text[n] = version[n] < ' ' || version[n] > '~' || version[n] == '"' || version[n] == '\\' ? '?' : version[n];
    text[n] = 0;
    put(m, name);
    put(m, text);
    put(m, "\"");
}

static const char *name_of(uint8_t result)
{
    static const char *const names[] = {"", "", "started", "refused", "expired", "done"};
    return names[result];
}

static bool trying(const struct nyala_device *d)
{
    return d->running >= 0 && d->journal.known[d->running].result == NYALA_TRYING;
}

static uint32_t left_ms(const struct nyala_device *d)
{
    return d->ends_ms > d->up_ms ? (uint32_t)(d->ends_ms - d->up_ms) : 0;
}

static void publish_state(struct nyala_device *d)
{
    const struct nyala_known *last = &d->journal.known[d->journal.last];
    struct message m = {{0}, 0};
    put_field(&m, "{\"online\":true,\"boot_id\":", d->setup.boot_id);
    put_field(&m, ",\"conn\":", d->conn);
    put_field(&m, ",\"seq\":", ++d->seq);
    put_field(&m, ",\"up_ms\":", d->up_ms);
    put_field(&m, ",\"epoch\":", d->journal.epoch);
    if (last->result == NYALA_NONE) {
        put(&m, ",\"last\":null");
    } else {
        put(&m, ",\"last\":{\"cmd_id\":\"");
        put_id(&m, last->id);
        put(&m, "\",\"result\":\"");
        put(&m, name_of(last->result));
        put(&m, "\"}");
    }
    if (d->running < 0) {
        put(&m, ",\"run\":null");
    } else {
        put(&m, ",\"run\":{\"cmd_id\":\"");
        put_id(&m, d->journal.known[d->running].id);
        put_field(&m, "\",\"sisa_s\":", (left_ms(d) + 999) / 1000);
        put(&m, "}");
    }
    put_version(&m, ",\"fw\":\"", d->setup.fw);
    put_version(&m, ",\"hw\":\"", d->setup.hw);
    put(&m, "}");
    d->asked_ms = d->up_ms;
    d->asked = true;
    d->board.say(d->board.ctx, NYALA_STATE, m.text, m.n);
}

static void publish_ack(struct nyala_device *d, const struct nyala_known *known)
{
    struct message m = {{0}, 0};
    put(&m, "{\"cmd_id\":\"");
    put_id(&m, known->id);
    put_field(&m, "\",\"epoch\":", d->ack_epoch);
    put(&m, ",\"result\":\"");
    put(&m, name_of(known->result));
    put_field(&m, "\",\"boot_id\":", d->setup.boot_id);
    put_field(&m, ",\"seq\":", ++d->seq);
    put_field(&m, ",\"up_ms\":", d->up_ms);
    put(&m, "}");
    d->board.say(d->board.ctx, NYALA_ACK, m.text, m.n);
}

static void publish_heartbeat(struct nyala_device *d)
{
    struct message m = {{0}, 0};
    put_field(&m, "{\"boot_id\":", d->setup.boot_id);
    put_field(&m, ",\"conn\":", d->conn);
    put_field(&m, ",\"seq\":", ++d->seq);
    put_field(&m, ",\"up_ms\":", d->up_ms);
    if (d->has_rssi)
        put_field(&m, d->rssi < 0 ? ",\"rssi\":-" : ",\"rssi\":", d->rssi < 0 ? (uint64_t)-(int64_t)d->rssi : (uint64_t)d->rssi);
    put(&m, "}");
    d->board.say(d->board.ctx, NYALA_HB, m.text, m.n);
}

size_t nyala_device_gone(const struct nyala_device *d, char *to)
{
    struct message m = {{0}, 0};
    put_field(&m, "{\"online\":false,\"boot_id\":", d->setup.boot_id);
    put_field(&m, ",\"conn\":", d->conn);
    put(&m, "}");
    memcpy(to, m.text, m.n);
    return m.n;
}

/* --- journal, relay --- */

static bool save(struct nyala_device *d)
{
    uint8_t record[NYALA_RECORD_BYTES];
    /* A failed write may still be readable later, so each attempt gets a newer number. It goes to the same slot again, because
     * the other slot holds the last good record. */
    d->journal.number++;
    if (d->relay)
        d->journal.rest_ms = left_ms(d);
    nyala_journal_write(&d->journal, record);
    d->unsaved = !d->board.save(d->board.ctx, d->slot, record);
    if (d->unsaved)
        d->retry_ms = d->up_ms + NYALA_RETRY_MS;
    else
        d->slot ^= 1;
    return !d->unsaved;
}

static void change(struct nyala_device *d)
{
    d->retry_ms = d->unsaved ? d->retry_ms : 0;
    d->unsaved = true;
}

static void switch_off(struct nyala_device *d)
{
    d->relay = false;
    d->stuck = !d->board.relay(d->board.ctx, false);
    if (d->stuck && d->retry_ms <= d->up_ms)
        d->retry_ms = d->up_ms + NYALA_RETRY_MS;
}

/* Ends the run, also one that never really started. */
static void end_run(struct nyala_device *d, enum nyala_result result)
{
    if (d->relay)
        switch_off(d);
    d->acks |= (uint16_t)(1u << d->running);
    d->journal.known[d->running].result = (uint8_t)result;
    d->journal.rest_ms = 0;
    d->journal.resumed = 0;
    d->running = -1;
    d->state_due = true;
    change(d);
}

/* Closes the relay. The journal on flash must already have the run. */
static void switch_on(struct nyala_device *d)
{
    d->relay = true;
    d->ends_ms = d->up_ms + d->journal.rest_ms;
    d->contact_by_ms = d->up_ms + d->setup.contact_ms;
    if (d->board.relay(d->board.ctx, true))
        return;
    /* A run that was resumed has already washed, so it is done and not refused. */
    end_run(d, d->journal.resumed ? NYALA_DONE : NYALA_REFUSED);
}

/* Does what is due, in this order: journal, relay, messages. A message never reports what is not on flash. No message is sent
 * while it is unknown whether the machine runs, because the device would have to correct it later. */
static void settle(struct nyala_device *d)
{
    int oldest, i;
    if (d->unsaved && d->retry_ms <= d->up_ms)
        save(d);
    if (!d->unsaved && d->running >= 0 && !d->relay) {
        switch_on(d);
        if (d->unsaved)
            save(d);
    }
    if (!d->subscribed || d->unsaved || trying(d))
        return;
    if (d->state_due)
        publish_state(d);
    d->state_due = false;
    for (i = 1; i <= NYALA_KNOWN && d->acks; i++) {
        oldest = (d->journal.last + i) % NYALA_KNOWN;
        if (d->acks & 1u << oldest)
            publish_ack(d, &d->journal.known[oldest]);
        d->acks &= (uint16_t)~(1u << oldest);
    }
}

static void at(struct nyala_device *d, uint64_t up_ms)
{
    if (up_ms > d->up_ms)
        d->up_ms = up_ms;
}

/* Handles what becomes due by time alone. */
static void pass_time(struct nyala_device *d)
{
    if (d->relay && (d->up_ms >= d->ends_ms || (trying(d) && d->up_ms >= d->contact_by_ms))) {
        d->ack_epoch = d->journal.epoch;
        end_run(d, trying(d) ? NYALA_REFUSED : NYALA_DONE);
    } else if (d->relay && d->journal.rest_ms >= left_ms(d) + NYALA_REST_SAVED_MS) {
        change(d);
    } else if (d->stuck && d->retry_ms <= d->up_ms) {
        switch_off(d);
    }
}

void nyala_device_boot(struct nyala_device *d, const struct nyala_board *board, const struct nyala_setup *setup,
                       const uint8_t *slot0, const uint8_t *slot1, uint64_t up_ms)
{
    int newest;
    memset(d, 0, sizeof *d);
    d->board = *board;
    d->setup = *setup;
    if (d->setup.contact_ms > NYALA_CONTACT_MAX_MS)
        d->setup.contact_ms = NYALA_CONTACT_MAX_MS;
    d->up_ms = up_ms;
    newest = nyala_journal_read(&d->journal, slot0, slot1);
    d->slot = newest == 0;
    d->running = (int8_t)nyala_journal_running(&d->journal);
    switch_off(d);
    if (d->running >= 0) {
        d->journal.resumed++;
        if (trying(d))
            end_run(d, NYALA_REFUSED);
        else if (d->journal.rest_ms == 0 || d->journal.resumed > NYALA_RESUMES)
            end_run(d, NYALA_DONE);
        change(d);
    }
    settle(d);
}

/* --- connections --- */

void nyala_device_linked(struct nyala_device *d, uint64_t up_ms)
{
    nyala_device_unlinked(d, up_ms);
    d->conn++;
    d->seq = 0;
}

void nyala_device_subscribed(struct nyala_device *d, uint64_t up_ms)
{
    at(d, up_ms);
    /* Acks of the last connection are dropped: the first state report replaces them. */
    d->acks = 0;
    d->subscribed = true;
    d->state_due = true;
    d->beat_ms = d->up_ms + NYALA_BEAT_MS;
    settle(d);
}

void nyala_device_unlinked(struct nyala_device *d, uint64_t up_ms)
{
    at(d, up_ms);
    d->subscribed = d->asked = d->state_due = false;
    settle(d);
}

/* --- commands --- */

static int find(const struct nyala_device *d, const uint8_t id[NYALA_ID_BYTES])
{
    int i;
    for (i = 0; i < NYALA_KNOWN; i++)
        if (d->journal.known[i].result != NYALA_NONE && memcmp(d->journal.known[i].id, id, NYALA_ID_BYTES) == 0)
            return i;
    return -1;
}

/* Remembers a command in the place of the oldest one that does not run. */
static int remember(struct nyala_device *d, const struct nyala_cmd *cmd, enum nyala_result result)
{
    struct nyala_known *known;
    int next = (d->journal.last + 1) % NYALA_KNOWN;
    if (next == d->running)
        next = (next + 1) % NYALA_KNOWN;
    known = &d->journal.known[next];
    memcpy(known->id, cmd->id, NYALA_ID_BYTES);
    known->result = (uint8_t)result;
    d->journal.last = (uint8_t)next;
    d->acks |= (uint16_t)(1u << next);
    d->state_due = true;
    change(d);
    return next;
}

/* Sets the clock from a command that answers the last state report in time. The true time is at most now_ms plus the whole
 * round trip, so the clock assumes that. */
static void set_clock(struct nyala_device *d, const struct nyala_cmd *cmd)
{
    if (!cmd->tells_time || !d->asked || cmd->echo_ms != d->asked_ms || d->up_ms - d->asked_ms >= NYALA_EXCHANGE_MS)
        return;
    d->told = true;
    d->told_ms = d->up_ms;
    d->ahead_ms = (int64_t)cmd->now_ms - (int64_t)d->asked_ms;
}

/* True if the command has expired, or may have: the clock is unknown or too old. */
static bool late(const struct nyala_device *d, const struct nyala_cmd *cmd)
{
    return !d->told || d->up_ms - d->told_ms >= NYALA_CLOCK_KEPT_MS
        || (int64_t)d->up_ms + d->ahead_ms > (int64_t)cmd->exp_s * 1000;
}

static void start(struct nyala_device *d, const struct nyala_cmd *cmd, bool may)
{
    may = may && cmd->duration_s > 0 && cmd->duration_s <= NYALA_LONGEST_RUN_S;
    if (late(d, cmd)) {
        remember(d, cmd, NYALA_EXPIRED);
    } else if (!may) {
        remember(d, cmd, NYALA_REFUSED);
    } else {
        d->running = (int8_t)remember(d, cmd, d->setup.contact_ms ? NYALA_TRYING : NYALA_STARTED);
        d->journal.rest_ms = (uint32_t)cmd->duration_s * 1000;
        d->journal.resumed = 0;
        if (!save(d)) {
            /* The failed write may be on flash all the same. The refusal is sent only once it is on flash: then the run can
             * never start. */
            end_run(d, NYALA_REFUSED);
            save(d);
        }
    }
}

bool nyala_device_hear(struct nyala_device *d, const uint8_t *json, size_t n, bool retained, uint64_t up_ms)
{
    struct nyala_cmd cmd;
    bool may;
    int known;
    at(d, up_ms);
    pass_time(d);
    settle(d);
    if (retained || !d->subscribed || !nyala_cmd_read(&cmd, json, n))
        return false;
    set_clock(d, &cmd);
    if (nyala_id_is_nil(cmd.id)) {
        d->state_due = true;
        settle(d);
        return true;
    }
    may = cmd.epoch >= d->journal.epoch && d->running < 0 && !d->unsaved && !d->stuck && !d->fault && !d->contact;
    if (cmd.epoch > d->journal.epoch) {
        d->journal.epoch = cmd.epoch;
        d->state_due = true;
        change(d);
    }
    d->ack_epoch = cmd.epoch;
    known = find(d, cmd.id);
    if (known >= 0)
        d->acks |= (uint16_t)(1u << known);
    switch (cmd.op) {
    case NYALA_START:
        if (known < 0)
            start(d, &cmd, may);
        break;
    case NYALA_STOP:
    case NYALA_QUERY:
        if (cmd.op == NYALA_STOP && known >= 0 && known == d->running)
            end_run(d, trying(d) ? NYALA_REFUSED : NYALA_DONE);
        /* The start may still be on its way and the server refunds on `expired`, so answer that only after the expiry. */
        if (known < 0 && late(d, &cmd))
            remember(d, &cmd, NYALA_EXPIRED);
        d->state_due = true;
        break;
    }
    settle(d);
    return true;
}

/* --- the machine --- */

void nyala_device_contact(struct nyala_device *d, bool runs, uint64_t up_ms)
{
    at(d, up_ms);
    d->contact = runs && d->setup.contact_ms > 0;
    if (d->contact && d->relay && trying(d)) {
        d->journal.known[d->running].result = NYALA_STARTED;
        d->acks |= (uint16_t)(1u << d->running);
        d->state_due = true;
        change(d);
    }
    settle(d);
}

void nyala_device_fault(struct nyala_device *d, bool faulty, uint64_t up_ms)
{
    at(d, up_ms);
    d->fault = faulty;
    settle(d);
}

void nyala_device_rssi(struct nyala_device *d, int32_t dbm)
{
    d->rssi = dbm;
    d->has_rssi = true;
}

/* --- time --- */

void nyala_device_tick(struct nyala_device *d, uint64_t up_ms)
{
    at(d, up_ms);
    pass_time(d);
    settle(d);
    if (d->subscribed && d->up_ms >= d->beat_ms) {
        d->beat_ms = d->up_ms + NYALA_BEAT_MS;
        publish_heartbeat(d);
    }
}

static void sooner(uint64_t *wake, bool due, uint64_t at_ms)
{
    if (due && at_ms < *wake)
        *wake = at_ms;
}

uint64_t nyala_device_wake(const struct nyala_device *d)
{
    uint64_t wake = NYALA_NEVER;
    sooner(&wake, d->subscribed, d->beat_ms);
    sooner(&wake, d->unsaved || d->stuck, d->retry_ms);
    sooner(&wake, d->relay, d->ends_ms);
    sooner(&wake, d->relay && trying(d), d->contact_by_ms);
    if (d->relay && !d->unsaved && d->journal.rest_ms > NYALA_REST_SAVED_MS)
        sooner(&wake, true, d->ends_ms - (d->journal.rest_ms - NYALA_REST_SAVED_MS));
    return wake;
}

void nyala_device_end(struct nyala_device *d, uint64_t up_ms)
{
    char gone[NYALA_WORD_BYTES];
    at(d, up_ms);
    if (d->relay) {
        d->journal.rest_ms = left_ms(d);
        switch_off(d);
        save(d);
    }
    if (d->subscribed)
        d->board.say(d->board.ctx, NYALA_STATE, gone, nyala_device_gone(d, gone));
    d->subscribed = false;
}
