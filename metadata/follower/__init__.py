"""What a broker does: it follows the metadata log, keeps its session, and asks the leader."""
