"""What the tests need beside Python packages: Java and jars, kcat, an S3 server."""
