"""The versions of the client and its protocol.

Protocol history: 1, the first.
"""

__version__ = "0.1.0"
PROTOCOL = 1
CLIENT = f"tensorcache-python/{__version__}"
