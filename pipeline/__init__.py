"""PySpark jobs over topics, and a demonstration that runs one on real data."""
