"""A law and a plant from outside."""
