"""What is true here is true on either database."""

import pytest


@pytest.fixture
def database_url(either_database: str) -> str:
    """Both."""
    return either_database
