/* Command reader: what it accepts, what it refuses, and that no input crashes it. */
#include <string.h>

#include "../core/cmd.h"
#include "check.h"

#define ID "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff"
#define REST ",\"epoch\":4,\"op\":\"start\",\"durasi_s\":60,\"exp\":1800000010"
#define WHOLE "{\"cmd_id\":\"" ID "\"" REST "}"

/* Reads from a heap block of exactly n bytes, so that the sanitizer notices a read beyond it. */
static bool reads_bytes(struct nyala_cmd *cmd, const void *json, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    bool read;
    CHECK(copy);
    if (n)
        memcpy(copy, json, n);
    read = nyala_cmd_read(cmd, copy, n);
    free(copy);
    return read;
}

static bool reads(const char *json)
{
    struct nyala_cmd cmd;
    return reads_bytes(&cmd, json, strlen(json));
}

static void a_command_is_read(void)
{
    static const char json[] = " {\"cmd_id\" : \"0F1E2D3C-4b5a-4978-8695-a4b3c2d1e0ff\",\"epoch\":4,\"op\":\"stop\",\"durasi_s\":60,"
                               "\"exp\":1800000010,\"now_ms\":1800000001000,\"echo\":77}\r\n";
    struct nyala_cmd cmd;
    char id[NYALA_ID_TEXT];
    CHECK(reads_bytes(&cmd, json, sizeof json - 1));
    nyala_id_text(cmd.id, id);
    CHECK(memcmp(id, ID, sizeof id) == 0 && !nyala_id_is_nil(cmd.id));
    CHECK(cmd.epoch == 4 && cmd.op == NYALA_STOP && cmd.duration_s == 60 && cmd.exp_s == 1800000010);
    CHECK(cmd.tells_time && cmd.now_ms == UINT64_C(1800000001000) && cmd.echo_ms == 77);
    CHECK(reads(WHOLE) && reads("{\"op\":\"query\",\"exp\":1,\"epoch\":0,\"cmd_id\":\"00000000-0000-0000-0000-000000000000\"}"));
}

#define PULSE(rest) "{\"cmd_id\":\"" ID "\",\"epoch\":4,\"op\":\"pulse\",\"exp\":1800000010," rest "}"

static void pulses_are_read(void)
{
    static const char *const wrong[] = {
        PULSE("\"n\":4,\"width_ms\":50,\"gap_ms\":100"),
        PULSE("\"durasi_s\":60,\"width_ms\":50,\"gap_ms\":100"),
        PULSE("\"durasi_s\":60,\"n\":4,\"gap_ms\":100"),
        PULSE("\"durasi_s\":60,\"n\":4,\"width_ms\":50"),
        PULSE("\"durasi_s\":60,\"n\":4,\"n\":4,\"width_ms\":50,\"gap_ms\":100"),
        PULSE("\"durasi_s\":60,\"n\":\"4\",\"width_ms\":50,\"gap_ms\":100"),
        PULSE("\"durasi_s\":60,\"n\":4,\"width_ms\":null,\"gap_ms\":100"),
        PULSE("\"durasi_s\":60,\"n\":4,\"width_ms\":50,\"gap_ms\":-1"),
        PULSE("\"durasi_s\":60,\"n\":4,\"width_ms\":50,\"gap_ms\":100,\"sense_s\":1.5"),
        PULSE("\"durasi_s\":60,\"n\":4,\"width_ms\":50,\"gap_ms\":100,\"sense_s\":null,\"sense_s\":60"),
    };
    static const char whole[] = PULSE("\"durasi_s\":60,\"n\":4,\"width_ms\":50,\"gap_ms\":100,\"sense_s\":90");
    static const char without[] = PULSE("\"sense_s\":null,\"durasi_s\":0,\"n\":0,\"width_ms\":9007199254740991,\"gap_ms\":0");
    struct nyala_cmd cmd;
    size_t i;
    CHECK(reads_bytes(&cmd, whole, sizeof whole - 1) && cmd.op == NYALA_PULSE && cmd.duration_s == 60);
    CHECK(cmd.pulses == 4 && cmd.width_ms == 50 && cmd.gap_ms == 100 && cmd.sense_s == 90);
    CHECK(reads_bytes(&cmd, without, sizeof without - 1) && cmd.duration_s == 0 && cmd.pulses == 0 && cmd.sense_s == 60);
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!reads(wrong[i]));
    /* Other commands may have anything there. */
    CHECK(reads("{\"cmd_id\":\"" ID "\"" REST ",\"n\":\"x\",\"n\":[],\"width_ms\":null,\"gap_ms\":{},\"sense_s\":-1}"));
}

