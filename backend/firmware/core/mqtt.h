/* MQTT 3.1.1 client, the subset that a device needs: clean sessions, QoS 0 and 1, packets of at most 512 bytes. It works on byte
 * buffers; the caller reads from and writes to the connection. */
#ifndef NYALA_MQTT_H
#define NYALA_MQTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NYALA_PACKET_BYTES = 512,
    /* Size of the send buffer: a login and several messages. */
    NYALA_MQTT_OUT_BYTES = 2048
};

enum nyala_mqtt_event {
    /* All bytes are consumed, and no further packet is complete. */
    NYALA_MQTT_NOTHING,
    NYALA_MQTT_ACCEPTED,
    NYALA_MQTT_REFUSED,
    NYALA_MQTT_GRANTED,
    NYALA_MQTT_DENIED,
    /* A message. For QoS 1, its PUBACK is already in `out`. */
    NYALA_MQTT_MESSAGE,
    NYALA_MQTT_ARRIVED,
    NYALA_MQTT_PONG,
    /* The server violates MQTT 3.1.1: close the connection. */
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
    /* in_n: bytes of the current packet. done: that packet was returned, and the next one overwrites it. */
    size_t in_n, out_n;
    uint16_t id;
    bool done, accepted;
};

/* Starts a connection with a login. False, here and below: the packet does not fit, and no part of it is sent. */
bool nyala_mqtt_connect(struct nyala_mqtt *mqtt, const struct nyala_mqtt_login *login);
bool nyala_mqtt_subscribe(struct nyala_mqtt *mqtt, const char *topic, uint8_t qos);
bool nyala_mqtt_publish(struct nyala_mqtt *mqtt, const char *topic, const void *payload, size_t n, uint8_t qos, bool retain);
bool nyala_mqtt_ping(struct nyala_mqtt *mqtt);

/* Consumes received bytes up to the end of the next packet, and returns what that packet was. */
enum nyala_mqtt_event nyala_mqtt_feed(struct nyala_mqtt *mqtt, const uint8_t **bytes, size_t *n, struct nyala_mqtt_message *message);
/* Removes the first n bytes from `out`: the connection has sent them. */
void nyala_mqtt_sent(struct nyala_mqtt *mqtt, size_t n);

#endif
