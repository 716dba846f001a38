"""The account panel: who pays, what is left, what was spent; keys, profiles, signing in."""
