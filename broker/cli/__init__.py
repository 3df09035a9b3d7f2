"""The command line: a module per group of commands, each imported only when it is used."""
