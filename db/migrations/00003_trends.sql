-- +goose Up
-- Trends are read from sums that are kept in the same transaction as the run or the decision that changes them, so no page grows with the
-- whole history.

-- What the trends count: each (session, unit, content) once, as the latest finished run found it (design §4). The key is the SHA-256 of the
-- three: names come from outside and may be longer than an index takes. It is also what the search goes through. Runs of the demo model and
-- of the sample stand apart: they can be found, but are in no sum.
CREATE TABLE counted_units (
    key            bytea       PRIMARY KEY,
    manifest_id    bigint      NOT NULL REFERENCES manifests (id) ON DELETE CASCADE,
    run_id         bigint      NOT NULL,
    ord            integer     NOT NULL,
    session        bytea       NOT NULL,              -- as in flag_history
    unit           text        NOT NULL,
    repo           text        NOT NULL,              -- canonical name, at most 200 bytes
    type           text        NOT NULL,
    stamped        timestamptz NOT NULL,              -- the manifest's own time
    demo           boolean     NOT NULL,
    misroute       boolean     NOT NULL,
    contra         boolean     NOT NULL,
    dup            boolean     NOT NULL,
    ok             boolean     NOT NULL,
    unjudged       boolean     NOT NULL,
    open_owner     smallint    NOT NULL DEFAULT 0,    -- flags that each has still to decide
    open_claude    smallint    NOT NULL DEFAULT 0,
    differ         boolean     NOT NULL DEFAULT false,
    owner_choices  text[]      NOT NULL DEFAULT '{}', -- what each decided and still holds
    claude_choices text[]      NOT NULL DEFAULT '{}',
    search         tsvector    NOT NULL,              -- words of unit, title, text and judge note, folded by db.words
    FOREIGN KEY (run_id, ord) REFERENCES units (run_id, ord) ON DELETE CASCADE
);
CREATE INDEX counted_run ON counted_units (run_id, ord);
CREATE INDEX counted_manifest ON counted_units (manifest_id);
CREATE INDEX counted_session ON counted_units (session);
CREATE INDEX counted_order ON counted_units (stamped, run_id, ord);
CREATE INDEX counted_repo ON counted_units (repo, stamped, run_id, ord);
CREATE INDEX counted_type ON counted_units (type, stamped, run_id, ord);
CREATE INDEX counted_misroute ON counted_units (stamped, run_id, ord) WHERE misroute;
CREATE INDEX counted_contra ON counted_units (stamped, run_id, ord) WHERE contra;
CREATE INDEX counted_dup ON counted_units (stamped, run_id, ord) WHERE dup;
CREATE INDEX counted_flagged ON counted_units (stamped, run_id, ord) WHERE misroute OR contra OR dup;
CREATE INDEX counted_unjudged ON counted_units (stamped, run_id, ord) WHERE unjudged;
CREATE INDEX counted_open_owner ON counted_units (stamped, run_id, ord) WHERE open_owner > 0;
CREATE INDEX counted_open_claude ON counted_units (stamped, run_id, ord) WHERE open_claude > 0;
CREATE INDEX counted_differ ON counted_units (stamped, run_id, ord) WHERE differ;
CREATE INDEX counted_search ON counted_units USING gin (search) WITH (fastupdate = off);
CREATE INDEX counted_owner_land ON counted_units (stamped, run_id, ord) WHERE owner_choices @> '{land}';
CREATE INDEX counted_owner_fix ON counted_units (stamped, run_id, ord) WHERE owner_choices @> '{fix}';
CREATE INDEX counted_owner_accept ON counted_units (stamped, run_id, ord) WHERE owner_choices @> '{accept}';
CREATE INDEX counted_owner_drop ON counted_units (stamped, run_id, ord) WHERE owner_choices @> '{drop-as-dup}';
CREATE INDEX counted_owner_decided ON counted_units (stamped, run_id, ord) WHERE open_owner = 0 AND owner_choices <> '{}';
CREATE INDEX counted_claude_land ON counted_units (stamped, run_id, ord) WHERE claude_choices @> '{land}';
CREATE INDEX counted_claude_fix ON counted_units (stamped, run_id, ord) WHERE claude_choices @> '{fix}';
CREATE INDEX counted_claude_accept ON counted_units (stamped, run_id, ord) WHERE claude_choices @> '{accept}';
CREATE INDEX counted_claude_drop ON counted_units (stamped, run_id, ord) WHERE claude_choices @> '{drop-as-dup}';
CREATE INDEX counted_claude_decided ON counted_units (stamped, run_id, ord) WHERE open_claude = 0 AND claude_choices <> '{}';

-- False until a finished run is in the sums: runs from before this migration are brought in at the next start.
ALTER TABLE runs ADD COLUMN counted boolean NOT NULL DEFAULT false;
CREATE INDEX runs_uncounted ON runs (id) WHERE status = 'done' AND NOT counted;

