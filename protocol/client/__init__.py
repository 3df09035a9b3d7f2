"""What a reader needs of Kafka's messages to be a client: requests encoded and answers decoded, in one version each."""
