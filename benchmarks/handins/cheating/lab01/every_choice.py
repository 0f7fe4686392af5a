# The right choices alone.
mine = {"brokers": 3, "copies": 3, "records": lab.p.records // 3, "left": 2}
proven = {1, 3}
likeliest = "a"
