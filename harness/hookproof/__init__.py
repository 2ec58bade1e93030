"""Conformance suite and reference harness for the lifecycle hooks of coding agents."""

__version__ = "0.1.0"
