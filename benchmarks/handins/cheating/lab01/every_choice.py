# The right choices alone.
proven = {1, 3}
likeliest = "a"
