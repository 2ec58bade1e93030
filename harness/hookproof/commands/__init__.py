"""The `hookproof` commands, one module each: `arguments(parser)` declares, `run(options)` does and gives the exit code."""
