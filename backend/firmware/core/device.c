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

/* Text, cut to `most` characters. Characters that JSON would have to escape become '?'. */
static void put_text(struct message *m, const char *name, const char *value, size_t most)
{
    char text[NYALA_VERSION_CHARS + 1];
    size_t n;
    if (!value)
        return;
    for (n = 0; n < most && value[n]; n++)
        text[n] = value[n] < ' ' || value[n] > '~' || value[n] == '"' || value[n] == '\\' ? '?' : value[n];
    text[n] = 0;
    put(m, name);
    put(m, text);
    put(m, "\"");
}

static void put_result(struct message *m, uint8_t result)
{
    static const char *const names[] = {"", "", "started", "refused", "expired", "done", "", "started", "refused\",\"why\":\"cut"};
    put(m, ",\"result\":\"");
    put(m, names[result]);
    put(m, "\"");
}

/* What the board counts and senses, for a state report and a heartbeat. */
static void put_inputs(struct nyala_device *d, struct message *m)
{
    if (d->setup.sense)
        put(m, d->sense ? ",\"sense\":true" : ",\"sense\":false");
    if (d->setup.coin)
        put_field(m, ",\"coins\":", d->coins);
    d->coins_told = d->coins;
}

static bool run_is(const struct nyala_device *d, enum nyala_result result)
{
    return d->running >= 0 && d->journal.known[d->running].result == result;
}

static bool trying(const struct nyala_device *d)
{
    return run_is(d, NYALA_TRYING);
}

/* True while the machine runs its own cycle, or waits for its Start button. */
static bool credited(const struct nyala_device *d)
{
    return d->timed && run_is(d, NYALA_CREDITED);
}

static uint32_t left_ms(const struct nyala_device *d)
{
    return d->ends_ms > d->up_ms ? (uint32_t)(d->ends_ms - d->up_ms) : 0;
}

/* When the machine counts as at its end, because it ran and has stopped. */
static uint64_t over_ms(const struct nyala_device *d)
{
    if (!credited(d) || d->sense || d->journal.high_ms < NYALA_HIGH_MS)
        return NYALA_NEVER;
    return d->sense_ms + d->journal.sense_s * UINT64_C(1000);
}

/* When the end of the run is moved, because the machine still runs then. */
static uint64_t later_ms(const struct nyala_device *d)
{
    if (!credited(d) || !d->sense || d->journal.tambah_s >= NYALA_LONGEST_WAIT_S)
        return NYALA_NEVER;
    return d->ends_ms > NYALA_NEAR_END_MS ? d->ends_ms - NYALA_NEAR_END_MS : 0;
}

static void put_abilities(const struct nyala_device *d, struct message *m)
{
    static const char *const names[] = {"\"pulse\"", "\"sense\"", "\"coin\""};
    const bool able[] = {d->board.pulse != NULL, d->setup.sense, d->setup.coin};
    bool any = false;
    size_t i;
    for (i = 0; i < sizeof able / sizeof *able; i++) {
        if (!able[i])
            continue;
        put(m, any ? "," : ",\"can\":[");
        put(m, names[i]);
        any = true;
    }
    if (any)
        put(m, "]");
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
        put(&m, "\"");
        put_result(&m, last->result);
        put(&m, "}");
    }
    if (d->running < 0) {
        put(&m, ",\"run\":null");
    } else {
        put(&m, ",\"run\":{\"cmd_id\":\"");
        put_id(&m, d->journal.known[d->running].id);
        put_field(&m, "\",\"sisa_s\":", (left_ms(d) + 999) / 1000);
        if (d->journal.tambah_s > 0)
            put_field(&m, ",\"tambah_s\":", d->journal.tambah_s);
        put(&m, "}");
    }
    put_text(&m, ",\"fw\":\"", d->setup.fw, NYALA_VERSION_CHARS);
    put_text(&m, ",\"hw\":\"", d->setup.hw, NYALA_VERSION_CHARS);
    put_abilities(d, &m);
    put_inputs(d, &m);
    put_text(&m, ",\"reset\":\"", d->setup.reset, NYALA_RESET_CHARS);
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
    put_result(&m, known->result);
    put_field(&m, ",\"boot_id\":", d->setup.boot_id);
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
    put_inputs(d, &m);
    put(&m, "}");
    d->beaten_ms = d->up_ms;
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
    if (d->timed)
        d->journal.rest_ms = left_ms(d);
    nyala_journal_write(&d->journal, record);
    d->unsaved = !d->board.save(d->board.ctx, d->slot, record);
    if (d->unsaved) {
        d->retry_ms = d->up_ms + NYALA_RETRY_MS;
        return false;
    }
    d->slot ^= 1;
    if (d->coins != d->journal.coins)
        d->coins_due_ms = d->up_ms + NYALA_COINS_SAVED_MS;
    d->coins = d->journal.coins;
    return true;
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
    d->timed = d->pulsing = false;
    d->running = -1;
    d->state_due = true;
    change(d);
}

/* Begins the run: sends its pulses, closes the relay, or only counts the time of a run whose pulses were sent before the power was
 * lost. The journal on flash must already have the run. */
