#!/usr/bin/env bash
# Run a Java class of the Kafka distribution: kafka-run-class.sh CLASS [ARGUMENT ...]
set -o nounset -o errexit

if [[ $# -eq 0 ]]; then
  echo "USAGE: $0 classname [opts]" >&2
  exit 1
fi

kafka=$(dirname "$(dirname "$(readlink -f "$0")")")
# Always in the same order: a class data archive fits one class path only.
libraries=("$kafka"/libs/*.jar)
class_path=$(IFS=:; echo "${libraries[*]}")

# Each variable may hold several flags, so they stand without quotes.
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:--Xmx256M} \
  ${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseG1GC -XX:MaxGCPauseMillis=20 -Djava.awt.headless=true} \
  ${KAFKA_GC_LOG_OPTS-} ${KAFKA_JMX_OPTS-} \
  ${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=$kafka/config/tools-log4j2.yaml} \
  -Dkafka.logs.dir="${LOG_DIR:-$kafka/logs}" \
  -cp "${CLASSPATH:+$CLASSPATH:}$class_path" ${KAFKA_OPTS-} "$@"
