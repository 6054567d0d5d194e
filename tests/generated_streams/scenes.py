"""What every provider's model is made to say: the words and arguments that the streams have in common."""

from tests.generated_streams.said import Call

SPOKEN = '“清水寺” opens at 6:00 — don’t be late 🏯.\n\t\\Bring "coins"\u2028and {time}.'
THOUGHT = "They ask for hours. I should look it up: 清水寺…"
SEARCH = Call(
    "search", {"query": 'hours "清水寺" \\ 🏯', "limit": 3, "near": {"open": True, "tags": ["a", None, []]}}, "call_1"
)
WEATHER = Call("weather", {"city": "Kyōto", "days": [1, -2.5]}, "call_2")
NOW = Call("now", {}, "call_3")
IMAGE = "iVBORw0KGgo="
SIGNATURE = "c2lnbmVkIGJ5IHRoZSBwcm92aWRlcg=="
