#!/usr/bin/env bash
command -v python3 || (apt-get update && apt-get install -y python3)
