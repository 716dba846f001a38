"""The tree of errors: each code has one class and one status."""

import subprocess
import sys

from kit import errors
from kit.errors import ApiError, BadRequestError, KitError

#: Code -> status. Source: API document, "Errors"; contract, "Conventions".
TABLE = {
    "validation_error": 400,
    "missing_api_key": 401,
    "invalid_api_key": 401,
    "expired_api_key": 401,
    "insufficient_credits": 402,
    "insufficient_scope": 403,
    "access_denied": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "request_timeout": 408,
    "conflict": 409,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "range_not_satisfiable": 416,
    "idempotency_mismatch": 422,
    "rate_limited": 429,
    "head_too_large": 431,
    "internal_error": 500,
    "unavailable": 503,
}


def test_every_code_has_its_class_and_status() -> None:
    assert {code: kind.status for code, kind in ApiError.by_code.items() if code} == TABLE


def test_a_parameter_error_is_a_bad_request_on_the_wire() -> None:
    assert errors.ParameterError.code == "validation_error"
    assert ApiError.by_code["validation_error"] is BadRequestError


def test_every_error_is_a_kit_error_and_has_no_generation_by_default() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    ours = [kind for kind in kinds if issubclass(kind, Exception)]

    assert len(ours) > 20
    for kind in ours:
        assert issubclass(kind, KitError)
        assert kind.__name__.endswith("Error")
        assert kind("x").generation_id is None
        assert kind("x").resume is None


def test_all_field_problems_are_in_one_message() -> None:
    error = BadRequestError.fields([("a", "is required"), ("", "the body is not JSON")])

    assert str(error) == "a: is required; the body is not JSON"
    assert error.details == [
        {"field": "a", "message": "is required"},
        {"field": "", "message": "the body is not JSON"},
    ]


def test_an_engine_error_has_a_code() -> None:
    assert errors.EngineError("x").code == "render_failed"
    assert errors.EngineError("x", code="dry").code == "dry"


def test_a_generation_failed_error_has_the_last_known_generation() -> None:
    assert errors.GenerationFailedError("x", {"id": "gen_1"}).generation == {"id": "gen_1"}


# ── in a notebook ────────────────────────────────────────────────────────────────────────────────


def run_cell(code: str) -> str:
    """Run a cell in an IPython shell of its own and return the output."""
    script = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_cell({code!r})
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    return done.stdout


def test_a_notebook_shows_the_callers_line_and_the_message() -> None:
    shown = run_cell("import kit\nstudio = None\nkit.connect('nonsense', 'key')\n")

    assert "----> 3 kit.connect('nonsense', 'key')" in shown
    assert shown.count("---->") == 1
    assert "ConfigError: " in shown
    assert "Traceback" not in shown
    assert "settings.py" not in shown


def test_an_interrupt_is_shown_with_its_notes() -> None:
    shown = run_cell(
        "from kit.errors import show_own_lines\n"
        "stop = KeyboardInterrupt()\n"
        "stop.add_note('what was started goes on')\n"
        "show_own_lines(stop)\n"
        "raise stop\n"
    )

    assert shown.splitlines()[-2:] == ["KeyboardInterrupt", "what was started goes on"]
    assert "----> 5 raise stop" in shown
