"""The conformance suite for backends: every promise in `offloadkit.backend` as a test."""

from __future__ import annotations

from offloadkit.testing.contract.creation import CreationContract
from offloadkit.testing.contract.deletion import DeletionContract
from offloadkit.testing.contract.expiry import ExpiryContract
from offloadkit.testing.contract.lifecycle import LifecycleContract
from offloadkit.testing.contract.listing import ListingContract
from offloadkit.testing.contract.objects import ObjectContract
from offloadkit.testing.contract.ranges import RangeContract
from offloadkit.testing.contract.sharing import SharingContract

__all__ = ["BackendContract"]


class BackendContract(
    ObjectContract,
    RangeContract,
    CreationContract,
    ExpiryContract,
    ListingContract,
    DeletionContract,
    SharingContract,
    LifecycleContract,
):
    """Tests a backend against the promises in `offloadkit.backend`, as far as its ``caps`` declare them.

    This is all that an author writes, for a backend that keeps its objects in a folder::

        import pytest
        from offloadkit.testing import BackendContract
        from shelf_store import ShelfBackend

        class TestShelfBackend(BackendContract):
            @pytest.fixture
            def backend(self, tmp_path): return ShelfBackend(tmp_path)
            @pytest.fixture
            def reopen(self, tmp_path): return lambda: ShelfBackend(tmp_path)

    ``backend`` returns a new instance for each test; the suite closes it. ``reopen`` returns a callable that
    opens another instance on the same location, and is needed where ``caps.persistent`` or ``caps.shared``
    is true. A declared capability is tested. One that is not declared is skipped, and pytest's ``-rs`` shows
    the reason. Tests use keys of their own below ``contract-…/`` and delete them, so the store may be a
    server that others use as well: no test waits, and a sweep goes for what expired before 2001-09-10.

    Attributes:
        require: What must not be skipped, for instance ``frozenset({"shared", "sweep"})``: ``persistent``,
            ``shared``, ``atomic_create``, ``ordered``, ``max_object_bytes``, ``fork`` (a child may go on),
            ``set_expiry``, ``sweep``, ``local_path``, ``ping``, ``secrets``.
        secrets: Passwords and keys that the instances of ``backend`` were given. No text about an instance,
            and no error, may hold one.
        expiry_tolerance: How far an expiry that is read may be from the one that was written, in seconds.
        fork_seconds: How long a forked child may take before it counts as hung, in seconds.
    """
