-- Whether a device answers that is connected to another server than the one where somebody pays (docs/cluster.md).
CREATE TABLE device_question (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idmesin BIGINT NOT NULL,
    asked_at TIMESTAMPTZ NOT NULL,
    answers BOOLEAN -- NULL: its server has not said
);
