-- +goose Up
-- Two cosigners decide. Decisions are only ever added; what holds is the latest one of a cosigner whose basis is the flag's.
CREATE TABLE flags (
    run_id    bigint  NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    ord       integer NOT NULL,                       -- in the order of the page, from 0
    unit      text    NOT NULL,
    kind      text    NOT NULL CHECK (kind IN ('routing', 'semantic')),
    label     text    NOT NULL CHECK (label IN ('misroute', 'contra', 'dup')),
    unit_hash text    NOT NULL,                       -- hex SHA-256 of type and text
    covers    text[]  NOT NULL,                       -- what the flag rests on, sorted
    PRIMARY KEY (run_id, ord)
);

CREATE TABLE decisions (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    manifest_id bigint      NOT NULL REFERENCES manifests (id) ON DELETE CASCADE,
    run_id      bigint      NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    cosigner    text        NOT NULL CHECK (cosigner IN ('owner', 'claude')),
    unit        text        NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('routing', 'semantic')),
    label       text        NOT NULL CHECK (label IN ('misroute', 'contra', 'dup')),
    unit_hash   text        NOT NULL,
    covers      text[]      NOT NULL,
    decision    text        NOT NULL CHECK (decision IN ('land', 'fix', 'accept', 'drop-as-dup')),
    rationale   text        NOT NULL,
    carried_id  bigint      REFERENCES decisions (id),
    decided_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX decisions_manifest ON decisions (manifest_id);
CREATE INDEX decisions_content ON decisions (unit_hash, kind, label);

-- Who asked to see the other's decision before deciding, and when.
CREATE TABLE reveals (
    manifest_id bigint      NOT NULL REFERENCES manifests (id) ON DELETE CASCADE,
    cosigner    text        NOT NULL CHECK (cosigner IN ('owner', 'claude')),
    unit        text        NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('routing', 'semantic')),
    revealed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (manifest_id, cosigner, unit, kind)
);

-- Kept beside the manifest so that queues and their counts need no look through all decisions. NULL: not judged yet.
ALTER TABLE manifests
    ADD COLUMN open_owner  integer,
    ADD COLUMN open_claude integer,
    ADD COLUMN differ      integer NOT NULL DEFAULT 0;
CREATE INDEX manifests_queue ON manifests (open_owner, open_claude) WHERE superseded_by IS NULL;
CREATE INDEX runs_judged ON runs (manifest_id, id DESC) WHERE status = 'done';
CREATE INDEX pairs_item ON pairs (item);
