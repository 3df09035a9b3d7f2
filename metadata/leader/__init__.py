"""What a controller does while it leads, and what it starts from."""
