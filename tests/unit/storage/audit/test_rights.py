"""What a refused probe means, and which right would help."""

import pytest

from headrace.storage.audit.rights import (
    ABORT,
    CONDITIONAL_PUT,
    DELETE_MANY,
    HEAD,
    HEAD_BUCKET,
    LIST_PAGES,
    LIST_UPLOADS,
    PART_COPY,
    PUT,
    RACE,
    RANGED_GET,
    STEPS,
    Outcome,
    Refusal,
    Status,
    judge,
    judge_race,
    missing_actions,
)

DENIED = Refusal(403, "AccessDenied", "Access Denied")
LOST = Refusal(412, "PreconditionFailed", "")


@pytest.mark.parametrize(
    ("step", "action"),
    [
        (PUT, "s3:PutObject"),
        (RANGED_GET, "s3:GetObject"),
        (LIST_PAGES, "s3:ListBucket"),
        (ABORT, "s3:AbortMultipartUpload"),
        (LIST_UPLOADS, "s3:ListBucketMultipartUploads"),
        (DELETE_MANY, "s3:DeleteObject"),
        (CONDITIONAL_PUT, "s3:PutObject"),
        (HEAD_BUCKET, "s3:ListBucket"),
    ],
)
def test_a_refusal_names_the_action(step, action):
    outcome = judge(step, DENIED)
    assert (outcome.status, outcome.missing) == (Status.DENIED, (action,))
    assert action in outcome.advice
    assert outcome.detail == "AccessDenied: Access Denied"


def test_a_refusal_may_know_better_than_its_step():
    refused = Refusal(403, "AccessDenied", "", ("s3:PutObject",))  # of the upload, not of its abort
    assert judge(ABORT, refused).missing == ("s3:PutObject",)


def test_a_refusal_of_the_key_of_encryption():
    message = "User is not authorized to perform: kms:GenerateDataKey"
    assert judge(PUT, Refusal(403, "AccessDenied", message)).missing[0] == "kms:GenerateDataKey"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"),
        ("SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"),
        ("RequestTimeTooSkewed", "clock"),
        ("ExpiredToken", "new credentials"),
    ],
)
def test_wrong_credentials_are_no_missing_right(code, text):
    outcome = judge(PUT, Refusal(403, code, ""))
    assert (outcome.status, outcome.missing) == (Status.FAILED, ())
    assert text in outcome.advice


@pytest.mark.parametrize(
    ("step", "refusal", "status", "text"),
    [
        (HEAD_BUCKET, Refusal(404, "404", "Not Found"), Status.FAILED, "no such bucket"),
        (PUT, Refusal(404, "NoSuchBucket", ""), Status.FAILED, "s3:CreateBucket"),
        (CONDITIONAL_PUT, Refusal(501, "NotImplemented", ""), Status.UNSUPPORTED, "If-None-Match"),
        (PUT, Refusal(0, "", "connection refused"), Status.FAILED, "endpoint"),
        (PUT, Refusal(503, "SlowDown", "later"), Status.FAILED, ""),
    ],
)
def test_other_refusals(step, refusal, status, text):
    outcome = judge(step, refusal)
    assert outcome.status == status
    assert text in outcome.advice
    assert outcome.detail


def test_a_race_that_one_has_won():
    outcome = judge_race(
        [LOST, None, Refusal(409, "ConditionalRequestConflict", "")], b"b", [b"a", b"b", b"c"]
    )
    assert (outcome.status, outcome.detail) == (Status.OK, "1 of 3 won")


@pytest.mark.parametrize(
    ("outcomes", "stored", "text"),
    [
        ([None, None], b"a", "2 of 2 conditional puts"),
        ([LOST, LOST], b"a", "0 of 2 conditional puts"),
        ([None, LOST], b"b", "does not hold what its creator wrote"),
    ],
)
def test_a_race_that_keeps_nobody_apart(outcomes, stored, text):
    outcome = judge_race(outcomes, stored, [b"a", b"b"])
    assert outcome.status == Status.FAILED
    assert text in outcome.detail


def test_a_race_that_was_refused():
    assert judge_race([None, DENIED], b"a", [b"a", b"b"]).missing == ("s3:PutObject",)
    assert judge_race([LOST, Refusal(501, "", "")], b"a", [b"a", b"b"]).status == Status.UNSUPPORTED


def test_an_action_that_another_probe_proves_is_not_blamed():
    put = Outcome(PUT, Status.OK)
    assert missing_actions([put, judge(PART_COPY, DENIED)]) == ["s3:GetObject"]
    assert missing_actions([judge(PART_COPY, DENIED)]) == ["s3:PutObject", "s3:GetObject"]
    # All that it needs is proven, one by one: the refusal stands for itself.
    assert missing_actions([put, Outcome(HEAD, Status.OK), judge(PART_COPY, DENIED)]) == [
        "s3:PutObject",
        "s3:GetObject",
    ]


def test_every_step_names_its_right_and_its_purpose():
    assert len({step.name for step in STEPS}) == len(STEPS)
    for step in STEPS:
        assert all(action.startswith("s3:") for action in step.actions)
        assert step.purpose
    assert RACE in STEPS
