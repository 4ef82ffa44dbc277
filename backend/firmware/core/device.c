#include "device.h"

#include <string.h>

typedef char nyala_device_is_small[sizeof(struct nyala_device) <= NYALA_DEVICE_BYTES ? 1 : -1];
typedef char nyala_acks_have_a_bit_each[NYALA_KNOWN <= 16 ? 1 : -1];

/* --- words --- */

struct word {
    /* The longest state fits, which a test says. */
    char text[NYALA_WORD_BYTES];
    size_t n;
};

static void put(struct word *w, const char *text)
{
    size_t n = strlen(text);
    if (n > sizeof w->text - w->n)
        n = sizeof w->text - w->n;
    memcpy(w->text + w->n, text, n);
    w->n += n;
}

static void put_number(struct word *w, uint64_t n)
{
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    put(w, digits + at);
}

static void put_field(struct word *w, const char *name, uint64_t n)
{
    put(w, name);
    put_number(w, n);
}

static void put_id(struct word *w, const uint8_t id[NYALA_ID_BYTES])
{
    char text[NYALA_ID_TEXT + 1];
    nyala_id_text(id, text);
    text[NYALA_ID_TEXT] = 0;
    put(w, text);
}

/* A version, as much of it as is told, without what JSON would have to escape. */
static void put_version(struct word *w, const char *name, const char *version)
{
    char text[NYALA_VERSION_CHARS + 1];
    size_t n;
    if (!version)
        return;
    for (n = 0; n < NYALA_VERSION_CHARS && version[n]; n++)
        text[n] = version[n] < ' ' || version[n] > '~' || version[n] == '"' || version[n] == '\\' ? '?' : version[n];
    text[n] = 0;
    put(w, name);
    put(w, text);
    put(w, "\"");
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

static void say_state(struct nyala_device *d)
{
    const struct nyala_known *last = &d->journal.known[d->journal.last];
    struct word w = {{0}, 0};
    put_field(&w, "{\"online\":true,\"boot_id\":", d->setup.boot_id);
    put_field(&w, ",\"conn\":", d->conn);
    put_field(&w, ",\"seq\":", ++d->seq);
    put_field(&w, ",\"up_ms\":", d->up_ms);
    put_field(&w, ",\"epoch\":", d->journal.epoch);
    if (last->result == NYALA_NONE) {
        put(&w, ",\"last\":null");
    } else {
        put(&w, ",\"last\":{\"cmd_id\":\"");
        put_id(&w, last->id);
        put(&w, "\",\"result\":\"");
        put(&w, name_of(last->result));
        put(&w, "\"}");
    }
    if (d->running < 0) {
        put(&w, ",\"run\":null");
    } else {
        put(&w, ",\"run\":{\"cmd_id\":\"");
        put_id(&w, d->journal.known[d->running].id);
        put_field(&w, "\",\"sisa_s\":", (left_ms(d) + 999) / 1000);
        put(&w, "}");
    }
    put_version(&w, ",\"fw\":\"", d->setup.fw);
    put_version(&w, ",\"hw\":\"", d->setup.hw);
    put(&w, "}");
    d->asked_ms = d->up_ms;
    d->asked = true;
    d->board.say(d->board.ctx, NYALA_STATE, w.text, w.n);
}

static void say_ack(struct nyala_device *d, const struct nyala_known *known)
{
    struct word w = {{0}, 0};
    put(&w, "{\"cmd_id\":\"");
    put_id(&w, known->id);
    put_field(&w, "\",\"epoch\":", d->ack_epoch);
    put(&w, ",\"result\":\"");
    put(&w, name_of(known->result));
    put_field(&w, "\",\"boot_id\":", d->setup.boot_id);
    put_field(&w, ",\"seq\":", ++d->seq);
    put_field(&w, ",\"up_ms\":", d->up_ms);
    put(&w, "}");
    d->board.say(d->board.ctx, NYALA_ACK, w.text, w.n);
}

static void say_beat(struct nyala_device *d)
{
    struct word w = {{0}, 0};
    put_field(&w, "{\"boot_id\":", d->setup.boot_id);
    put_field(&w, ",\"conn\":", d->conn);
    put_field(&w, ",\"seq\":", ++d->seq);
    put_field(&w, ",\"up_ms\":", d->up_ms);
    if (d->has_rssi)
        put_field(&w, d->rssi < 0 ? ",\"rssi\":-" : ",\"rssi\":", d->rssi < 0 ? (uint64_t)-(int64_t)d->rssi : (uint64_t)d->rssi);
    put(&w, "}");
    d->board.say(d->board.ctx, NYALA_HB, w.text, w.n);
}

size_t nyala_device_gone(const struct nyala_device *d, char *to)
{
    struct word w = {{0}, 0};
    put_field(&w, "{\"online\":false,\"boot_id\":", d->setup.boot_id);
    put_field(&w, ",\"conn\":", d->conn);
    put(&w, "}");
    memcpy(to, w.text, w.n);
    return w.n;
}

/* --- journal, relay --- */

static bool save(struct nyala_device *d)
{
    uint8_t record[NYALA_RECORD_BYTES];
    /* A try that failed may still be read one day: the next one is newer. It goes to the same slot, because the other holds what counts. */
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

/* What runs is over, or never ran. */
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

/* The journal on flash says that it runs. */
static void switch_on(struct nyala_device *d)
{
    d->relay = true;
    d->ends_ms = d->up_ms + d->journal.rest_ms;
    d->contact_by_ms = d->up_ms + d->setup.contact_ms;
    if (d->board.relay(d->board.ctx, true))
        return;
    /* A run that has gone on before was not for nothing. */
    end_run(d, d->journal.resumed ? NYALA_DONE : NYALA_REFUSED);
}

/* Does what is due, in the order that counts: journal, relay, words. Nothing is said that is not on flash, and nothing while it is not
 * known whether the machine runs: the answer would have to be taken back. */
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
        say_state(d);
    d->state_due = false;
    for (i = 1; i <= NYALA_KNOWN && d->acks; i++) {
        oldest = (d->journal.last + i) % NYALA_KNOWN;
        if (d->acks & 1u << oldest)
            say_ack(d, &d->journal.known[oldest]);
        d->acks &= (uint16_t)~(1u << oldest);
    }
}

static void at(struct nyala_device *d, uint64_t up_ms)
{
    if (up_ms > d->up_ms)
        d->up_ms = up_ms;
}

/* What time alone does. */
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
    /* What was not said is told by the first state of a connection. */
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

/* The oldest command that does not run makes room. */
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

/* A cmd that answers the last state in time tells what time it is: not later than when it was written and the whole way here and back. */
static void hear_time(struct nyala_device *d, const struct nyala_cmd *cmd)
{
    if (!cmd->tells_time || !d->asked || cmd->echo_ms != d->asked_ms || d->up_ms - d->asked_ms >= NYALA_EXCHANGE_MS)
        return;
    d->told = true;
    d->told_ms = d->up_ms;
    d->ahead_ms = (int64_t)cmd->now_ms - (int64_t)d->asked_ms;
}

/* Whether it is past the command's end, or may be. */
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
            /* It may be on flash all the same. Once it is on flash that it is refused it will never run, and that is told. */
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
    hear_time(d, &cmd);
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
        /* Its start may still be on its way: whoever hears `expired` gives the money back. */
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
        say_beat(d);
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
