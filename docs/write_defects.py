"""Writes defects.md from the tables of the library: `python docs/write_defects.py > docs/defects.md`."""

from toolstream.cli.advice import ADVICE
from toolstream.defects import DEFECTS

HEAD = """\
# Defects: what providers do wrong

A stream with defects is still read, in the one way that fits what it must have meant; what was noticed is in
`completion.defects` and comes as `DefectFound`. Each code is reported once for a call (or for the stream), and names
the call (`call`, a position in `completion.calls`), the piece, and where one place is to blame the `offset` in
`arguments_text`. No message holds argument text.

`toolstream check FILE...` finds them in recordings and shows the fragment of the wire.
`toolstream.detect_completion_defect` looks at a finished message, where only the result is left to judge.
"""
SEVERITIES = {
    "error": "The call, or the stream, cannot be trusted; such a call is never executable.",
    "warning": "The provider broke a rule of its protocol; the reading is the one that fits what it must have meant.",
    "info": "Unusual, harmless, and good to know when two providers are compared.",
}


def page() -> str:
    parts = [HEAD]
    for severity, meaning in SEVERITIES.items():
        parts.append(f"\n## {severity.capitalize()}\n\n{meaning}\n")
        for code, (own, sentence) in DEFECTS.items():
            if own == severity:
                cause, cure = ADVICE[code]
                parts.append(f"\n### `{code}`\n\n{sentence}\n\n- **Cause:** {cause}\n- **Cure:** {cure}\n")
    return "".join(parts)


if __name__ == "__main__":
    print(page(), end="")
