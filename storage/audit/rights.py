"""What a broker asks of an S3 bucket, the IAM action that allows it, and what a refusal means. Pure.

Sources: the "Actions, resources, and condition keys for Amazon S3" page of AWS's Service
Authorization Reference, and the error codes of the Amazon S3 API Reference.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple


class Status(Enum):
    """How a probe ended."""

    OK = "ok"
    DENIED = "denied"  # a right is missing
    UNSUPPORTED = "unsupported"  # the service does not know the operation
    FAILED = "failed"
    SKIPPED = "skipped"  # it needs what another probe could not make


class Need(Enum):
    """Who needs an operation."""

    BROKER = "broker"
    OBJECT_WAL = "object WAL"
    COMPACTION = "compaction"
    SWEEP = "sweep"


class Step(NamedTuple):
    """One operation that is probed."""

    name: str
    actions: tuple[str, ...]  # IAM actions, the likeliest first
    need: Need
    purpose: str


PUT_OBJECT: Final = ("s3:PutObject",)
GET_OBJECT: Final = ("s3:GetObject",)
LIST_BUCKET: Final = ("s3:ListBucket",)
DELETE_OBJECT: Final = ("s3:DeleteObject",)
ABORT_UPLOAD: Final = ("s3:AbortMultipartUpload",)
LIST_BUCKET_UPLOADS: Final = ("s3:ListBucketMultipartUploads",)
COPY_PART: Final = PUT_OBJECT + GET_OBJECT

HEAD_BUCKET: Final = Step(
    "head bucket", LIST_BUCKET, Need.BROKER, "the broker looks for its bucket when it starts"
)
PUT: Final = Step("put", PUT_OBJECT, Need.BROKER, "uploads of up to a part's size")
HEAD: Final = Step("head", GET_OBJECT, Need.BROKER, "whether an upload took effect")
RANGED_GET: Final = Step("ranged get", GET_OBJECT, Need.BROKER, "cold reads")
LIST_PAGES: Final = Step(
    "list with pages", LIST_BUCKET, Need.BROKER, "these tools, and the object WAL's recovery"
)
MULTIPART: Final = Step("multipart upload", PUT_OBJECT, Need.BROKER, "uploads above a part's size")
ABORT: Final = Step(
    "abort of a multipart upload",
    ABORT_UPLOAD,
    Need.BROKER,
    "an upload that failed leaves no parts that are paid for",
)
LIST_UPLOADS: Final = Step(
    "list of multipart uploads",
    LIST_BUCKET_UPLOADS,
    Need.SWEEP,
    "finding the uploads that a killed broker left",
)
PART_COPY: Final = Step(
    "server-side part copy",
    COPY_PART,
    Need.COMPACTION,
    "compaction of Stream Objects without moving their data",
)
CONDITIONAL_PUT: Final = Step(
    "conditional put",
    PUT_OBJECT,
    Need.OBJECT_WAL,
    "a write-ahead log made of objects: If-None-Match keeps two writers apart",
)
RACE: Final = Step(
    "race of conditional puts",
    PUT_OBJECT,
    Need.OBJECT_WAL,
    "of many creators of one key exactly one must win",
)
DELETE_MANY: Final = Step(
    "delete of many", DELETE_OBJECT, Need.BROKER, "deletion after retention and compaction"
)
CLIENT: Final = Step(
    "the broker's own client",
    PUT_OBJECT + GET_OBJECT + LIST_BUCKET + DELETE_OBJECT,
    Need.BROKER,
    "put, multipart put, ranged get, list and delete as the broker does them",
)

STEPS: Final = (
    HEAD_BUCKET,
    PUT,
    HEAD,
    RANGED_GET,
    LIST_PAGES,
    MULTIPART,
    ABORT,
    LIST_UPLOADS,
    PART_COPY,
    CONDITIONAL_PUT,
    RACE,
    CLIENT,
    DELETE_MANY,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one probe ended."""

    step: Step
    status: Status
    detail: str = ""
    missing: tuple[str, ...] = ()  # IAM actions, one of which is missing
    advice: str = ""
    milliseconds: float = 0.0


class Refusal(NamedTuple):
    """An answer of the service that is not a success."""

    http_status: int  # 0: there was no answer
    code: str
    message: str
    actions: tuple[str, ...] = ()  # what allows this request; empty: the step's


