"""Record batches of format v2: header, records, compression. Imports nothing else of ours. Pure."""
