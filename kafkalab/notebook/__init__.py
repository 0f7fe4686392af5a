"""What a page offers beside Kafka itself: predictions, the panel, programs on a terminal."""
