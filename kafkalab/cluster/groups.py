"""What a coordinator tells of one group: of consumers, by either protocol, or a share group."""

from __future__ import annotations

from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from kafkalab.cluster import wire
from kafkalab.cluster.asking import accept
from kafkalab.cluster.schemas import ConsumerGroupDescribeRequest, ShareGroupDescribeRequest
from kafkalab.cluster.views import MemberView


def describe_classic(address: str, name: str) -> tuple[str, str, list[MemberView]]:
    """State, assignor and members of a group of the classic protocol, from its coordinator."""
    answer = wire.ask(address, DescribeGroupsRequest(groups=[name]))
    (group,) = answer.groups
    accept(group.error_code)
    members = []
    for member in group.members:
        assignment: dict[str, list[int]] = {}
        if member.member_assignment:
            decoded = ConsumerProtocolAssignment.decode(member.member_assignment)
            assignment = {t: sorted(ps) for t, ps in decoded.assigned_partitions}
        members.append(
            MemberView(member.member_id, member.client_id, member.group_instance_id, assignment)
        )
    return upper(group.group_state), group.protocol_data, _sorted(members)


def describe_consumer(address: str, name: str) -> tuple[str, str, list[MemberView]]:
    """The same of a group of the protocol of KIP-848."""
    return _dealt_by_the_broker(address, ConsumerGroupDescribeRequest, name)


def describe_share(address: str, name: str) -> tuple[str, str, list[MemberView]]:
    """The same of a share group, in which several members may have one partition."""
    return _dealt_by_the_broker(address, ShareGroupDescribeRequest, name)


def _dealt_by_the_broker(
    address: str,
    kind: type[ConsumerGroupDescribeRequest | ShareGroupDescribeRequest],
    name: str,
) -> tuple[str, str, list[MemberView]]:
    request = kind(group_ids=[name], include_authorized_operations=False)
    (group,) = wire.ask(address, request).groups
    accept(group.error_code, group.error_message)
    members = [
        MemberView(
            member.member_id,
            member.client_id,
            getattr(member, "instance_id", None),  # no member of a share group has one
            {tp.topic_name: sorted(tp.partitions) for tp in member.assignment.topic_partitions},
        )
        for member in group.members
    ]
    return upper(group.group_state), group.assignor_name, _sorted(members)


def _sorted(members: list[MemberView]) -> list[MemberView]:
    return sorted(members, key=lambda member: (member.client, member.id))


def upper(state: str) -> str:
    """`PreparingRebalance` -> `PREPARING_REBALANCE`."""
    return "".join(f"_{c}" if c.isupper() and place else c for place, c in enumerate(state)).upper()
