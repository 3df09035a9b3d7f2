"""`headrace spark`: what Spark needs for a cluster. Spark runs in processes of its own, and none of it is imported."""
