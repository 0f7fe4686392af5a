#!/usr/bin/env bash
# A Docker engine of our own, for tests on a Debian machine that has none. Needs root.
#
#   authoring/docker_engine.sh start FOLDER   install what is missing, start the engine, write FOLDER/env to be sourced
#   authoring/docker_engine.sh stop FOLDER    stop it; images stay in FOLDER and make the next start quick
#
# It listens on a socket in FOLDER only, and has nothing to do with another engine of the machine.
set -o errexit -o nounset -o pipefail

fail() {
  printf 'The Docker engine for the tests could not be prepared: %s\n' "$1" >&2
  exit 1
}

[[ $# -eq 2 && ( $1 == start || $1 == stop ) ]] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
verb=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2" && chmod 700 "$2"
folder=$(cd "$2" && pwd)
socket=$folder/docker.sock
log=$folder/dockerd.log
export DOCKER_HOST=unix://$socket DOCKER_CONFIG=$folder/config
# The system's own name for a socket has a fixed length.
[[ ${#socket} -lt 100 ]] || fail "the path $socket is too long for a socket."

answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

pid() {
  local found
  found=$(cat "$folder/pid" 2>/dev/null) && [[ $(cat "/proc/$found/comm" 2>/dev/null) == dockerd ]] && echo "$found"
}

install_packages() {
  local missing=()
  command -v dockerd >/dev/null || missing+=(docker.io iptables)
  command -v debootstrap >/dev/null || missing+=(debootstrap)
  if [[ ${#missing[@]} -gt 0 ]]; then
    apt-get update --quiet=2
    DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends "${missing[@]}"
  fi
  # Newer Debian releases have the command in a package of its own.
  command -v docker >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes docker-cli
}

# Debian 12 has version 1 only. The one of Debian 13 is a single program that runs here too.
install_compose() {
  docker compose version >/dev/null 2>&1 && return
  local apt=$folder/apt mirror options
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$DOCKER_CONFIG/cli-plugins"
  # apt names its archive only once it has read the lists.
  mirror=$("$here/debian_mirror.sh" 2>/dev/null) || { apt-get update --quiet=2 && mirror=$("$here/debian_mirror.sh"); }
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$apt/sources.list"
  options=(
    --quiet=2
    --option "Dir::Etc::SourceList=$apt/sources.list"
    --option "Dir::Etc::SourceParts=$apt/none"
    --option "Dir::State::Lists=$apt/lists"
    --option "Dir::Cache=$apt"
    --option "APT::Sandbox::User=root"
  )
  apt-get "${options[@]}" update
  (cd "$apt" && apt-get "${options[@]}" download docker-compose)
  dpkg -x "$apt"/docker-compose_*.deb "$apt/unpacked"
  cp "$apt/unpacked/usr/libexec/docker/cli-plugins/docker-compose" "$DOCKER_CONFIG/cli-plugins/"
  rm -r "$apt"
  docker compose version >/dev/null 2>&1 || fail "Docker Compose was unpacked and does not run."
}

start() {
  [[ $(id -u) -eq 0 ]] || fail "only root can start one."
  command -v apt-get >/dev/null || fail "this is not a Debian machine. Install Docker with Compose 2 by other means."
  install_packages
  if [[ -z $(pid) ]]; then
    rm -f "$folder/pid"
    # Where no systemd shares out the processor, all containers together would get as much of it as one process of the
    # machine. At the top each gets as much as a broker that runs as a process.
    local share=()
    [[ -e /sys/fs/cgroup/cpu/cpu.shares ]] && share=(--cgroup-parent /)
    # In a session of its own: what ends the caller shall not end the engine before the caller has stopped it.
    setsid dockerd --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$folder/pid" --host "$DOCKER_HOST" \
      ${share[@]+"${share[@]}"} \
      >"$log" 2>&1 </dev/null &
    local started=$!
    for _ in $(seq 300); do
      answers && break
      kill -0 $started 2>/dev/null || break
      sleep 0.2
    done
  fi
  answers || fail "dockerd does not answer. The end of $log says:
$(tail -n 5 "$log")"
  install_compose
  printf 'export DOCKER_HOST=%q DOCKER_CONFIG=%q\n' "$DOCKER_HOST" "$DOCKER_CONFIG" >"$folder/env"
}

stop() {
  local running
  running=$(pid) || return 0
  kill "$running"
  for _ in $(seq 150); do
    [[ -n $(pid) ]] || return 0
    sleep 0.2
  done
  kill -9 "$running"
  # The next start would take one that is just dying for one that runs.
  for _ in $(seq 50); do
    [[ -n $(pid) ]] || return 0
    sleep 0.2
  done
}

"$verb"
