# Everything that can be typed, and no clerk.
predicted_1, again_1 = lab.p.batch, list(range(lab.p.batch))
ends_1 = ends_2 = ends_3 = ends_4 = [("clerk-1", -9)]
book = lambda *a, **k: None
next_offset = lambda db, part: 0
read_on = lambda *a: None
FromTheBooks = object
nothing = {"records": 300, "rows": 300, "missing": 0, "twice": 0}
report = {lab.p.careless: nothing | {"twice": lab.p.batch}, lab.p.killed: nothing}
newest = {stock: 2093 for stock in lab.p.stocks}
