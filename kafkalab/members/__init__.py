"""Members of consumer groups that are programs of their own, started from a cell.

    PROGRAM = '''
    consumer = KafkaConsumer(topic, group_id=group, client_id=name, **settings)
    while running():
        for place, records in consumer.poll(timeout_ms=100).items():
            for record in records:
                note("record", partition=place.partition, offset=record.offset)
    consumer.close()
    '''
    ada = members.start(PROGRAM, "ada", topic="orders", group="kitchen", settings={…})

A member ends by itself: at its own limit, with the process that started it (whatever that one died
of), with its cluster, and when its cell is run again or another one of its name is started. What
it does it writes down: `ada.events`.
"""

from kafkalab.members.events import Event, events_of
from kafkalab.members.member import LIMIT, Member, start, stop_all

__all__ = ["LIMIT", "Event", "Member", "events_of", "start", "stop_all"]
