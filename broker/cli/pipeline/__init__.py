"""`headrace pipeline`: topics to tables, by Spark."""
