"""Who may see what: worlds at random, and an oracle of their own."""
