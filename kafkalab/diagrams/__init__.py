"""Pictures of structure, drawn from what is there. Each returns its Axes; the cell titles it."""

from kafkalab.diagrams.acknowledgements import acknowledgements
from kafkalab.diagrams.departures import departures
from kafkalab.diagrams.leaders import brokers
from kafkalab.diagrams.producer_parts import producer
from kafkalab.diagrams.readers import readers
from kafkalab.diagrams.record_parts import record

__all__ = ["acknowledgements", "brokers", "departures", "producer", "readers", "record"]
