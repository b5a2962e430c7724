"""A chat model behind HTTP: the part of OpenAI's API that ``ChatOpenAI`` speaks, on this machine.

``with OpenAIServer("Hello.", Reply(status=429, retry_after=0.1)) as server`` answers one request
after the other with what it was given, whole or streamed, as the request asks. A test can give a
function from the request's body to a reply instead. Every request is kept in ``server.requests``.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

MODEL = "gpt-4o-mini"

Script = Callable[[dict[str, Any]], "Reply | str"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return cast(list[dict[str, Any]], self.body["messages"])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the model says, or how it fails.

    ``tool_calls`` are (id, name, arguments); ``parameter`` is the one that an error names;
    ``delay`` seconds pass first; a stream is cut off ``after`` so many pieces.
    """

    text: str = ""
    tool_calls: Sequence[tuple[str, str, dict[str, Any]]] = ()
    status: int = 200
    parameter: str | None = None
    retry_after: float | None = None
    delay: float = 0.0
    after: int | None = None

    @property
    def finish_reason(self) -> str:
        return "tool_calls" if self.tool_calls else "stop"


class OpenAIServer:
    """The server; a context manager. ``base_url`` is for ``ChatOpenAI``."""

    def __init__(self, *replies: Reply | str, script: Script | None = None) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        server = self

        class Handler(_Handler):
            owner = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = False  # closing waits for what is being answered
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            if self._script is not None:
                reply = self._script(request.body)
            elif self.replies:
                reply = self.replies.pop(0)
            else:
                return Reply(status=400, text=f"request {number} was not expected")
        reply = Reply(text=reply) if isinstance(reply, str) else reply
        self._closing.wait(reply.delay)
        return reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: OpenAIServer

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length))
        try:
            self._respond(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client's time was up

    def _respond(self, body: dict[str, Any]) -> None:
        if self.path != "/v1/chat/completions":
            self._error(404, f"unknown path {self.path}")
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        if headers.get("authorization") != "Bearer unused":
            self._error(401, "Incorrect API key provided")
            return
        reply = self.owner.answer(Request(path=self.path, headers=headers, body=body))
        if reply.status != 200:
            self._error(
                reply.status,
                reply.text or "the model failed",
                retry_after=reply.retry_after,
                parameter=reply.parameter,
            )
        elif body.get("stream"):
            self._stream(reply, body)
        else:
            self._json(200, _completion(reply, body))

    def _json(self, status: int, value: object, **headers: str) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        for name, header in headers.items():
            self.send_header(name.replace("_", "-"), header)
        self.end_headers()
        self.wfile.write(data)

    def _error(
        self,
        status: int,
        message: str,
        *,
        retry_after: float | None = None,
        parameter: str | None = None,
    ) -> None:
        kind = {429: "rate_limit_exceeded", 500: "server_error"}.get(status, "invalid_request")
        error = {"message": message, "type": kind, "param": parameter, "code": kind}
        more = {} if retry_after is None else {"retry_after": str(retry_after)}
        self._json(status, {"error": error}, **more)

    def _stream(self, reply: Reply, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        for number, chunk in enumerate(_chunks(reply, body)):
            if number == reply.after:
                self.close_connection = True
                return  # without the chunk that ends a body
            self._chunk(f"data: {json.dumps(chunk)}\n\n")
        self._chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on standard error."""


def _usage(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    """Words for tokens."""
    asked = len(json.dumps(body["messages"]).split())
    said = len(reply.text.split()) + len(reply.tool_calls)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for id, name, arguments in reply.tool_calls
    ]


def _completion(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.tool_calls:
        message["tool_calls"] = _calls(reply)
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "system_fingerprint": "fp_local",
        "choices": [
            {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
        ],
        "usage": _usage(reply, body),
    }


def _chunks(reply: Reply, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pieces of a stream: a role, words, calls with their arguments in two, an end."""
    with_usage = (body.get("stream_options") or {}).get("include_usage")
    frame = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": body["model"],
        "system_fingerprint": "fp_local",
        **({"usage": None} if with_usage else {}),
    }

    def piece(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**frame, "choices": [choice]}

    yield piece({"role": "assistant", "content": "" if reply.text else None, "refusal": None})
    for number, word in enumerate(reply.text.split(" ") if reply.text else ()):
        yield piece({"content": f" {word}" if number else word})
    for index, call in enumerate(_calls(reply)):
        function = call["function"]
        start = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield piece({"tool_calls": [start]})
        half = len(function["arguments"]) // 2
        for part in (function["arguments"][:half], function["arguments"][half:]):
            yield piece({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield piece({}, reply.finish_reason)
    if with_usage:
        yield {**frame, "choices": [], "usage": _usage(reply, body)}
