"""A PostgreSQL server for programs of a page, beside a cluster and not a part of it.

    database = Postgres.start()
    with psycopg.connect(database.address) as db:
        ...
    database.close()

It listens on a Unix socket alone, in a folder that only its user can enter. It ends with `close`,
with the process that started it (whatever that one died of), and when its cell is run again. Its
data goes with it.
"""

from kafkalab.postgres.server import Postgres

__all__ = ["Postgres"]
