"""Errors in the form of the project's other packages."""


class DfcclError(RuntimeError):
    """What went wrong, the facts, and what to do about it.

    ``code`` is the kind of error, the same in every release; ``facts`` has what the message names.
    """

    def __init__(self, code: str, what: str, remedy: str, **facts: object) -> None:
        super().__init__(f"{what} {remedy}")
        self.code = code
        self.remedy = remedy
        self.facts = facts
