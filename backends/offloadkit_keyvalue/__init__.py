"""Objects in any store of py-key-value: a bridge, for those who run one already.

Such a store keeps dictionaries of JSON under keys. It has no ranges, no creation on condition, and mostly no
listing; so bytes go in as base64, a range is cut from the whole value, and an index of the keys is kept
beside the objects. A backend made for the store is several times faster: take this one where there is none.
"""

from __future__ import annotations

from offloadkit_keyvalue.backend import KeyValueBackend

__all__ = ["KeyValueBackend"]
