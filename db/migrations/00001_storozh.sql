-- +goose Up
-- The first schema. Names are the words of core: manifest, run, unit, pair, item, verdict.
CREATE EXTENSION IF NOT EXISTS vector;

-- One row per content: content_hash is the SHA-256 of the bytes without the storozh block, so the same manifest is the same row
-- whichever way it came in.
CREATE TABLE manifests (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    content_hash  bytea       NOT NULL UNIQUE,
    session_id    text        NOT NULL,
    stamped_at    timestamptz,                        -- the manifest's own timestamp; NULL when unreadable
    received_at   timestamptz NOT NULL DEFAULT now(),
    source        text        NOT NULL,
    target        text        NOT NULL DEFAULT '',    -- file the block belongs in; empty: off
    raw           bytea       NOT NULL,               -- gzip of the bytes as they came
    superseded_by bigint      REFERENCES manifests (id)
);
CREATE INDEX manifests_open ON manifests (id DESC) WHERE superseded_by IS NULL;
CREATE INDEX manifests_session ON manifests (session_id) WHERE session_id <> '';
CREATE INDEX manifests_superseded ON manifests (superseded_by) WHERE superseded_by IS NOT NULL;

-- A run is claimed with FOR UPDATE SKIP LOCKED, holds a lease while it works, and its fence refuses the writes of an older claim.
CREATE TABLE runs (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    manifest_id      bigint      NOT NULL REFERENCES manifests (id) ON DELETE CASCADE,
    status           text        NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    fresh            boolean     NOT NULL DEFAULT false,
    attempt          integer     NOT NULL DEFAULT 0,
    fence            bigint      NOT NULL DEFAULT 0,
    lease_until      timestamptz,
    not_before       timestamptz NOT NULL DEFAULT now(),
    cancel_requested boolean     NOT NULL DEFAULT false,
    progress_done    integer     NOT NULL DEFAULT 0,
    progress_of      integer     NOT NULL DEFAULT 0,
    error            text        NOT NULL DEFAULT '',
    demo             boolean     NOT NULL DEFAULT false,
    judge_model      text        NOT NULL DEFAULT '',
    embed_model      text        NOT NULL DEFAULT '',
    prompt_version   text        NOT NULL DEFAULT '',
    policy_source    text        NOT NULL DEFAULT '',
    add_commands     text[]      NOT NULL DEFAULT '{}',
    block            json,                            -- json, not jsonb: keys keep the order of the contract
    write_state      text        NOT NULL DEFAULT 'off',
    write_path       text        NOT NULL DEFAULT '',
    write_at         timestamptz,
    write_detail     text        NOT NULL DEFAULT '',
    queued_at        timestamptz NOT NULL DEFAULT now(),
    started_at       timestamptz,
    finished_at      timestamptz
);
-- At most one unfinished run per manifest; also what a claim looks through.
CREATE UNIQUE INDEX runs_unfinished ON runs (manifest_id) WHERE status IN ('queued', 'running');
CREATE INDEX runs_latest ON runs (manifest_id, id DESC);

CREATE TABLE units (
    run_id     bigint  NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    ord        integer NOT NULL,                      -- the block's order, from 0
    unit       text    NOT NULL,
    observed   text    NOT NULL,
    repo       text    NOT NULL,
    path       text    NOT NULL,
    old_path   text    NOT NULL,
    anchor     text    NOT NULL,
    type       text    NOT NULL,
    home       text    NOT NULL,
    action     text    NOT NULL,
    title      text    NOT NULL,
    text       text    NOT NULL,
    normative  text    NOT NULL,
    replaces   text[]  NOT NULL,
    start_line integer NOT NULL,
    end_line   integer NOT NULL,
    diff       text    NOT NULL,
    routing    text    NOT NULL,
    expected   text    NOT NULL,
    severity   text    NOT NULL,
    semantic   text    NOT NULL,                      -- empty: no honest label
    against    text[]  NOT NULL,
    judge_note text    NOT NULL,
    unjudged   boolean NOT NULL,
    PRIMARY KEY (run_id, ord)
);

