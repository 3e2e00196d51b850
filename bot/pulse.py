"""Asking a running Muninn how it is, from a process of its own: with nothing but the standard library, so that a
container may do it every few seconds.
"""

import http.client
from typing import Final

ASK_S: Final = 5.0
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where it listens; asked is loopback


def feel(host: str, port: int, path: str) -> tuple[bool, str]:
    """Whether the endpoint says yes, and what it says; where nobody answers, one sentence."""
    if not port:
        return False, "MUNINN_HTTP_PORT is 0: Muninn tells nobody how it is."
    connection = http.client.HTTPConnection(_EVERYWHERE.get(host, host), port, timeout=ASK_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status == 200, answer.read().decode(errors="replace").strip()
    except (OSError, http.client.HTTPException) as error:
        return False, f"Nobody answers at {host}:{port}: {error}."
    finally:
        connection.close()
