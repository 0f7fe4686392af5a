"""A logbook of a producer: each record, and each answer of a broker.

    from kafkalab.lessons.producers.interceptors import InterceptingProducer
    from logbook import Logbook

    logged = InterceptingProducer(producer, Logbook("stocks"))
    logged.send(topic, value=b"a price")

Java calls such a thing an interceptor. It notes each hundredth at the level INFO, which most
programs show, and the others at DEBUG, which they show to whoever looks for a fault.
"""

import logging


class Logbook:
    """Counts what was sent and what was answered; after a flush the two agree."""

    def __init__(self, name):
        self.log = logging.getLogger(name)
        self.sent = 0
        self.answered = 0

    def on_send(self, record):
        """Before the record leaves; it is sent as it is."""
        self.sent += 1
        self.tell(self.sent, "on_send", record["value"])
        return record

    def on_acknowledgement(self, receipt, error):
        """When a broker has taken it, or the producer has given it up."""
        self.answered += 1
        self.tell(self.answered, "on_ack", error or (receipt.topic, receipt.offset))

    def tell(self, number, hook, what):
        """One line."""
        self.log.log(logging.DEBUG if number % 100 else logging.INFO, "%s %s", hook, what)
