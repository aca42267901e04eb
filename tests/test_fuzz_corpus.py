"""Every input that the fuzzers started from, or once failed on, through the same targets as in `fuzz/`."""

import sys
from pathlib import Path

import pytest
from engines import WANTED

FUZZ = Path(__file__).parents[1] / "fuzz"
if not (FUZZ / "targets.py").exists():
    pytest.skip("fuzz/ is not part of this copy", allow_module_level=True)

sys.path.insert(0, str(FUZZ))
try:
    import targets
finally:
    sys.path.remove(str(FUZZ))

KEPT = [(path.parent.name, path) for path in sorted((FUZZ / "corpus").glob("*/*"))]


@pytest.mark.parametrize(("target", "path"), KEPT, ids=[f"{target}-{path.name}" for target, path in KEPT])
def test_kept_input(target, path):
    targets.TARGETS[target](path.read_bytes())


def test_each_target_has_a_corpus():
    assert {target for target, _ in KEPT} == set(targets.TARGETS)


def test_both_engines_are_compared_where_both_are_wanted():
    assert targets._engine_c is not targets._engine_py or "cython" not in WANTED


@pytest.mark.parametrize("target", targets.TARGETS)
@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0", b"\0\0\0", bytes(300), b"\xff" * 300])
def test_least_inputs(target, data):
    targets.TARGETS[target](data)


def test_the_targets_can_fail(monkeypatch):
    """A reader that differs by its cuts, or from its twin, is found."""

    class Wrong(targets._engine_py.StreamingJsonParser):
        def snapshot(self):
            return [super().snapshot()]

    class Lossy(targets.NdjsonDecoder):
        def feed(self, data):
            return super().feed(data)[:1]

    monkeypatch.setattr(targets._engine_py, "StreamingJsonParser", Wrong)
    with pytest.raises(AssertionError):
        targets.parser(b'\0\0["a"]')
    monkeypatch.setattr(targets, "DECODERS", (Lossy,))
    with pytest.raises(AssertionError):
        targets.decoders(b"\0\x01a\nb\nc\n") or targets.decoders(b"\0\x02a\nb\nc\n")


@pytest.mark.parametrize("wrong", [None, {"a": 2}, {"a": 1.0}])
def test_the_target_for_whole_objects_can_fail(monkeypatch, wrong):
    data = b'\0\0{"a":1}'
    targets.parser(data)
    for engine in {targets._engine_c, targets._engine_py}:
        with monkeypatch.context() as patch:
            patch.setattr(engine, "read_object", lambda text, max_depth: wrong)
            with pytest.raises(AssertionError):
                targets.parser(data)
    for engines in ([targets._engine_py], [targets._engine_c, targets._engine_py]):
        with monkeypatch.context() as patch:
            for engine in engines:
                patch.setattr(engine, "write_object", lambda value, max_depth: wrong and ('{"a":1}', wrong))
            with pytest.raises(AssertionError):
                targets.parser(data)
