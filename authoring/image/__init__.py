"""A stand-in for the official Kafka image, for machines that reach no image registry.

`python -m authoring.image` makes the image of docker-compose.yml available: it is there already, or
the registry has it, or it is built here from the course's own jars on a minimal Debian. The
stand-in has the official image's contract, so that the Docker engine can be tested anywhere.
"""
