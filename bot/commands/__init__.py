"""The application's commands: how they are declared, and told to Discord."""
