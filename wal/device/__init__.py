"""Files and block devices, and the ways to write them."""