CREATE TABLE pairs (
    run_id     bigint           NOT NULL,
    ord        integer          NOT NULL,
    rank       integer          NOT NULL,             -- 1 = nearest
    item       text             NOT NULL,
    item_title text             NOT NULL,
    item_text  text             NOT NULL,             -- as it was when judged: items change, records do not
    similarity double precision NOT NULL,
    label      text             NOT NULL,             -- empty: unjudged
    note       text             NOT NULL,
    cached     boolean          NOT NULL,
    unjudged   text             NOT NULL,             -- why there is no label
    unit_hash  bytea            NOT NULL,
    item_hash  bytea            NOT NULL,
    judge      text             NOT NULL,
    prompt     text             NOT NULL,
    PRIMARY KEY (run_id, ord, rank),
    FOREIGN KEY (run_id, ord) REFERENCES units (run_id, ord) ON DELETE CASCADE
);

-- The corpus as last read well; a folder that cannot be read any more keeps its last good items, marked stale.
CREATE TABLE corpora (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dir     text        NOT NULL UNIQUE,
    commit  text        NOT NULL DEFAULT '',
    read_at timestamptz,
    stale   boolean     NOT NULL DEFAULT false,
    reason  text        NOT NULL DEFAULT '',
    faults  json        NOT NULL DEFAULT '[]'
);

CREATE TABLE items (
    corpus_id  bigint  NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
    item       text    NOT NULL,
    path       text    NOT NULL,
    anchor     text    NOT NULL,
    kind       text    NOT NULL,
    title      text    NOT NULL,
    text       text    NOT NULL,
    normative  text    NOT NULL,
    start_line integer NOT NULL,
    end_line   integer NOT NULL,
    blob       text    NOT NULL,
    text_hash  bytea   NOT NULL,                      -- SHA-256 of title and normative text
    PRIMARY KEY (corpus_id, item)
);
CREATE INDEX items_path ON items (corpus_id, path);

-- Vectors of two models are never compared: a model is its name, the prefix it wants and the length of its vectors.
CREATE TABLE embed_models (
    id     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name   text    NOT NULL,
    prefix text    NOT NULL,
    dim    integer NOT NULL,
    UNIQUE (name, prefix, dim)
);

-- 768-dimension rows stay inline (EXTERNAL, not compressed, with a page-sized tuple target), which makes exact search 3-4 times quicker.
CREATE TABLE embeddings (
    model_id  integer NOT NULL REFERENCES embed_models (id) ON DELETE CASCADE,
    text_hash bytea   NOT NULL,
    embedding vector  NOT NULL,
    PRIMARY KEY (model_id, text_hash)
) WITH (toast_tuple_target = 8160);
ALTER TABLE embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;

-- What a judge once said of two texts. The key covers model, prompt version and both text hashes, so a verdict is never used for
-- anything else than what was asked.
CREATE TABLE verdicts (
    key        bytea            PRIMARY KEY,
    label      text             NOT NULL CHECK (label IN ('contra', 'dup', 'ok')),
    reason     text             NOT NULL,
    judge      text             NOT NULL,
    prompt     text             NOT NULL,
    unit_hash  bytea            NOT NULL,
    item_hash  bytea            NOT NULL,
    similarity double precision NOT NULL,
    judged_at  timestamptz      NOT NULL DEFAULT now()
);

-- Sign-in. Only SHA-256 hashes of tokens and links are kept.
CREATE TABLE cosigner_tokens (
    cosigner   text        PRIMARY KEY CHECK (cosigner IN ('owner', 'claude')),
    hash       bytea       NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE login_links (
    hash       bytea       PRIMARY KEY,
    cosigner   text        NOT NULL CHECK (cosigner IN ('owner', 'claude')),
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);
-- The shape that scs' Postgres store expects.
CREATE TABLE sessions (
    token  text        PRIMARY KEY,
    data   bytea       NOT NULL,
    expiry timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expiry);

CREATE TABLE settings (
    key   text  PRIMARY KEY,
    value bytea NOT NULL
);
