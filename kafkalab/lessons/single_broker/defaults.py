"""What Kafka does of itself and the clusters of this course do not."""

# Not in the lesson's first cell: by its name it answers a question that the lesson asks later.
AS_IN_KAFKA = {"auto.create.topics.enable": True}
