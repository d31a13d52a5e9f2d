-- +goose Up
-- Each request to the webhook, whatever became of it. The body of an accepted one is its manifest; of others nothing is kept.
CREATE TABLE deliveries (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery_id text        NOT NULL,                 -- the sender's webhook-id; empty: none
    received_at timestamptz NOT NULL,
    remote      text        NOT NULL,
    headers     json        NOT NULL,                 -- secrets masked
    size        bigint      NOT NULL,                 -- bytes on the wire
    body_hash   bytea,                                -- SHA-256 of the decoded body
    verdict     text        NOT NULL CHECK (verdict IN ('unauthorized', 'too large', 'bad encoding', 'bad JSON', 'refused', 'conflict',
                                                        'replay', 'failed', 'accepted')),
    status      integer     NOT NULL,                 -- of the answer; 0: the sender still waits
    answer      bytea,
    answer_by   timestamptz,
    duration_ms bigint      NOT NULL,
    manifest_id bigint      REFERENCES manifests (id) ON DELETE SET NULL
);
-- An id is taken by the first delivery that was accepted under it. The index is what makes twins wait for each other.
CREATE UNIQUE INDEX deliveries_first ON deliveries (delivery_id) WHERE verdict = 'accepted' AND delivery_id <> '';
CREATE INDEX deliveries_age ON deliveries (received_at);
CREATE INDEX deliveries_manifest ON deliveries (manifest_id) WHERE manifest_id IS NOT NULL;
CREATE INDEX deliveries_other ON deliveries (id DESC) WHERE verdict <> 'accepted';

-- Who did what. Only ever added to; failed sign-ins, which a stranger can cause, are bounded.
CREATE TABLE audit (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     timestamptz NOT NULL DEFAULT now(),
    who    text        NOT NULL,                      -- owner, claude, storozh; empty: a stranger
    what   text        NOT NULL,
    detail text        NOT NULL
);
CREATE INDEX audit_failed ON audit (id DESC) WHERE what = 'sign-in failed';
