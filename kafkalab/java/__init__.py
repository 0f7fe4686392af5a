"""The Java runtime, the Java packages of the course, and archives of prepared classes."""
