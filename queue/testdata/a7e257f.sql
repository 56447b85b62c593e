-- The tables of a queue at commit a7e257f, by pg_dump: an event of each kind.
CREATE TABLE signforms_events (
    id bigint NOT NULL,
    dedupe bytea NOT NULL,
    line_id bigint NOT NULL,
    line text NOT NULL,
    type text NOT NULL,
    subject text NOT NULL,
    signers text NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    received bigint NOT NULL,
    settled bigint DEFAULT 0 NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    body bytea
);
ALTER TABLE signforms_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME signforms_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE signforms_lines (
    id bigint NOT NULL,
    due bigint NOT NULL,
    lease bigint DEFAULT 0 NOT NULL,
    token bigint DEFAULT 0 NOT NULL,
    head bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE signforms_queue_schema (
    version integer NOT NULL
);
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (4, '\x6b7d3f4f34b695eaf3a659aed6daf8de500779dac476b9c3cf3f2a2d0244becc', 2375646120612000211, 'document:retrying', 'new_signature_pdf_completed', 'retrying', '', 0, 0, 1795345769376, 0, '', '\x7b22776562686f6f6b4576656e74223a226e65775f7369676e61747572655f7064665f636f6d706c65746564222c22646f63756d656e744e616d65223a2232222c22646f63756d656e744964223a227265747279696e67227d');
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (6, '\x333aea0809407f573dfe803945c01f455ed23276f27c59d2bcacc1ab039f1513', -1834596861112456444, 'event:333aea0809407f573dfe803945c01f455ed23276f27c59d2bcacc1ab039f1513', 'news', '', '', 0, 0, 1795345769378, 0, '', '\x7b22776562686f6f6b4576656e74223a226e657773222c2261626f7574223a7b22696473223a5b22627572696564225d7d7d');
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (5, '\x5766a0e09a0860354eee88efde9df8b4b72c713a4a5e7728f581dd5f2287e3ed', 6103775639107599483, 'event:5766a0e09a0860354eee88efde9df8b4b72c713a4a5e7728f581dd5f2287e3ed', 'new_signature_pdf_completed', 'odd', '', 2, 1, 1795345769378, 1795345769392, 'webhook: field signers is not an array of objects; Funcs.Unknown would take the event', '\x7b22776562686f6f6b4576656e74223a226e65775f7369676e61747572655f7064665f636f6d706c65746564222c22646f63756d656e744964223a226f6464222c227369676e657273223a377d');
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (2, '\x022161a12eb81896bd0090942b896d8776feacad3c6bde14dd3dd97bc1bc3cc5', 2563948186101603136, 'document:failed', 'new_signature_pdf_completed', 'failed', '', 2, 1, 1795345769376, 1795345769395, 'no luck', '\x7b22776562686f6f6b4576656e74223a226e65775f7369676e61747572655f7064665f636f6d706c65746564222c22646f63756d656e744e616d65223a2231222c22646f63756d656e744964223a226661696c6564227d');
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (3, '\xce7afe4946b7aef03d018095444aac82ec574a2aba67a2ff9e9964a851031b93', 2375646120612000211, 'document:retrying', 'new_signature_pdf_completed', 'retrying', '', 0, 1, 1795345769376, 0, 'later', '\x7b22776562686f6f6b4576656e74223a226e65775f7369676e61747572655f7064665f636f6d706c65746564222c22646f63756d656e744e616d65223a2231222c22646f63756d656e744964223a227265747279696e67227d');
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (1, '\xf31b3e323c252c48a0a5426633002a22de21943d92c604dd0346cad7e43514b9', -3601324755625387731, 'document:done', 'new_signature_pdf_completed', 'done', '', 1, 0, 1795345769376, 1795345769400, '', NULL);
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (7, '\x1e1d0f251d3a76fa2b1bfc81164078572623403887db02988b504b0492e9f076', -6510451437569708328, 'event:1e1d0f251d3a76fa2b1bfc81164078572623403887db02988b504b0492e9f076', '', '', '', 2, 1, 1795345769378, 1795345769401, 'webhook: element is not a JSON object; Funcs.Unknown would take the event', '\x227465787422');
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (8, '\x8d25ce96fa08f42cfa6694def8f5224d82e1ae9309482f4fdd61f340fdeac2be', -8967311365369179135, 'document:fresh', 'new_signature_pdf_completed', 'fresh', '', 0, 0, 1795345769413, 0, '', '\x7b22776562686f6f6b4576656e74223a226e65775f7369676e61747572655f7064665f636f6d706c65746564222c22646f63756d656e744e616d65223a2231222c22646f63756d656e744964223a226672657368227d');
INSERT INTO signforms_events OVERRIDING SYSTEM VALUE VALUES (9, '\xd8001c1028fa82dd9c31c4444f2220d79e63644fd34420fc6caa3e08b3544cdb', -8967311365369179135, 'document:fresh', 'new_signature_pdf_completed', 'fresh', '', 0, 0, 1795345769413, 0, '', '\x7b22776562686f6f6b4576656e74223a226e65775f7369676e61747572655f7064665f636f6d706c65746564222c22646f63756d656e744e616d65223a2232222c22646f63756d656e744964223a226672657368227d');
INSERT INTO signforms_lines VALUES (2375646120612000211, 1795372105203, 0, 0, 0);
INSERT INTO signforms_lines VALUES (-1834596861112456444, 1795345769411, 0, 0, 0);
INSERT INTO signforms_lines VALUES (-8967311365369179135, 1795345769413, 0, 0, 0);
INSERT INTO signforms_queue_schema VALUES (1);
SELECT setval('signforms_events_id_seq', 9, true);
ALTER TABLE ONLY signforms_events
    ADD CONSTRAINT signforms_events_dedupe_key UNIQUE (dedupe);
ALTER TABLE ONLY signforms_events
    ADD CONSTRAINT signforms_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY signforms_lines
    ADD CONSTRAINT signforms_lines_pkey PRIMARY KEY (id);
CREATE INDEX signforms_events_bodies ON signforms_events USING btree (settled) WHERE ((state = 1) AND (body IS NOT NULL));
CREATE INDEX signforms_events_pending ON signforms_events USING btree (line_id, id) WHERE (state = 0);
CREATE INDEX signforms_events_settled ON signforms_events USING btree (state, settled) WHERE (state > 0);
CREATE INDEX signforms_lines_due ON signforms_lines USING btree (GREATEST(due, lease));
