"""Measures the log on a device: the table of the article, beside fio on the same device."""
