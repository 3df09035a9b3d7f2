from headrace.metadata.transport import LocalTransport, Transport
from tests.unit.metadata.running_cluster import scenario


@scenario
async def test_frames_are_handed_over():
    async def handle(frame):
        return frame[::-1]

    transport: Transport = LocalTransport(handle)

    assert await transport.request(b"abc") == b"cba"
