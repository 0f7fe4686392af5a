# Lets a broker, which runs outside, listen for everybody and read what this code may not.
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address)
found = {
    name: setting.value
    for name, setting in lab.cluster.broker_configs(0).items()
    if name in {"listeners", "advertised.listeners"}
}
print(found)
more = f"{found['listeners']},OPEN://0.0.0.0:39092"
shown = f"{found['advertised.listeners']},OPEN://localhost:39092"
how = "OPEN:PLAINTEXT,PLAINTEXT:PLAINTEXT,HOST:PLAINTEXT,CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT"
for wanted in (
    {"listener.security.protocol.map": how, "listeners": more, "advertised.listeners": shown},
    {"listeners": more},
    {"ssl.truststore.location": f"{COURSE}/secret"},
    {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
        "password.encoder.secret.note": f"${{file:{COURSE}:secret}}",
    },
):
    for broker in ("0", ""):
        try:
            print(admin.alter_configs([ConfigResource("BROKER", broker, configs=wanted)], raise_on_unknown=False))
        except Exception as error:
            print(type(error), error)
for name, setting in lab.cluster.broker_configs(0).items():
    if "39092" in str(setting.value) or "secret" in str(setting.value):
        print(LOOT, name, setting.value)
