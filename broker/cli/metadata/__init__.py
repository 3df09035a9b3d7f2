"""`headrace metadata`: shows metadata without a controller, and makes it anew from a bucket."""
