"""Requests of commands to the admin listener of a node."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import ADMIN_DEFAULT


class AdminRefusedError(Exception):
    """The node has answered, with an error; `reason` is empty if it does not answer as a node of this version."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def ask_admin(
    admin: str,
    method: str,
    path: str,
    body: Mapping[str, object] | None = None,
    *,
    timeout_s: float,
    after_silence: str = "",
) -> dict[str, Any]:
    """Send one request and return the answer.

    Args:
        admin: HOST:PORT.
        method: GET or POST.
        path: of the page.
        body: sent as JSON, with a POST.
        timeout_s: for each step.
        after_silence: what else to say when no answer comes.

    Raises:
        AdminRefusedError: the node answers with an error.
        CommandFailedError: there is no answer.
        click.BadParameter: `admin` is no address.
    """
    request = urllib.request.Request(
        f"http://{_checked(admin)}{path}",
        data=json.dumps(body or {}).encode() if method == "POST" else None,
        headers={"Content-Type": "application/json"},
        method=method,
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout_s) as response:
            answer: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        raise AdminRefusedError(error.code, _reason(error)) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise CommandFailedError(
            f"no node answers at {admin} ({reason})",
            hint=f"Name its admin listener with --admin HOST:PORT (headrace.admin.listener){after_silence}.",
        ) from error
    return answer


def refused(error: AdminRefusedError, admin: str, what: str, *, hint: str) -> CommandFailedError:
    """Explain a refusal, with what the user can do about it."""
    if error.reason:
        return CommandFailedError(error.reason, hint=hint)
    return CommandFailedError(
        f"{admin} answers {error.status} to {what}",
        hint="Check that this is the admin listener of a node of this version.",
    )


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _checked(admin: str) -> str:
    host, separator, port = admin.rpartition(":")
    if not separator or not host or not port.isascii() or not port.isdigit() or "/" in host:
        raise click.BadParameter(
            f"{admin!r} is not HOST:PORT, such as {ADMIN_DEFAULT}.", param_hint="--admin"
        )
    return admin
