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

-- Which active memory has which term how often; size is the memory's number of terms. By space first, so that neither
-- finding nor counting ever looks at another space.
CREATE TABLE memory_postings (
    space_id   bigint NOT NULL,
    term       text NOT NULL,
    memory_id  bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE,
    times      integer NOT NULL,
    size       integer NOT NULL,
    PRIMARY KEY (space_id, term, memory_id)
);
CREATE INDEX memory_postings_memory ON memory_postings (memory_id);
-- Terms of a space that are nearly like one that nobody used.
CREATE INDEX memory_postings_like ON memory_postings USING gin (term gin_trgm_ops);

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
        INSERT INTO memory_postings (space_id, term, memory_id, times, size)
        SELECT NEW.space_id, t.term, NEW.memory_id, t.times, (sum(t.times) OVER ())::integer
        FROM memory_terms_of(NEW.content || ' ' || coalesce(translate(NEW.key, '._', '  '), '')) AS t;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER memory_items_post_terms
    AFTER INSERT OR UPDATE OF content, key, state ON memory_items
    FOR EACH ROW EXECUTE FUNCTION memory_post_terms();
INSERT INTO memory_postings (space_id, term, memory_id, times, size)
SELECT i.space_id, t.term, i.memory_id, t.times, (sum(t.times) OVER (PARTITION BY i.memory_id))::integer
FROM memory_items i
CROSS JOIN LATERAL memory_terms_of(i.content || ' ' || coalesce(translate(i.key, '._', '  '), '')) AS t
WHERE i.state = 'active';

-- Neighbours of a memory: what was said just before and after it in the same place.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX memory_items_said ON memory_items (space_id, place_id, said_id) WHERE state = 'active';
-- The vectors of one space, for an exact scan.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX memory_vectors_space ON memory_vectors (space_id, model_id);
