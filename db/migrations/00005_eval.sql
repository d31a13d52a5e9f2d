-- +goose Up
-- What `web eval` measured. The columns are what runs are told apart by; the figures are one document, read and shown as a whole.
CREATE TABLE evaluations (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    made_at        timestamptz NOT NULL,
    demo           boolean     NOT NULL,
    judge          text        NOT NULL,             -- model; empty: no judge was measured
    prompt         text        NOT NULL,             -- version of the wording
    set_name       text        NOT NULL,             -- dev, test or all
    set_hash       text        NOT NULL,             -- hex SHA-256 of the pairs
    embedder       text        NOT NULL,             -- model; empty: no retrieval was measured
    retrieval_hash text        NOT NULL,
    report         jsonb       NOT NULL
);
CREATE INDEX evaluations_made ON evaluations (made_at DESC, id DESC);
