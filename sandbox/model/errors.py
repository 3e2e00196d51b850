"""What the loopback model answers or raises when something is wrong.

ApiRefusal                  the client must act; sent as OpenAI's error body
├── InvalidRequest   400    the request breaks a rule of the API
├── WrongKey         401    no key, or not this server's key
├── UnknownModel     404    the model named in the request is not served
├── UnknownRoute     404    there is no such path or method
└── ScriptFault      500    the test must act: nothing was scripted for this request, or a scripted turn raised
"""

from __future__ import annotations


class ApiRefusal(Exception):
    """A request that is answered with an error; `body` is OpenAI's error object."""

    status: int = 400
    kind: str = "invalid_request_error"

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code

    @property
    def body(self) -> dict[str, dict[str, str | None]]:
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}


class InvalidRequest(ApiRefusal):
    """The request breaks a rule of the API; a client that sends it again gets the same answer."""


class WrongKey(ApiRefusal):
    """No bearer key, or another one than this server's. The key itself is never repeated."""

    status = 401


class UnknownModel(ApiRefusal):
    """The request names a model that is not served here."""

    status = 404

    def __init__(self, model: str) -> None:
        super().__init__(f"The model `{model}` does not exist or you do not have access to it.", code="model_not_found")


class UnknownRoute(ApiRefusal):
    """There is no such path, or not with this method."""

    status = 404

    def __init__(self, method: str, path: str) -> None:
        super().__init__(f"Invalid URL ({method} {path})", code=None)


class ScriptFault(ApiRefusal):
    """The script has no turn for the request, or its turn raised. The test sees it as an AssertionError at the end."""

    status = 500
    kind = "server_error"
