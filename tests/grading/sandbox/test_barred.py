"""What a hand-in may set on a broker, read from the requests that an admin client sends."""

import pytest
from kafka.protocol.admin import AlterConfigsRequest, IncrementalAlterConfigsRequest
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.producer import ProduceRequest

from grading.sandbox.barred import LONGEST, NO_RESOURCE, Barred, Sieve

TOPIC, BROKER = 2, 4
VERSIONS = [
    *((IncrementalAlterConfigsRequest, version) for version in (0, 1)),
    *((AlterConfigsRequest, version) for version in (0, 1, 2)),
]
LISTENS_EVERYWHERE = ("listeners", "PLAINTEXT://0.0.0.0:19092")


def sent(request, version, client="an admin"):
    request.with_header(7, client)
    return request.encode(version, header=True, framed=True)


def altering(kind, version, resources):
    """The bytes of a request: (type, name, settings) for each resource."""
    is_incremental = kind is IncrementalAlterConfigsRequest
    told = [
        (
            number,
            name,
            [(key, 0, value) if is_incremental else (key, value) for key, value in settings],
        )
        for number, name, settings in resources
    ]
    return sent(kind(resources=told, validate_only=False), version)


def kinds(kind, version, frame):
    return [one.resource_type for one in kind.decode(frame, version, True, True).resources]


def passed(data, step):
    sieve = Sieve()
    return b"".join(sieve.feed(data[at : at + step]) for at in range(0, len(data), step))


@pytest.mark.parametrize("step", [1, 5, 10_000])
@pytest.mark.parametrize(("kind", "version"), VERSIONS)
def test_an_address_or_a_path_reaches_no_broker_and_all_else_does(kind, version, step):
    frame = altering(
        kind,
        version,
        [
            (BROKER, "0", [("log.cleaner.threads", "2"), LISTENS_EVERYWHERE]),
            (BROKER, "1", [("log.cleaner.threads", "2"), ("compression.type", "zstd")]),
            (BROKER, "", [("ssl.truststore.location", "/home/teacher/secret")]),
            (BROKER, "1", [("log.cleanup.policy", "compact,delete"), ("num.io.threads", None)]),
            (BROKER, "2", [("message.max.bytes", "${file:/etc/passwd:root}")]),
            (BROKER, "2", [("config.providers", "file")]),
            (BROKER, "2", [("metric.reporters", "org.example.Reporter")]),
            (BROKER, "2", [("log.cleaner.min.cleanable.ratio", "0.25")]),
            (TOPIC, "listeners", [("retention.ms", "1000"), ("note", "a://b")]),
        ],
    )
    before, after = sent(MetadataRequest(topics=None), 5), sent(MetadataRequest(topics=None), 9)
    out = passed(before + frame + after, step)
    assert out.startswith(before)
    assert out.endswith(after)
    seen = kinds(kind, version, out[len(before) : len(before) + len(frame)])
    refused = NO_RESOURCE
    assert seen[:4] == [refused, BROKER, refused, BROKER]
    assert seen[4:] == [refused, refused, refused, BROKER, TOPIC]


@pytest.mark.parametrize("step", [1, 5, 10_000])
@pytest.mark.parametrize("version", [7, 9])
def test_nobody_sends_as_who_may_write_into_topics_of_kafkas_own(version, step):
    def frame(client):
        return sent(produce(), version, client)

    said = [frame("__admin_client"), frame("__admin_clients"), frame("ada"), frame("")]
    asked = sent(MetadataRequest(topics=None), 5, "__admin_client")
    assert passed(b"".join([*said, asked]), step) == b"".join(
        [frame("__admin_clien_"), *said[1:], asked]
    )


def produce():
    partition = ProduceRequest.TopicProduceData.PartitionProduceData(index=0, records=b"a batch")
    topic = ProduceRequest.TopicProduceData(name="__consumer_offsets", partition_data=[partition])
    return ProduceRequest(transactional_id=None, acks=1, timeout_ms=1_000, topic_data=[topic])


def test_what_nobody_can_read_is_handed_on_to_no_broker():
    kind, version = VERSIONS[0]
    frame = altering(kind, version, [(BROKER, "0", [LISTENS_EVERYWHERE])])
    torn = (len(frame) - 24).to_bytes(4, "big") + frame[4:-20]
    long = (LONGEST + 1).to_bytes(4, "big") + frame[4:]
    for said in (torn, long):
        with pytest.raises(Barred):
            Sieve().feed(said)


def test_a_connection_without_frames_is_left_as_it_is():
    said = b"\x16\x03\x01\x02\x00\x01" + bytes(500)
    assert passed(said, 7) == said
