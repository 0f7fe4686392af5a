"""Pictures of structure, drawn from what is there: each returns its Axes, the title is the cell's."""

from kafkalab.diagrams.leaders import brokers
from kafkalab.diagrams.record_parts import record

__all__ = ["brokers", "record"]
