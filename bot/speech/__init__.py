"""How Muninn speaks: an answer's shape in Discord, what is shown while it is made, and how long ones are given."""
