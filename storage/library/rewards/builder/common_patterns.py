"""Patterns that people often look for, by what a completion does that matches: for those who write no regular
expressions. None of them depends on the flags of a block; searched for in a text, each takes linear time."""

# {what the text does: the pattern}. No pattern for a capital letter: `re` knows no class for those of every script.
COMMON_PATTERNS = {
    "ends with a number": r"\d[.!]?\s*\Z",
    "contains a number": r"\d",
    "is only a number": r"\A\s*[-+−]?\d[\d.,]*\s*\Z",
    "has only one line": r"\A\s*\S[^\n]*(?:\n\s*)?\Z",
    "ends with . ! or ?": r"[.!?]\s*\Z",
}
COMMON_WORDS = {pattern: words for words, pattern in COMMON_PATTERNS.items()}
