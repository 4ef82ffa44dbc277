/* The client's side of MQTT 3.1.1, as much of it as a device needs: clean sessions, QoS 0 and 1, packets of 512 bytes. Bytes in, bytes
 * out; who has a line writes and reads them. */
#ifndef NYALA_MQTT_H
#define NYALA_MQTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NYALA_PACKET_BYTES = 512,
    /* What may wait for the line: a login and some words. */
    NYALA_MQTT_OUT_BYTES = 2048
};

enum nyala_mqtt_event {
    /* All bytes are taken, and no further packet is whole. */
    NYALA_MQTT_NOTHING,
    NYALA_MQTT_ACCEPTED,
    NYALA_MQTT_REFUSED,
    NYALA_MQTT_GRANTED,
    NYALA_MQTT_DENIED,
    /* A message; one of QoS 1 has been acknowledged. */
    NYALA_MQTT_MESSAGE,
    NYALA_MQTT_ARRIVED,
    NYALA_MQTT_PONG,
    /* The server does not speak MQTT 3.1.1 to this client: the line is to be closed. */
    NYALA_MQTT_VIOLATION
};

struct nyala_mqtt_message {
    /* Valid until the next call. */
    const uint8_t *topic, *payload;
    size_t topic_n, payload_n;
    bool retained;
};

struct nyala_mqtt_login {
    const char *client_id, *user, *secret, *will_topic, *will;
    size_t will_n;
    uint16_t keep_alive_s;
};

struct nyala_mqtt {
    uint8_t in[NYALA_PACKET_BYTES], out[NYALA_MQTT_OUT_BYTES];
    /* in: how much of a packet is there; done: it was told, and makes room for the next. */
    size_t in_n, out_n;
    uint16_t id;
    bool done, accepted;
};

/* A line begins, and logs in. False, here and below: it does not fit, and nothing of it is sent. */
bool nyala_mqtt_connect(struct nyala_mqtt *mqtt, const struct nyala_mqtt_login *login);
bool nyala_mqtt_subscribe(struct nyala_mqtt *mqtt, const char *topic, uint8_t qos);
bool nyala_mqtt_publish(struct nyala_mqtt *mqtt, const char *topic, const void *payload, size_t n, uint8_t qos, bool retain);
bool nyala_mqtt_ping(struct nyala_mqtt *mqtt);

/* Takes bytes from the front of what the line gave, up to the end of the next packet, and tells what that was. */
enum nyala_mqtt_event nyala_mqtt_feed(struct nyala_mqtt *mqtt, const uint8_t **bytes, size_t *n, struct nyala_mqtt_message *message);
/* The line has taken so many of the bytes in `out`. */
void nyala_mqtt_sent(struct nyala_mqtt *mqtt, size_t n);

#endif
