"""Offline tools: inspect logs, format and measure devices. No running broker needs them."""
