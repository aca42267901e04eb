"""The rules of StreamingToolCallParser written plainly: every slot is tried, and every text parsed, every time."""

import json

BLANK = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def refuse(name):
    raise ValueError(name)


def parsed(text):
    """[value] if `text` is JSON, else []."""
    try:
        return [json.loads(text, parse_constant=refuse)]
    except ValueError:
        return []


class Slot:
    def __init__(self):
        self.text, self.id, self.name = "", None, None

    @property
    def blank(self):
        return not self.text.strip(BLANK)

    @property
    def whole(self):
        return not self.blank and bool(parsed(self.text))

    @property
    def state(self):
        depth, in_string, escape = 0, False, False
        for char in self.text:
            if not in_string:
                depth += (char in "[{") - (char in "]}")
            if char == '"' and not escape:
                in_string = not in_string
            escape = char == "\\" and not escape
        return depth, in_string, escape


class PlainParser:
    def __init__(self):
        self.slots, self.ids, self.moves, self.forgotten, self.counter = {}, {}, {}, {}, 0
        self.conflict = self.invalid_index = False

    def lowest_free(self):
        return min(set(range(len(self.slots) + 1)) - set(self.slots))

    def of_new_id(self, index, chunk):
        with_text = chunk.strip(BLANK) != ""
        slot = self.slots.get(self.moves.get(index))
        if slot and not slot.id:
            number = self.moves[index]
            finished = slot.whole and with_text
        elif index not in self.slots:
            return index
        else:
            number, slot = index, self.slots[index]
            if slot.id:
                finished = slot.blank or slot.whole
                self.conflict |= not finished
            else:
                finished = slot.whole and with_text
        if finished:
            self.conflict |= not slot.name
            return self.lowest_free()
        return number

    def stray(self):
        unfinished = [
            number
            for number, slot in self.slots.items()
            if (not slot.blank and not slot.whole) or (slot.blank and slot.id and not slot.name)
        ]
        if unfinished:
            return max(unfinished)
        while self.counter in self.slots and self.slots[self.counter].id and self.slots[self.counter].name:
            self.counter += 1
        number = self.counter
        self.counter += number not in self.slots
        return number

    def without_id(self, index, chunk, name):
        here = self.slots.get(index, Slot())
        if name and not chunk and here.name in (None, name):
            return index
        number = self.moves.get(index)
        if number is None and not name and chunk.strip(BLANK) and not (here.text.strip(BLANK) or here.id or here.name):
            number = self.forgotten.get(index)
            if number is not None and self.slots[number].whole:
                number = None
        if number is None:
            number = index
        return self.stray() if number in self.slots and self.slots[number].whole else number

    def add_chunk(self, index, chunk, id=None, name=None):
        """(complete, value or None, is there an error, repaired, actual_index)"""
        id, name = id or None, (name or "").strip(BLANK) or None
        if not 0 <= index < 2**53:
            self.conflict = self.invalid_index = True
            return False, None, True, False, None
        if not id and not name and not chunk.strip(BLANK):
            here = self.slots.get(index)
            if here is None or here.state[:2] == (0, False):
                return False, None, False, False, None
        known = id in self.ids
        if known:
            number = self.ids[id]
        elif id:
            number = self.ids[id] = self.of_new_id(index, chunk)
        else:
            number = self.without_id(index, chunk, name)
        slot = self.slots.setdefault(number, Slot())
        if not chunk and (id or name):
            slot.id = id or slot.id
            slot.name = slot.name or name
        elif known and slot.whole:
            return False, None, False, False, number
        else:
            other = id and slot.id and id != slot.id
            slot.id = id or slot.id
            if name and slot.name and name != slot.name and not other:
                self.conflict = True
            else:
                slot.name = name or slot.name
            slot.text += chunk
        if number != index:
            self.moves[index] = number
            self.forgotten.pop(index, None)
        if not chunk and (id or name):
            return False, None, False, False, number
        depth, in_string, _ = slot.state
        if depth or slot.blank:
            return False, None, False, False, number
        for value in parsed(slot.text):
            return True, value, False, False, number
        for value in parsed(slot.text + '"') if in_string else ():
            return True, value, False, True, number
        return False, None, True, False, number

    def reset_index(self, index):
        self.slots[index] = Slot()
        if index in self.moves:
            self.forgotten[index] = self.moves[index]
        self.moves = {a: b for a, b in self.moves.items() if index not in (a, b)}
        self.forgotten = {a: b for a, b in self.forgotten.items() if b != index}

    def completed(self):
        """(id, name, args or None where a fallback has to read the text, index, blank)"""
        calls, seen = [], set()
        for number, slot in self.slots.items():
            if slot.name and not (slot.id and slot.id in seen):
                seen.add(slot.id)
                args = {}
                if not slot.blank:
                    values = parsed(slot.text) or (parsed(slot.text + '"') if slot.state[1] else [])
                    args = values[0] if values else None
                    args = {} if values and not isinstance(args, dict) else args
                calls.append((slot.id, slot.name, args, number, slot.blank))
        return calls

    def flags(self):
        named = [slot for slot in self.slots.values() if slot.name]
        return {
            "has_incomplete_tool_calls": any(slot.state[0] > 0 or slot.state[1] for slot in named),
            "has_nameless_tool_call": any(not s.name and (s.id or not s.blank) for s in self.slots.values()),
            "has_conflicting_tool_call_identity": self.conflict,
            "has_invalid_tool_call_index": self.invalid_index,
            "has_invalid_tool_call_arguments": any(
                slot.text and not any(isinstance(value, dict) for value in parsed(slot.text)) for slot in named
            ),
        }
