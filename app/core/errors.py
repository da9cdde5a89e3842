"""What the app answers when it has no answer: a sentence. Apart from Gradio, which the command does without."""


class Unanswerable(Exception):
    """A question that has no answer; the message is the sentence the page shows."""
