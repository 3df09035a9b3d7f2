"""What the brokers have and the bucket has not yet: read by Fetch from the leaders of partitions."""
