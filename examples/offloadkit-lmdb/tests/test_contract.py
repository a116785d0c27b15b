import pytest

from offloadkit import open_backend
from offloadkit.testing import BackendContract


class TestLMDBBackend(BackendContract):
    @pytest.fixture
    def reopen(self, tmp_path):
        return lambda: open_backend(f"lmdb://{tmp_path}/results.lmdb")

    @pytest.fixture
    def backend(self, reopen):
        return reopen()
