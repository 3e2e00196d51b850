"""Looking at what the doctor found."""

from collections.abc import Sequence

from bot.doctor.findings import Finding


def named(findings: Sequence[Finding], name: str, *, subject: int | None = None) -> Finding:
    """The one finding of that name. Fails with all there are where there is none, or more than one."""
    found = [f for f in findings if f.name == name and subject in (None, int(f.subject or 0))]
    assert len(found) == 1, f"{len(found)} findings are called {name}:\n" + "\n".join(map(str, findings))
    return found[0]


def assert_plain(findings: Sequence[Finding], *secrets: str) -> None:
    """Each says one sentence, in one line, and shows no secret; each fault and warning says what to do next."""
    for finding in findings:
        for text in (finding.says, finding.next_step or "."):
            assert "\n" not in text, finding
            assert text.endswith("."), finding
            assert not any(secret in text for secret in secrets), finding
        assert (finding.next_step is not None) == (finding.level in ("warn", "fault")), finding
    keys = [(finding.name, finding.subject) for finding in findings]
    assert len(set(keys)) == len(keys), "a finding stands twice"
