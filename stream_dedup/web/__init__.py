"""Metrics, health, queries and the live page, over HTTP."""
