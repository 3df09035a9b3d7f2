"""`headrace bucket`, `object` and `stream`: looks into a bucket without a broker."""
