-- What was said lately waits in a list beside the index of words until the list is full; then one insert pays for all.
-- A short list is emptied in a few milliseconds, where the default of 4 MB held up the journal for forty, and every
-- search reads it through.
ALTER INDEX chat_messages_words SET (gin_pending_list_limit = 256);
