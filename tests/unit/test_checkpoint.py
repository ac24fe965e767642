"""What an index remembers of its inputs and outputs."""

from stream_dedup.checkpoint import (
    Checkpoint,
    InputProgress,
    Stretch,
    input_entry,
    output_entry,
    stretch_entry,
)
from stream_dedup.trail import Mark


def test_stretches_come_in_the_order_in_which_they_were_read() -> None:
    """Each input that is taken up after another is noted once, in an order that counts past ten."""
    meta: dict[str, bytes] = {}
    expected = []
    for number in range(12):
        stretch = Stretch(input=f"/in/{number % 2}", name=f"in{number % 2}", line=10 * number)
        for _ in range(2):  # stopped and started again
            meta |= stretch_entry(Checkpoint(meta), stretch)
        expected.append(stretch)

    assert Checkpoint(meta).stretches() == expected


def test_an_input_under_another_name_is_another_stretch() -> None:
    """Records refer to their input by the name it was given, so who reads again needs it."""
    one, other = (Stretch(input="/in", name=name, line=0) for name in ("in", "./in"))
    meta = stretch_entry(Checkpoint({}), one)
    meta |= stretch_entry(Checkpoint(meta), other)

    assert Checkpoint(meta).stretches() == [one, other]


def test_inputs_and_outputs_are_told_apart() -> None:
    """What was read is known by input, what was written is handed over as it is."""
    progress = InputProgress(read=Mark(3, "x"), lines=1)
    output = output_entry("/out", Mark(4, "y"))
    checkpoint = Checkpoint({**input_entry("/in", progress), **output, "next_offset": b""})

    assert checkpoint.inputs() == {"/in": progress}
    assert checkpoint.outputs() == output
    assert checkpoint.stretches() == []
