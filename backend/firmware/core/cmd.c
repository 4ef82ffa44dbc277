#include "cmd.h"

#include <string.h>

/* From PULSES on: only NYALA_PULSE has them, and other commands may have anything there. */
enum field { CMD_ID, EPOCH, OP, DURATION, EXP, NOW, ECHO, PULSES, WIDTH, GAP, SENSE, FIELDS };

static const char *const NAMES[FIELDS] = {"cmd_id", "epoch", "op", "durasi_s", "exp",
                                          "now_ms", "echo",  "n",  "width_ms", "gap_ms", "sense_s"};

/* True for the bytes of a UUID that follow a hyphen. */
static bool after_hyphen(size_t byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

static int hex(uint8_t c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at;
    if (c >= 'A' && c <= 'F')
        c = (uint8_t)(c - 'A' + 'a');
    at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool read_id(const struct nyala_json_member *m, uint8_t id[NYALA_ID_BYTES])
{
    const uint8_t *c = m->value;
    size_t i;
    if (m->kind != NYALA_JSON_TEXT || m->value_n != NYALA_ID_TEXT)
        return false;
    for (i = 0; i < NYALA_ID_BYTES; i++, c += 2) {
        if (after_hyphen(i) && *c++ != '-')
            return false;
        if (hex(c[0]) < 0 || hex(c[1]) < 0)
            return false;
        id[i] = (uint8_t)(hex(c[0]) << 4 | hex(c[1]));
    }
    return true;
}

static bool read_op(const struct nyala_json_member *m, enum nyala_op *op)
{
    static const char *const names[] = {"start", "stop", "query", "pulse"};
    char name[8];
    size_t i;
    if (!nyala_json_text(m, name, sizeof name))
        return false;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *op = (enum nyala_op)i;
            return true;
        }
    }
    return false;
}

/* Reads a number, or null for an absent value. */
static bool read_optional(const struct nyala_json_member *m, uint64_t *to, unsigned *told, enum field field)
{
    if (m->kind == NYALA_JSON_NULL)
        return true;
    *told |= 1u << field;
    return nyala_json_whole(m, to);
}

bool nyala_cmd_read(struct nyala_cmd *cmd, const uint8_t *bytes, size_t n)
{
    struct nyala_json json;
    struct nyala_json_member m;
    unsigned seen = 0, told = 0, wanted = 1u << CMD_ID | 1u << EPOCH | 1u << OP | 1u << EXP;
    enum nyala_json_step step;
    bool good_pulses = true;
    memset(cmd, 0, sizeof *cmd);
    cmd->sense_s = NYALA_SENSE_S;
    nyala_json_begin(&json, bytes, n);
    while ((step = nyala_json_next(&json, &m)) == NYALA_JSON_MEMBER) {
        bool good = true, twice;
        unsigned field;
        for (field = 0; field < FIELDS && !nyala_json_is(&m, NAMES[field]); field++)
            ;
        if (field == FIELDS)
            continue;
        twice = seen & 1u << field;
        seen |= 1u << field;
        switch (field) {
        case CMD_ID: good = read_id(&m, cmd->id); break;
        case OP: good = read_op(&m, &cmd->op); break;
        case EPOCH: good = nyala_json_whole(&m, &cmd->epoch); break;
        case DURATION: good = nyala_json_whole(&m, &cmd->duration_s); break;
        case EXP: good = nyala_json_whole(&m, &cmd->exp_s); break;
        case NOW: good = read_optional(&m, &cmd->now_ms, &told, NOW); break;
        case ECHO: good = read_optional(&m, &cmd->echo_ms, &told, ECHO); break;
        case PULSES: good = nyala_json_whole(&m, &cmd->pulses); break;
        case WIDTH: good = nyala_json_whole(&m, &cmd->width_ms); break;
        case GAP: good = nyala_json_whole(&m, &cmd->gap_ms); break;
        default: good = m.kind == NYALA_JSON_NULL || nyala_json_whole(&m, &cmd->sense_s); break;
        }
        good = good && !twice;
        if (!good && field < PULSES)
            return false;
        good_pulses = good_pulses && good;
    }
    if (cmd->op == NYALA_PULSE)
        wanted |= 1u << DURATION | 1u << PULSES | 1u << WIDTH | 1u << GAP;
    else if (cmd->op == NYALA_START)
        wanted |= 1u << DURATION;
    cmd->tells_time = told == (1u << NOW | 1u << ECHO);
    return step == NYALA_JSON_END && (seen & wanted) == wanted && (good_pulses || cmd->op != NYALA_PULSE);
}

bool nyala_id_is_nil(const uint8_t id[NYALA_ID_BYTES])
{
    static const uint8_t nil[NYALA_ID_BYTES];
    return memcmp(id, nil, sizeof nil) == 0;
}

void nyala_id_text(const uint8_t id[NYALA_ID_BYTES], char *to)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;
    for (i = 0; i < NYALA_ID_BYTES; i++) {
        if (after_hyphen(i))
            *to++ = '-';
        *to++ = digits[id[i] >> 4];
        *to++ = digits[id[i] & 15];
    }
}
