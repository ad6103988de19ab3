"""The routes by which tests/cli/boot/loaders.py boots a machine."""
