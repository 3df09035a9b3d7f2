"""Makes the classes and codecs of Kafka's messages; no part of a broker imports this package."""
