"""What the model sees of Discord beside plain words: files, embeds, forwards, polls, where it is said."""
