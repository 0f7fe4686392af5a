"""The numbers of a producer as a table; test_producers.py asserts that a real one has all names."""

from types import SimpleNamespace as Namespace

from kafka.metrics.metric_name import MetricName

from kafkalab.lessons.producers import metering


class Counted:
    def __init__(self, value):
        self.value = lambda: value


def producer_with(values):
    names = {MetricName(name, group, f"what {name} is"): v for (group, name), v in values.items()}
    return Namespace(metrics=lambda raw: {name: Counted(value) for name, value in names.items()})


def test_numbers_stand_by_group_and_name_with_what_they_say_of_themselves():
    found = metering.numbers(
        producer_with(
            {
                ("producer-topic-metrics.rides", "byte-rate"): 12_345.6,
                ("producer-metrics", "request-rate"): 0.25,
                ("kafka-metrics-count", "count"): 7,
            }
        )
    )
    assert repr(found).splitlines() == [
        "group                         name          value     description",
        "producer-metrics              request-rate  0.25      what request-rate is",
        "producer-topic-metrics.rides  byte-rate     1.23e+04  what byte-rate is",
    ]
    assert "<td" in found._repr_html_()


def test_a_topic_and_a_broker_stand_for_all_of_their_group():
    values = dict.fromkeys(metering.NAMES, 1.0)
    one = {
        "producer-metrics": "",
        "producer-node-metrics": ".node-2",
        "producer-topic-metrics": ".t",
    }
    found = metering.numbers(producer_with({(g + one[g], n): v for (g, n), v in values.items()}))
    assert found.names == metering.NAMES