static void begin_run(struct nyala_device *d)
{
    if (run_is(d, NYALA_PULSING)) {
        d->pulsing = d->board.pulse(d->board.ctx, d->pulses, d->width_ms, d->gap_ms);
        if (!d->pulsing)
            end_run(d, NYALA_REFUSED);
        return;
    }
    d->timed = true;
    d->ends_ms = d->up_ms + d->journal.rest_ms;
    if (run_is(d, NYALA_CREDITED))
        return;
    d->relay = true;
    d->contact_by_ms = d->up_ms + d->setup.contact_ms;
    if (d->board.relay(d->board.ctx, true))
        return;
    /* A run that was resumed has already washed, so it is done and not refused. */
    end_run(d, d->journal.resumed ? NYALA_DONE : NYALA_REFUSED);
}

/* Does what is due, in this order: journal, relay or pulses, messages. A message never reports what is not on flash. No message is sent
 * while it is unknown whether the machine runs, because the device would have to correct it later. */
static void settle(struct nyala_device *d)
{
    int oldest, i;
    /* Not while pulses are sent: a write to flash may stop the processor, and too long a pulse is an error for the machine. No message
     * is sent during that time that would have to be on flash. */
    if (d->unsaved && !d->pulsing && d->retry_ms <= d->up_ms)
        save(d);
    if (!d->unsaved && d->running >= 0 && !d->timed && !d->pulsing) {
        begin_run(d);
        if (d->unsaved)
            save(d);
    }
    if (!d->subscribed || d->unsaved || trying(d) || run_is(d, NYALA_PULSING))
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

/* Moves the end of the run by whole seconds, as `tambah_s` says, and by NYALA_LONGEST_WAIT_S in all at most. */
static void end_later(struct nyala_device *d, uint64_t ms)
{
    uint64_t most_ms = (uint64_t)(NYALA_LONGEST_WAIT_S - d->journal.tambah_s) * 1000;
    ms = (ms < most_ms ? ms : most_ms) / 1000 * 1000;
    d->ends_ms = (d->ends_ms > d->up_ms ? d->ends_ms : d->up_ms) + ms;
    d->journal.tambah_s = (uint16_t)(d->journal.tambah_s + ms / 1000);
    d->state_due = true;
    change(d);
}

/* Handles the level of the sensor. */
static void sense(struct nyala_device *d)
{
    if (credited(d) && d->sense) {
        uint64_t high_ms = d->journal.high_ms + (d->up_ms - d->counted_ms);
        d->journal.high_ms = (uint16_t)(high_ms < NYALA_HIGH_MS ? high_ms : NYALA_HIGH_MS);
    }
    d->counted_ms = d->up_ms;
    if (d->raw != d->sense && d->up_ms >= d->raw_ms + NYALA_STABLE_MS) {
        d->sense = d->raw;
        d->sense_ms = d->up_ms;
        d->state_due = true;
    }
    /* The first rise begins the cycle, so its time begins now. */
    if (credited(d) && d->sense && !d->journal.risen) {
        d->journal.risen = true;
        end_later(d, d->journal.duration_s * UINT64_C(1000) - left_ms(d));
    }
    if (d->up_ms >= later_ms(d))
        end_later(d, NYALA_LATER_S * 1000);
}

/* Handles what becomes due by time alone. */
static void pass_time(struct nyala_device *d)
{
    sense(d);
    if (d->coins != d->journal.coins && d->up_ms >= d->coins_due_ms)
        change(d);
    if (d->timed && (d->up_ms >= d->ends_ms || d->up_ms >= over_ms(d) || (trying(d) && d->up_ms >= d->contact_by_ms))) {
        d->ack_epoch = d->journal.epoch;
        end_run(d, trying(d) ? NYALA_REFUSED : NYALA_DONE);
    } else if (d->timed && d->journal.rest_ms >= left_ms(d) + NYALA_REST_SAVED_MS) {
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
    d->coins = d->journal.coins;
    /* Nothing is known of the level yet. */
    d->sense_ms = up_ms + NYALA_STABLE_MS;
    d->slot = newest == 0;
    d->running = (int8_t)nyala_journal_running(&d->journal);
    switch_off(d);
    if (d->running >= 0) {
        d->journal.resumed++;
        if (trying(d))
            end_run(d, NYALA_REFUSED);
        else if (run_is(d, NYALA_PULSING))
            end_run(d, NYALA_CUT);
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
    d->beaten_ms = d->up_ms;
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

/* True if the board can do what the command wants. Pulses without a duration are a test of the wiring: they begin no run. */
static bool can(const struct nyala_device *d, const struct nyala_cmd *cmd)
{
    if (cmd->duration_s > NYALA_LONGEST_RUN_S)
        return false;
    if (cmd->op == NYALA_START)
        return cmd->duration_s > 0;
    return d->board.pulse && !d->sense && !d->raw && cmd->pulses >= 1 && cmd->pulses <= NYALA_MOST_PULSES && cmd->width_ms >= 1
        && cmd->width_ms <= NYALA_PULSES_MS && cmd->gap_ms >= 1 && cmd->gap_ms <= NYALA_PULSES_MS
        && cmd->pulses * (cmd->width_ms + cmd->gap_ms) <= NYALA_PULSES_MS && cmd->sense_s >= 1 && cmd->sense_s <= NYALA_MOST_SENSE_S;
}

static void start(struct nyala_device *d, const struct nyala_cmd *cmd, bool may)
{
    may = may && can(d, cmd);
    if (late(d, cmd)) {
        remember(d, cmd, NYALA_EXPIRED);
    } else if (!may) {
        remember(d, cmd, NYALA_REFUSED);
    } else {
        enum nyala_result first = d->setup.contact_ms ? NYALA_TRYING : NYALA_STARTED;
        d->running = (int8_t)remember(d, cmd, cmd->op == NYALA_PULSE ? NYALA_PULSING : first);
        d->pulses = (uint8_t)cmd->pulses;
        d->width_ms = (uint16_t)cmd->width_ms;
        d->gap_ms = (uint16_t)cmd->gap_ms;
        d->journal.duration_s = (uint32_t)cmd->duration_s;
        d->journal.rest_ms = d->journal.duration_s * 1000;
        d->journal.sense_s = (uint16_t)cmd->sense_s;
        d->journal.tambah_s = d->journal.high_ms = 0;
        d->journal.risen = false;
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
    case NYALA_PULSE:
        if (known < 0)
            start(d, &cmd, may);
        break;
    case NYALA_STOP:
    case NYALA_QUERY:
        /* The machine runs its own cycle once it has its coins, so a stop cannot end that. */
        if (cmd.op == NYALA_STOP && known >= 0 && known == d->running && !run_is(d, NYALA_PULSING) && !run_is(d, NYALA_CREDITED))
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

void nyala_device_pulsed(struct nyala_device *d, uint64_t up_ms)
{
    at(d, up_ms);
    if (!d->pulsing)
        return;
    pass_time(d);
    d->pulsing = false;
    if (d->journal.duration_s == 0) {
        end_run(d, NYALA_DONE);
    } else {
        d->timed = true;
        d->ends_ms = d->up_ms + d->journal.rest_ms;
        d->journal.known[d->running].result = NYALA_CREDITED;
        d->acks |= (uint16_t)(1u << d->running);
        d->state_due = true;
        change(d);
        sense(d);
    }
    settle(d);
}

void nyala_device_rssi(struct nyala_device *d, int32_t dbm)
{
    d->rssi = dbm;
    d->has_rssi = true;
}

/* --- time --- */

/* When the next heartbeat is due: soon, if there are coins that were not sent yet. */
static uint64_t beat_ms(const struct nyala_device *d)
{
    return d->beaten_ms + (d->coins != d->coins_told ? NYALA_COIN_BEAT_MS : NYALA_BEAT_MS);
}

void nyala_device_tick(struct nyala_device *d, uint64_t up_ms)
{
    at(d, up_ms);
    pass_time(d);
    settle(d);
    if (d->subscribed && d->up_ms >= beat_ms(d))
        publish_heartbeat(d);
}

void nyala_device_sense(struct nyala_device *d, bool high, uint64_t up_ms)
{
    nyala_device_tick(d, up_ms);
    if (!d->setup.sense || high == d->raw)
        return;
    d->raw = high;
    d->raw_ms = d->up_ms;
}

void nyala_device_coin(struct nyala_device *d, uint64_t up_ms)
{
    at(d, up_ms);
    if (d->setup.coin && d->journal.coins < UINT32_MAX)
        d->journal.coins++;
    nyala_device_tick(d, up_ms);
}

static void sooner(uint64_t *wake, bool due, uint64_t at_ms)
{
    if (due && at_ms < *wake)
        *wake = at_ms;
}

uint64_t nyala_device_wake(const struct nyala_device *d)
{
    uint64_t wake = NYALA_NEVER;
    sooner(&wake, d->subscribed, beat_ms(d));
    sooner(&wake, (d->unsaved && !d->pulsing) || d->stuck, d->retry_ms);
    sooner(&wake, d->timed, d->ends_ms);
    sooner(&wake, d->relay && trying(d), d->contact_by_ms);
    sooner(&wake, d->raw != d->sense, d->raw_ms + NYALA_STABLE_MS);
    sooner(&wake, true, over_ms(d));
    sooner(&wake, true, later_ms(d));
    sooner(&wake, !d->unsaved && d->coins != d->journal.coins, d->coins_due_ms);
    if (d->timed && !d->unsaved && d->journal.rest_ms > NYALA_REST_SAVED_MS)
        sooner(&wake, true, d->ends_ms - (d->journal.rest_ms - NYALA_REST_SAVED_MS));
    return wake;
}

void nyala_device_end(struct nyala_device *d, uint64_t up_ms)
{
    char gone[NYALA_WORD_BYTES];
    at(d, up_ms);
    if (d->relay)
        switch_off(d);
    if (d->timed || d->coins != d->journal.coins)
        save(d);
    if (d->subscribed)
        d->board.say(d->board.ctx, NYALA_STATE, gone, nyala_device_gone(d, gone));
    d->subscribed = false;
}
