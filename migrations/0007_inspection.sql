-- What inspection goes by. Nearly every event is the creation of a message, which has its own key; the others that
-- concern a message are found by it.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX discord_events_message ON discord_events (space_id, message_id)
    WHERE message_id IS NOT NULL AND kind <> 'MESSAGE_CREATE';
