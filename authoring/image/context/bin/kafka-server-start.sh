#!/usr/bin/env bash
# Start a Kafka node: kafka-server-start.sh server.properties [--override property=value ...]
set -o nounset -o errexit

kafka=$(dirname "$(dirname "$(readlink -f "$0")")")
export KAFKA_HEAP_OPTS=${KAFKA_HEAP_OPTS:--Xmx1G -Xms1G}
export KAFKA_LOG4J_OPTS=${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=$kafka/config/log4j2.yaml}
exec "$kafka/bin/kafka-run-class.sh" kafka.Kafka "$@"