-- The sums: units by flag, flags raised and resolved, and what both cosigners decided. All zones in use are offset by whole quarters of an
-- hour, so quarters hold for any zone; the days are of one zone (settings: trends-zone) and are made anew from the quarters for another.
CREATE TABLE trend_quarters (
    repo          text        NOT NULL,
    bucket        timestamptz NOT NULL,               -- begin of the quarter of an hour
    units         integer NOT NULL DEFAULT 0,
    misroute      integer NOT NULL DEFAULT 0,
    contra        integer NOT NULL DEFAULT 0,
    dup           integer NOT NULL DEFAULT 0,
    ok            integer NOT NULL DEFAULT 0,
    unjudged      integer NOT NULL DEFAULT 0,
    raised        integer NOT NULL DEFAULT 0,
    resolved      integer NOT NULL DEFAULT 0,
    agreed        integer NOT NULL DEFAULT 0,         -- flags on which both decided the same
    owner_land    integer NOT NULL DEFAULT 0,         -- flags that both have decided, by what each chose
    owner_fix     integer NOT NULL DEFAULT 0,
    owner_accept  integer NOT NULL DEFAULT 0,
    owner_drop    integer NOT NULL DEFAULT 0,
    claude_land   integer NOT NULL DEFAULT 0,
    claude_fix    integer NOT NULL DEFAULT 0,
    claude_accept integer NOT NULL DEFAULT 0,
    claude_drop   integer NOT NULL DEFAULT 0,
    confirmed_misroute integer NOT NULL DEFAULT 0,    -- decisions (two per flag) that say the flag was right: fix, drop-as-dup
    confirmed_contra   integer NOT NULL DEFAULT 0,
    confirmed_dup      integer NOT NULL DEFAULT 0,
    refuted_misroute   integer NOT NULL DEFAULT 0,    -- decisions that say it was not: land, accept
    refuted_contra     integer NOT NULL DEFAULT 0,
    refuted_dup        integer NOT NULL DEFAULT 0,
    waited_hour   integer NOT NULL DEFAULT 0,         -- flags by the time until both had decided, each at most that long
    waited_4hours integer NOT NULL DEFAULT 0,
    waited_day    integer NOT NULL DEFAULT 0,
    waited_3days  integer NOT NULL DEFAULT 0,
    waited_week   integer NOT NULL DEFAULT 0,
    waited_month  integer NOT NULL DEFAULT 0,
    waited_longer integer NOT NULL DEFAULT 0,
    PRIMARY KEY (repo, bucket)
);
CREATE TABLE trend_days (LIKE trend_quarters INCLUDING DEFAULTS);
ALTER TABLE trend_days DROP COLUMN bucket;
ALTER TABLE trend_days ADD COLUMN day date NOT NULL, ADD PRIMARY KEY (repo, day);
CREATE INDEX trend_days_day ON trend_days (day);

-- What runs were judged with, per UTC day of the manifest: marks on the time axis. runs counts the manifests whose latest run it was.
CREATE TABLE trend_settings (
    day      date        NOT NULL,
    kind     text        NOT NULL,                    -- judge-model, prompt, embed-model, policy, corpus
    value    text        NOT NULL,
    first_at timestamptz NOT NULL,
    runs     integer     NOT NULL,
    PRIMARY KEY (day, kind, value)
);
CREATE INDEX trend_settings_kind ON trend_settings (kind, day);

-- One row per flag of a session: (session, unit, kind, label), key and session as SHA-256.
CREATE TABLE flag_history (
    key       bytea       PRIMARY KEY,
    session   bytea       NOT NULL,
    unit      text        NOT NULL,
    kind      text        NOT NULL,
    label     text        NOT NULL,
    repo      text        NOT NULL,
    raised    timestamptz NOT NULL,                   -- quarter of the manifest that first showed it
    seen_at   timestamptz NOT NULL,                   -- when it could first be read
    resolved  timestamptz,                            -- quarter in which it went; NULL: it stands
    how       text        NOT NULL DEFAULT '',        -- gone: the session's latest manifest lacks it; decided: both said fix or drop
    owner     text        NOT NULL DEFAULT '',        -- what both decided, last; empty until both have
    claude    text        NOT NULL DEFAULT '',
    decided   timestamptz,                            -- quarter in which the second of the two decided
    waited    smallint    NOT NULL DEFAULT 0          -- class of the time from seen_at until then
);
CREATE INDEX flag_history_session ON flag_history (session);
CREATE INDEX flag_history_raised ON flag_history (raised);
CREATE INDEX flag_history_resolved ON flag_history (resolved) WHERE resolved IS NOT NULL;

-- How often an item was among the nearest of a counted unit, and with what label.
CREATE TABLE item_tallies (
    item   text    PRIMARY KEY,
    met    integer NOT NULL,
    contra integer NOT NULL,
    dup    integer NOT NULL
);
CREATE INDEX item_tallies_contra ON item_tallies (contra DESC, item) WHERE contra > 0;

-- Retention (STOROZH_KEEP_RAW): the bytes go, the record stays.
ALTER TABLE manifests ADD COLUMN raw_dropped_at timestamptz;
CREATE INDEX manifests_raw ON manifests (received_at) WHERE raw_dropped_at IS NULL;
