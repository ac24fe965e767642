import pytest

from stream_dedup import errors


def every_error() -> list[type[errors.StreamDedupError]]:
    return [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.StreamDedupError)
    ]


def test_the_exit_code_says_who_acts() -> None:
    """1 failed while running, 2 wrong usage, settings or input, 3 an operator must decide."""
    assert {error.__name__: error.exit_code for error in every_error()} == {
        "StreamDedupError": 1,
        "DocumentRejected": 1,
        "Unavailable": 1,
        "Refused": 3,
        "UsageError": 2,
        "SettingsError": 2,
        "InputError": 2,
    }


@pytest.mark.parametrize("error", every_error())
def test_an_error_says_what_happens_next(error: type[errors.StreamDedupError]) -> None:
    """Each error's docstring begins with the verb of what happens next."""
    assert (error.__doc__ or "").split()[0].strip(":") in {"Stop", "Reject", "Back"}


def test_a_rejection_carries_its_reason() -> None:
    """The reason travels with a rejected document."""
    assert errors.DocumentRejected("id is empty").reason == "id is empty"
