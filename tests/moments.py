"""The timestamps in ids, which never decrease, even if the clock is set back."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def moment_of(identifier: str) -> int:
    """Return the timestamp in the first ten letters of an id, in milliseconds since 1970."""
    letters = identifier.rpartition("_")[2][:10]
    return sum(_ALPHABET.index(letter) << 5 * place for place, letter in enumerate(letters[::-1]))