# Refusals of the credentials themselves: no right would help.
_CREDENTIAL_ADVICE: Final = {
    "InvalidAccessKeyId": "The service does not know this access key: check AWS_ACCESS_KEY_ID.",
    "SignatureDoesNotMatch": "The secret key is not the access key's: check AWS_SECRET_ACCESS_KEY.",
    "ExpiredToken": "The session token has expired: get new credentials.",
    "InvalidToken": "The session token is not valid: check AWS_SESSION_TOKEN.",
    "RequestTimeTooSkewed": "The clock of this machine is wrong: set it (NTP).",
    "AuthorizationHeaderMalformed": "The region is wrong: set region= in the bucket URI.",
    "PermanentRedirect": "The bucket is in another region: set region= in the bucket URI.",
}
_NO_SUCH_BUCKET: Final = (
    "There is no such bucket. The broker creates it when it starts, if it may (s3:CreateBucket)."
)
_UNSUPPORTED: Final = frozenset({"NotImplemented", "MethodNotAllowed", "NotSupported"})
_CLOSED_KMS: Final = ("kms:GenerateDataKey", "kms:Decrypt")


def judge(step: Step, refusal: Refusal) -> Outcome:
    """Classify the refusal of an operation."""
    shown = f"{refusal.code}: {refusal.message}".strip(": ") or "no answer"
    if refusal.code in _CREDENTIAL_ADVICE:
        return Outcome(step, Status.FAILED, shown, advice=_CREDENTIAL_ADVICE[refusal.code])
    if refusal.code == "NoSuchBucket" or (step is HEAD_BUCKET and refusal.http_status == 404):
        return Outcome(step, Status.FAILED, shown, advice=_NO_SUCH_BUCKET)
    if refusal.http_status == 501 or refusal.code in _UNSUPPORTED:
        return Outcome(step, Status.UNSUPPORTED, shown, advice=f"Needed for: {step.purpose}.")
    if refusal.http_status == 403:
        kms = _CLOSED_KMS if "kms" in refusal.message.lower() else ()
        missing = kms or refusal.actions or step.actions
        return Outcome(
            step,
            Status.DENIED,
            shown,
            missing=missing,
            advice=f"Allow {' and '.join(missing)} on this bucket and its keys.",
        )
    if refusal.http_status == 0:
        return Outcome(
            step, Status.FAILED, shown, advice="Is the endpoint right, and reachable from here?"
        )
    return Outcome(step, Status.FAILED, shown)


def blames_credentials(outcome: Outcome) -> bool:
    """Whether the service rejects the credentials or the region: every other request will fail too."""
    return outcome.advice in _CREDENTIAL_ADVICE.values()


def judge_race(outcomes: list[Refusal | None], stored: bytes, contents: list[bytes]) -> Outcome:
    """Classify the outcome of a race of conditional PUTs.

    Args:
        outcomes: by creator; None: the service answered that it created the object.
        stored: what the object holds afterwards.
        contents: what each creator wanted it to hold.
    """
    winners = [number for number, refusal in enumerate(outcomes) if refusal is None]
    odd = [it for it in outcomes if it is not None and it.http_status not in (409, 412)]
    if odd:
        return judge(RACE, odd[0])
    if len(winners) != 1:
        return Outcome(
            RACE,
            Status.FAILED,
            f"{len(winners)} of {len(outcomes)} conditional puts of one key succeeded",
            advice="This service cannot hold an object WAL: its conditional PUT is not atomic.",
        )
    if stored != contents[winners[0]]:
        return Outcome(
            RACE,
            Status.FAILED,
            "the object does not hold what its creator wrote",
            advice="This service cannot hold an object WAL.",
        )
    return Outcome(RACE, Status.OK, f"1 of {len(outcomes)} won")


def missing_actions(outcomes: list[Outcome]) -> list[str]:
    """Return the actions that are missing, without those that another probe proves to be allowed.

    A part copy that is refused while puts work lacks the right to read its source. If the credentials
    are not valid, that is what every refusal means.
    """
    if any(blames_credentials(it) for it in outcomes):
        return []
    proven = {
        action
        for it in outcomes
        if it.status == Status.OK and len(it.step.actions) == 1
        for action in it.step.actions
    }
    missing: dict[str, None] = {}
    for outcome in outcomes:
        doubtful = [action for action in outcome.missing if action not in proven]
        missing |= dict.fromkeys(doubtful or outcome.missing)
    return list(missing)
