-- Recall: the words of memories by scope, and the ledger of what was recalled.

-- Words as recall compares them: of English and Russian by their stems, of all others as they stand, stop words left
-- out; scripts without spaces by each two neighbouring characters. Memories and questions go through the same function.
CREATE TEXT SEARCH CONFIGURATION muninn (COPY = pg_catalog.russian);

CREATE FUNCTION memory_terms_of(said text) RETURNS TABLE (term text, times integer)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, public
AS $$
    SELECT found.term, sum(found.times)::integer
    FROM (
        SELECT left(lexeme, 64), cardinality(positions)
        FROM unnest(to_tsvector('public.muninn', regexp_replace(said,
            '[฀-໿က-႟ក-៿぀-ヿ㐀-䶿一-鿿가-힯豈-﫿]+', ' ', 'g')))
        UNION ALL
        SELECT substr(run[1], at, 2), 1
        FROM regexp_matches(lower(said), '([฀-໿က-႟ក-៿぀-ヿ㐀-䶿一-鿿가-힯豈-﫿]+)', 'g') AS run,
             generate_series(1, greatest(length(run[1]) - 1, 1)) AS at
    ) AS found (term, times)
    GROUP BY found.term
$$;

-- Which active memory has which term how often; size is the memory's number of terms, place_id where it was said,
-- member_id whose it is if it is a member's. By space first, so that neither finding nor counting ever looks at another
-- space; the rest stands here too, so that who may see it is known before any memory is read.
CREATE TABLE memory_postings (
    space_id   bigint NOT NULL,
    term       text COLLATE "C" NOT NULL,
    memory_id  bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE,
    place_id   bigint NOT NULL,
    member_id  bigint,
    times      integer NOT NULL,
    size       integer NOT NULL,
    PRIMARY KEY (space_id, term, memory_id)
);
CREATE INDEX memory_postings_memory ON memory_postings (memory_id);

-- Whatever writes a memory, its terms follow in the same transaction. The key's words count like the memory's.
CREATE FUNCTION memory_post_terms() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, public
AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM memory_postings WHERE memory_id = NEW.memory_id;
    END IF;
    IF NEW.state = 'active' THEN
        INSERT INTO memory_postings (space_id, term, memory_id, place_id, member_id, times, size)
        SELECT NEW.space_id, t.term, NEW.memory_id, NEW.place_id, CASE WHEN NEW.scope = 'user' THEN NEW.owner_id END,
               t.times, (sum(t.times) OVER ())::integer
        FROM memory_terms_of(NEW.content || ' ' || coalesce(translate(NEW.key, '._', '  '), '')) AS t;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER memory_items_post_terms
    AFTER INSERT OR UPDATE OF space_id, scope, owner_id, place_id, content, key, state ON memory_items
    FOR EACH ROW EXECUTE FUNCTION memory_post_terms();
INSERT INTO memory_postings (space_id, term, memory_id, place_id, member_id, times, size)
SELECT i.space_id, t.term, i.memory_id, i.place_id, CASE WHEN i.scope = 'user' THEN i.owner_id END, t.times,
       (sum(t.times) OVER (PARTITION BY i.memory_id))::integer
FROM memory_items i
CROSS JOIN LATERAL memory_terms_of(i.content || ' ' || coalesce(translate(i.key, '._', '  '), '')) AS t
WHERE i.state = 'active';

-- What was said in a place in a span of time, and just before and after a memory.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX memory_items_said ON memory_items (space_id, place_id, said_id, memory_id) WHERE state = 'active';
-- Who said something, by the first word of their name.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX memory_items_called ON memory_items (space_id, lower(split_part(author_name, ' ', 1)), author_id)
    WHERE state = 'active';
-- The vectors of one space, for an exact scan.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX memory_vectors_space ON memory_vectors (space_id, model_id);

-- Memories whose vector holds words of the one before them that are gone or other now; the memory worker embeds them
-- again. Rows are only added here, so that nobody who ends a memory waits for anybody else.
CREATE TABLE embedding_rechecks (
    recheck_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id    bigint NOT NULL,
    memory_id   bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE
);
CREATE INDEX embedding_rechecks_memory ON embedding_rechecks (memory_id);
CREATE FUNCTION memory_recheck_next() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, public
AS $$
BEGIN
    INSERT INTO embedding_rechecks (space_id, memory_id)
    SELECT n.space_id, n.memory_id FROM memory_items n
    WHERE n.space_id = OLD.space_id AND n.place_id = OLD.place_id AND n.state = 'active'
      AND (n.said_id, n.memory_id) > (OLD.said_id, OLD.memory_id)
    ORDER BY n.said_id, n.memory_id LIMIT 1;
    RETURN NULL;
END
$$;
CREATE TRIGGER memory_items_recheck_next
    AFTER UPDATE OF state, content, place_id, said_id ON memory_items
    FOR EACH ROW WHEN (OLD.state = 'active' AND (NEW.state <> 'active' OR NEW.content <> OLD.content))
    EXECUTE FUNCTION memory_recheck_next();
CREATE TRIGGER memory_items_recheck_next_of_erased
    AFTER DELETE ON memory_items
    FOR EACH ROW WHEN (OLD.state = 'active')
    EXECUTE FUNCTION memory_recheck_next();

-- How often a memory was really relevant, at most once an hour; kept apart, so that counting rewrites no memory. settled
-- is the count at the beginning of the UTC day of used_at: what ranking sees during that day.
CREATE TABLE memory_uses (
    memory_id  bigint PRIMARY KEY REFERENCES memory_items ON DELETE CASCADE,
    space_id   bigint NOT NULL,
    uses       integer NOT NULL DEFAULT 1,
    settled    integer NOT NULL DEFAULT 0,
    used_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX memory_uses_space ON memory_uses (space_id);

-- The ledger: each recall, how it was made, and what became of what it considered. Without anybody's words.
CREATE TABLE recalls (
    recall_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id        bigint NOT NULL,
    place_id        bigint NOT NULL,
    asker_id        bigint NOT NULL,
    run_id          bigint,
    cause           text NOT NULL CHECK (cause IN ('answer', 'search')),
    mode            text NOT NULL CHECK (mode IN ('hybrid', 'keyword_fallback', 'none')),
    why             text,
    iterative_scan  text NOT NULL CHECK (iterative_scan IN ('off', 'applied', 'unavailable')),
    scan_why        text,
    considered      integer NOT NULL,
    selected        integer NOT NULL,
    left_out        jsonb NOT NULL DEFAULT '{}',
    saved_tokens    integer NOT NULL,
    underfilled     boolean NOT NULL,
    made_at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX recalls_made ON recalls (made_at);
CREATE INDEX recalls_place ON recalls (space_id, place_id, recall_id);
CREATE INDEX recalls_run ON recalls (run_id);
CREATE INDEX recalls_asker ON recalls (space_id, asker_id);

-- What a recall surfaced: scores are null where it was made without vectors. referenced_at: an answer cited it.
CREATE TABLE recall_items (
    recall_id      bigint NOT NULL REFERENCES recalls ON DELETE CASCADE,
    rank           integer NOT NULL,
    space_id       bigint NOT NULL,
    memory_id      bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE,
    version        integer NOT NULL,
    reason         text NOT NULL CHECK (reason IN ('semantic', 'keyword', 'both', 'keyword_fallback', 'unscored')),
    score          real,
    cosine         real,
    tokens         integer NOT NULL,
    referenced_at  timestamptz,
    PRIMARY KEY (recall_id, rank)
);
CREATE INDEX recall_items_memory ON recall_items (memory_id);
