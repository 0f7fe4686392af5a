#!/usr/bin/env bash
# Print the address of the Debian archive that this machine's own apt uses.
set -o errexit -o nounset -o pipefail

mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
  awk '$1 == "Debian" && $2 == "Debian" && !found { print $3; found = 1 }')
if [[ -z $mirror ]]; then
  echo "apt knows no Debian archive here. On Debian, 'apt-get update' comes first." >&2
  exit 1
fi
echo "$mirror"
