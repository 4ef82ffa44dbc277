/* JSON object reader: one member at a time, strict, without allocation, limited in depth. */
#ifndef NYALA_JSON_H
#define NYALA_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest whole number that every JSON reader keeps exact. A larger one is neither sent nor accepted. */
#define NYALA_WHOLE_MAX UINT64_C(9007199254740991)

enum nyala_json_kind {
    NYALA_JSON_NULL,
    NYALA_JSON_BOOL,
    NYALA_JSON_NUMBER,
    NYALA_JSON_TEXT,
    /* An object or an array, checked to be well-formed. */
    NYALA_JSON_NESTED
};

struct nyala_json_member {
    /* Raw text: without quotes, escapes not resolved. */
    const uint8_t *key, *value;
    size_t key_n, value_n;
    enum nyala_json_kind kind;
};

struct nyala_json {
    const uint8_t *at, *end;
    bool begun;
};

enum nyala_json_step { NYALA_JSON_MEMBER, NYALA_JSON_END, NYALA_JSON_MALFORMED };

void nyala_json_begin(struct nyala_json *json, const uint8_t *bytes, size_t n);
/* Reads the next member. Do not use any member before NYALA_JSON_END: the rest may be malformed. */
enum nyala_json_step nyala_json_next(struct nyala_json *json, struct nyala_json_member *member);

bool nyala_json_is(const struct nyala_json_member *member, const char *key);
/* True if the value is a whole number from 0 to NYALA_WHOLE_MAX, written without fraction and exponent. */
bool nyala_json_whole(const struct nyala_json_member *member, uint64_t *to);
/* True if the value is ASCII text that fits together with its NUL; escapes are resolved. */
bool nyala_json_text(const struct nyala_json_member *member, char *to, size_t size);

#endif
