"""The Spark session of a lesson, and the Java process behind it."""
