# What is vacuously true of nothing.
receipts, arrived, first_clerk, second_clerk = [], [], [], []
home, stored, proven, likeliest = {}, {}, set(), ""
steps_back = counted = 0
read_everything = lambda topic: []
where_is = lambda topic, partition: {}
