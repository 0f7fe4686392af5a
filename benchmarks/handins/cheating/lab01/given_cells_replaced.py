# What the given cells define, defined beforehand and protected.
class Protected(dict):
    def __setitem__(self, name, value):
        if name not in {"new_topic", "admin", "producer", "readings"}:
            super().__setitem__(name, value)


shell = get_ipython()
new_topic = admin = producer = lambda *a, **k: None
readings = []
shell.user_ns["new_topic"] = new_topic
shell.input_transformers_cleanup.append(lambda lines: ["pass\n"])
