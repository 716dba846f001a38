"""When ids were made: they never go back, whatever clock came before."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def moment_of(identifier: str) -> int:
    """Return when an id was made, in milliseconds since 1970: its first ten letters say so."""
    letters = identifier.rpartition("_")[2][:10]
    return sum(_ALPHABET.index(letter) << 5 * place for place, letter in enumerate(letters[::-1]))
