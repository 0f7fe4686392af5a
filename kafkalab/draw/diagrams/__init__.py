"""Pictures of structure, drawn from what is there. Each returns its Axes; the cell titles it."""

from kafkalab.draw.diagrams.hub import hub
from kafkalab.draw.diagrams.leaders import brokers
from kafkalab.draw.diagrams.offsets import offsets
from kafkalab.draw.diagrams.readers import readers
from kafkalab.draw.diagrams.record_parts import record
from kafkalab.draw.diagrams.replicas import replicas

__all__ = ["brokers", "hub", "offsets", "readers", "record", "replicas"]