static void the_time_needs_both_now_ms_and_echo(void)
{
    struct nyala_cmd cmd;
    const char *parts[] = {"", ",\"now_ms\":5", ",\"echo\":5", ",\"now_ms\":5,\"echo\":null", ",\"now_ms\":null,\"echo\":5"};
    size_t i;
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        char json[300];
        int n = snprintf(json, sizeof json, "{\"cmd_id\":\"" ID "\"" REST "%s}", parts[i]);
        CHECK(reads_bytes(&cmd, json, (size_t)n) && !cmd.tells_time);
    }
}

static void unknown_fields_are_passed_over(void)
{
    const char *values[] = {"1.5e-3", "\"\\u0041\\\\\\\"\xc3\xa9\xf0\x9f\x92\xa7\"", "[]", "{}", "[1,[2,{\"epoch\":[3,null]}],\"x\"]",
                            "{\"epoch\":9,\"a\":{\"b\":[]}}", "true", "-0", "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"};
    size_t i;
    for (i = 0; i < sizeof values / sizeof *values; i++) {
        char json[400];
        snprintf(json, sizeof json, "{\"new\":%s,\"new\":%s,\"cmd_id\":\"" ID "\"" REST ",\"n\\u0065w\" : %s }", values[i], values[i], values[i]);
        CHECK(reads(json));
    }
}

static void everything_else_is_refused(void)
{
    const char *all[] = {
        "", " ", "null", "[]", "{}", "{", "{}{}", WHOLE WHOLE, WHOLE "x", "{\"cmd_id\":\"" ID "\"" REST, "{\"cmd_id\":\"" ID "\"" REST ",}",
        "{,\"cmd_id\":\"" ID "\"" REST "}", "{\"cmd_id\":\"" ID "\"" REST " \"x\":1}", "{\"cmd_id\"\"" ID "\"" REST "}",
        /* A field twice. */
        "{\"cmd_id\":\"" ID "\"" REST ",\"epoch\":4}", "{\"cmd_id\":\"" ID "\"" REST ",\"echo\":null,\"echo\":1}",
        /* A field missing. */
        "{\"epoch\":4,\"op\":\"query\",\"exp\":1}", "{\"cmd_id\":\"" ID "\",\"op\":\"query\",\"exp\":1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":4,\"exp\":1}", "{\"cmd_id\":\"" ID "\",\"epoch\":4,\"op\":\"query\"}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":4,\"op\":\"start\",\"exp\":1}",
        /* Wrong type, or not a whole number. */
        "{\"cmd_id\":7" REST "}", "{\"cmd_id\":null" REST "}", "{\"cmd_id\":\"" ID "\",\"epoch\":\"4\",\"op\":\"query\",\"exp\":1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":null,\"op\":\"query\",\"exp\":1}", "{\"cmd_id\":\"" ID "\",\"epoch\":-1,\"op\":\"query\",\"exp\":1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":1.0,\"op\":\"query\",\"exp\":1}", "{\"cmd_id\":\"" ID "\",\"epoch\":1e2,\"op\":\"query\",\"exp\":1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":01,\"op\":\"query\",\"exp\":1}", "{\"cmd_id\":\"" ID "\",\"epoch\":{},\"op\":\"query\",\"exp\":1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":9007199254740992,\"op\":\"query\",\"exp\":1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":99999999999999999999999999,\"op\":\"query\",\"exp\":1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":1,\"op\":\"query\",\"exp\":1,\"now_ms\":\"1\"}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":1,\"op\":\"query\",\"exp\":1,\"echo\":-1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":1,\"op\":\"begin\",\"exp\":1}", "{\"cmd_id\":\"" ID "\",\"epoch\":1,\"op\":\"queryqueryquery\",\"exp\":1}",
        "{\"cmd_id\":\"" ID "\",\"epoch\":1,\"op\":true,\"exp\":1}",
        /* Not a valid id. */
        "{\"cmd_id\":\"" ID "0\"" REST "}", "{\"cmd_id\":\"0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f\"" REST "}",
        "{\"cmd_id\":\"0f1e2d3c04b5a-4978-8695-a4b3c2d1e0ff\"" REST "}", "{\"cmd_id\":\"gf1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff\"" REST "}",
        /* Not valid JSON. */
        "{\"a\":[1,],\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":[1 2],\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":{1:2},\"cmd_id\":\"" ID "\"" REST "}",
        "{\"a\":[},\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":{]},\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]],\"cmd_id\":\"" ID "\"" REST "}",
        "{\"a\":nul,\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":+1,\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":1.,\"cmd_id\":\"" ID "\"" REST "}",
        "{\"a\":.5,\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":1e,\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":-,\"cmd_id\":\"" ID "\"" REST "}",
        "{\"a\":\"\\x\",\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":\"\\u00g0\",\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":\"\n\",\"cmd_id\":\"" ID "\"" REST "}",
        "{\"a\":\"\xff\",\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":\"\xc0\x80\",\"cmd_id\":\"" ID "\"" REST "}",
        "{\"a\":\"\xed\xa0\x80\",\"cmd_id\":\"" ID "\"" REST "}", "{\"a\":\"\xf4\x90\x80\x80\",\"cmd_id\":\"" ID "\"" REST "}",
        "{\"a\":\"\xe2\x82\",\"cmd_id\":\"" ID "\"" REST "}", "{a:1,\"cmd_id\":\"" ID "\"" REST "}", "{\"cmd_id\":'" ID "'" REST "}",
    };
    struct nyala_cmd cmd;
    size_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (reads(all[i])) {
            fprintf(stderr, "taken: %s\n", all[i]);
            exit(1);
        }
    CHECK(!reads_bytes(&cmd, WHOLE "\0", sizeof WHOLE));
    for (i = 0; i < sizeof WHOLE - 1; i++)
        CHECK(!reads_bytes(&cmd, WHOLE, i));
}

