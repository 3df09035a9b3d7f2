"""Record batches of format v2: header, records, compression. Imports no other package of this project. Pure."""
