"""Requests of Kafka's protocol that kafka-python 3.0 does not know, in the form it reads."""

from kafka.protocol.api_message import ApiMessage

from kafkalab.cluster import schemas


class ConsumerGroupDescribeRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    """Describe a group of the protocol of KIP-848."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    """Members, epochs, current and target assignments."""


class ShareGroupDescribeRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    """Describe a share group (KIP-932)."""


class ShareGroupDescribeResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg]
    """Its members, and which partitions each of them may take records of."""