/* Fuzzing: commands with some bytes changed, cut, doubled or moved. The sanitizers find errors of the reader; each command that it
 * accepts must be within the limits. */
static void random_bytes_do_not_crash_the_reader(void)
{
    static const char *const seeds[] = {
        WHOLE,
        "{\"cmd_id\":\"" ID "\",\"epoch\":9007199254740991,\"op\":\"query\",\"exp\":9007199254740991,\"now_ms\":1800000001000,\"echo\":77}",
        PULSE("\"durasi_s\":60,\"n\":4,\"width_ms\":50,\"gap_ms\":100,\"sense_s\":90"),
        "{\"a\":[1,{\"b\":\"\\u12aB\xe2\x82\xac\"},-1.5e+7,true,false,null],\"cmd_id\":\"" ID "\"" REST ",\"echo\":null}",
    };
    static const char signs[] = "{}[]:,\"\\ue+-.0189tfn \xc3\xe2\x80\xff";
    const char *rounds_wanted = getenv("NYALA_FUZZ_ROUNDS");
    long rounds = rounds_wanted ? atol(rounds_wanted) : 200000, round, taken = 0;
    uint64_t x = 88172645463325252u;
    for (round = 0; round < rounds; round++) {
        uint8_t json[600];
        struct nyala_cmd cmd;
        const char *seed = seeds[round % 4];
        size_t n = strlen(seed);
        int changes;
        memcpy(json, seed, n);
        for (changes = (int)(round % 5); changes > 0; changes--) {
            size_t at, k;
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            at = (size_t)(x >> 8) % (n ? n : 1);
            k = (size_t)(x >> 40) % 24;
            switch (x % 5) {
            case 0: json[at] = (uint8_t)(x >> 32); break;
            case 1: json[at] = (uint8_t)signs[(x >> 32) % (sizeof signs - 1)]; break;
            case 2: n = at; break;
            case 3:
                k = at + k < n ? k : n - at;
                memmove(json + at, json + at + k, n - at - k);
                n -= k;
                break;
            default:
                k = at + k < n ? k : n - at;
                k = n + k < sizeof json ? k : 0;
                memmove(json + at + k, json + at, n - at);
                n += k;
            }
        }
        if (reads_bytes(&cmd, json, n)) {
            taken++;
            CHECK(cmd.epoch <= NYALA_WHOLE_MAX && cmd.exp_s <= NYALA_WHOLE_MAX && cmd.now_ms <= NYALA_WHOLE_MAX);
            CHECK(cmd.op >= NYALA_START && cmd.op <= NYALA_PULSE && cmd.pulses <= NYALA_WHOLE_MAX && cmd.sense_s <= NYALA_WHOLE_MAX);
        }
    }
    printf("   %ld of %ld were commands\n", taken, rounds);
}

int main(void)
{
    RUN(a_command_is_read);
    RUN(pulses_are_read);
    RUN(the_time_needs_both_now_ms_and_echo);
    RUN(unknown_fields_are_passed_over);
    RUN(everything_else_is_refused);
    RUN(random_bytes_do_not_crash_the_reader);
    return 0;
}
