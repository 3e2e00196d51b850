"""Reactions that do something, claimed by tables and carried out without any model."""
