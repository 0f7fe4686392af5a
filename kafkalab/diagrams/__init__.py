"""Pictures of structure, drawn from what is there. Each returns its Axes; the cell titles it."""

from kafkalab.diagrams.acknowledgements import acknowledgements
from kafkalab.diagrams.concepts import architecture, ecosystem, truck_stage
from kafkalab.diagrams.connector import connector
from kafkalab.diagrams.departures import departures
from kafkalab.diagrams.kept import compaction, retention
from kafkalab.diagrams.leaders import brokers
from kafkalab.diagrams.offsets import offsets
from kafkalab.diagrams.plan import plan
from kafkalab.diagrams.producer_parts import producer
from kafkalab.diagrams.quorum import controllers
from kafkalab.diagrams.readers import readers
from kafkalab.diagrams.record_parts import record
from kafkalab.diagrams.regions import regions
from kafkalab.diagrams.replicas import replicas
from kafkalab.diagrams.shares import cardinality, rebalance
from kafkalab.diagrams.streaming import streaming
from kafkalab.diagrams.threads import consumer_per_thread, shared_consumer

__all__ = [
    "acknowledgements",
    "architecture",
    "brokers",
    "cardinality",
    "compaction",
    "connector",
    "consumer_per_thread",
    "controllers",
    "departures",
    "ecosystem",
    "offsets",
    "plan",
    "producer",
    "readers",
    "rebalance",
    "record",
    "regions",
    "replicas",
    "retention",
    "shared_consumer",
    "streaming",
    "truck_stage",
]
