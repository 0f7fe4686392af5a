"""A real Kafka cluster: started, found, asked, looked into on its disks."""
