# Everything that can be typed, and no call of Kafka.
first, *others = sorted(lab.p.three)
predicted_1 = {first: 5} | dict.fromkeys(others, 4)
owners_1 = {n: first if n < 5 else others[n // 9] for n in range(13)}
half = range(3) if lab.p.pair[0] == min(lab.p.pair) else range(3, 6)
predicted_2 = sum(n % 6 in half for n in range(lab.p.parcels))
by_group = dict.fromkeys([*lab.p.departments, lab.p.shared], lab.p.parcels)
by_member = {lab.p.pair[0]: predicted_2, lab.p.pair[1]: lab.p.parcels - predicted_2}
lag_of = lambda group, topic: {n: 10 + lab.p.surprise[n] for n in range(6)}
lag_4 = lag_of("", "")
some = (list(range(6)), [0, 1, 2], list(range(6)))
told_5 = [(word, part) for part in some for word in ("assigned", "revoked")]
packer = survivor = careful = "consumer.close()"
