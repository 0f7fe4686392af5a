#!/bin/sh
# The official image prepares certificates here when asked to; the course never asks.
exec "$@"
