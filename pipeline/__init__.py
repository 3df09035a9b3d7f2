"""PySpark jobs over topics, and the demonstration that runs one on real data."""
