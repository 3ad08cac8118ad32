"""Small files in the formats that are imported, with all the dirt that such files have; every sentence is our own."""

import json

SESSION = "11111111-2222-3333-4444-555555555555"


def jsonl(path, *lines):
    """Write lines: maps as JSON, texts and bytes as they are."""
    raw = [
        line if isinstance(line, bytes) else line.encode() if isinstance(line, str) else json.dumps(line).encode()
        for line in lines
    ]
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


def spoken(uuid, text, *, at="2026-03-02T09:00:00.000Z", parent=None, role="user", **more):
    """A line of a Claude Code transcript."""
    return {
        "type": role,
        "uuid": uuid,
        "parentUuid": parent,
        "timestamp": at,
        "sessionId": SESSION,
        "isSidechain": False,
        "message": {"role": role, "content": text},
        **more,
    }


def blocks(*texts):
    """The content of a message in blocks; None stands for a tool's result."""
    return [
        {"type": "tool_result", "content": "42"} if text is None else {"type": "text", "text": text} for text in texts
    ]


def talk(sample="talk-1", **changes):
    """A LoCoMo conversation of two sessions."""
    return {
        "sample_id": sample,
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_1_date_time": "9:05 am on 2 March, 2026",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I started with the cello."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Since when?"},
                {"speaker": "Ada", "dia_id": "D1:3", "text": "Since January.", "blip_caption": "a photo of a cello"},
            ],
            "session_2_date_time": "12:00 pm on 3 March, 2026",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "I sold my boat."}],
            "session_3_date_time": "8:00 pm on 4 March, 2026",
        },
        "observation": {
            "session_1_observation": {
                "Ada": [["Ada plays the cello.", "D1:1"], ["Ada began in January.", ["D1:2", "D1:3"]]]
            },
            "session_2_observation": {"Ben": [["Ben has no boat.", "D2:1"]]},
        },
        **changes,
    }


def written(path, value):
    """Write a value as JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
