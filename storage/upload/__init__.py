"""From an archived LogCache block to committed objects, in WAL order."""
