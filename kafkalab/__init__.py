"""What the lessons import: clusters, clients, the ledger, Spark and charts."""
