-- Pages that research on the web brought: the newest fetch of each address, for as long as it is kept. `url` is
-- canonical, `content` the page's main text, bounded, and `digest` names that text.
CREATE TABLE web_documents (
    space_id    bigint NOT NULL,
    url         text NOT NULL CHECK (octet_length(url) <= 2000),
    title       text NOT NULL,
    content     text NOT NULL,
    digest      bytea NOT NULL,
    fetched_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    PRIMARY KEY (space_id, url)
);
CREATE INDEX web_documents_expiring ON web_documents (expires_at);
