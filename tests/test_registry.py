"""From URLs to backends: which entry point counts, what is loaded, and what is said when it cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from offloadkit import registry
from offloadkit.backend import Backend
from offloadkit.errors import BackendConflict, ConfigError, MissingDependency, UnknownScheme
from offloadkit.registry import BackendInfo, available_backends, forget_scan, open_backend, register
from offloadkit.url import BackendURL, Option
from offloadkit_file import FileBackend
from offloadkit_memory import MemoryBackend

BACKEND = """
from offloadkit.url import Option
class Store:
    options = (Option(name="size", kind="integer", default=3, help="A size."),)
    @classmethod
    def from_url(cls, url):
        store = cls()
        store.url = url
        return store
"""

Install = Callable[..., None]


@pytest.fixture(autouse=True)
def clean_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("OFFLOADKIT_PROVIDER_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(registry, "_registered", {})
    forget_scan()
    yield
    forget_scan()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a distribution into a directory on the path, as pip leaves it: metadata, and one module."""
    monkeypatch.syspath_prepend(tmp_path)
    modules = set(sys.modules)

    def put(
        name: str,
        entry_points: str,
        *,
        source: str | None = BACKEND,
        requires: tuple[str, ...] = (),
        version: str = "1.0",
        site: str = "",
    ) -> None:
        directory = tmp_path / site
        info = directory / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        lines = [f"Requires-Dist: {requirement}" for requirement in requires]
        header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines]
        (info / "METADATA").write_text("\n".join(header) + "\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[offloadkit.backends]\n{entry_points}\n", encoding="utf-8")
        if source is not None:
            (directory / f"{name.replace('-', '_')}.py").write_text(source, encoding="utf-8")
        forget_scan()

    yield put
    for module in set(sys.modules) - modules:
        del sys.modules[module]


def info_of(scheme: str) -> BackendInfo:
    [found] = [info for info in available_backends() if info.scheme == scheme]
    return found


class Own:
    options: ClassVar[tuple[Option, ...]] = (Option(name="size", kind="bytes", default=1, help="A size."),)

    @classmethod
    def from_url(cls, url: BackendURL) -> Backend:
        return MemoryBackend(max_bytes=url.options["size"])


class Another(Own):
    pass


class TestOpening:
    def test_the_built_in_backends(self, tmp_path: Path) -> None:
        assert type(open_backend("memory://")) is MemoryBackend
        assert type(open_backend(f"file://{tmp_path}/store")) is FileBackend

    def test_options_reach_the_backend_with_their_types(self) -> None:
        assert open_backend("memory://?max_bytes=64KiB").caps.max_object_bytes == 65_536

    def test_an_unknown_option_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="has no option 'max_byte'; did you mean 'max_bytes'"):
            open_backend("memory://?max_byte=1")

    def test_a_plug_in(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store")
        opened: Any = open_backend("acme://host/x?size=5")
        assert (opened.url.host, opened.url.options["size"]) == ("host", 5)

    def test_a_scheme_in_upper_case(self, install: Install) -> None:
        install("acme-store", "Acme = acme_store:Store")
        opened: Any = open_backend("ACME://host")
        assert opened.url.scheme == "acme"

    def test_the_full_scheme_comes_first(self, install: Install) -> None:
        install(
            "acme-store",
            "acme = acme_store:Store\nacme+fast = acme_store:Fast",
            source=f"{BACKEND}\nclass Fast(Store): pass",
        )
        assert type(open_backend("acme+fast://")).__name__ == "Fast"
        assert type(open_backend("acme://")).__name__ == "Store"

    def test_an_engine_without_an_entry_point_is_left_to_the_backend(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store")
        opened: Any = open_backend("acme+tls://")
        assert (opened.url.scheme, opened.url.engine) == ("acme", "tls")

    def test_an_engine_that_the_backend_does_not_know(self) -> None:
        with pytest.raises(ConfigError, match="memory:// takes no engine"):
            open_backend("memory+fast://")

    def test_no_url(self) -> None:
        with pytest.raises(ConfigError, match="scheme://host/path"):
            open_backend("memory")


class TestUnknownSchemes:
    def test_the_known_ones_are_named(self) -> None:
        with pytest.raises(UnknownScheme, match=r"registered for xyz://; Known schemes: .*file, .*memory"):
            open_backend("xyz://")

    def test_the_nearest_one_is_named(self) -> None:
        with pytest.raises(UnknownScheme, match="did you mean memory://"):
            open_backend("memry://")

    def test_nothing_that_may_be_secret_is_repeated(self) -> None:
        url = "xyz://user:{0}@host/{0}?token={0}".format("s3cret")
        with pytest.raises(UnknownScheme) as raised:
            open_backend(url)
        assert "s3cret" not in "".join(traceback.format_exception(raised.value))

    def test_a_scheme_is_never_imported(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "evil.py").write_text("raise SystemExit", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(UnknownScheme):
            open_backend("evil://")

    def test_without_any_metadata(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.metadata.distributions", lambda: ())
        with pytest.raises(UnknownScheme, match="is offloadkit installed by pip"):
            open_backend("memory://")


class TestMissingDependencies:
    SOURCE = f"import driver_that_is_nowhere\n{BACKEND}"

    def test_the_install_command_is_named(self, install: Install) -> None:
        install(
            "acme-store",
            "acme = acme_store:Store [fast]",
            source=self.SOURCE,
            requires=("driver-that-is-nowhere>=2 ; extra == 'fast'", "pytest ; extra == 'fast'"),
        )
        with pytest.raises(MissingDependency) as raised:
            open_backend("acme://")
        assert str(raised.value) == (
            'acme:// needs driver-that-is-nowhere>=2: pip install "acme-store[fast]"'
        )
        assert isinstance(raised.value.__cause__, ModuleNotFoundError)

    def test_a_driver_that_is_too_old_is_missing(self, install: Install) -> None:
        install(
            "acme-store",
            "acme = acme_store:Store [fast]",
            source="import pytest.from_the_future",
            requires=("pytest>=9999; extra == 'fast'",),
        )
        with pytest.raises(MissingDependency, match="needs pytest>=9999"):
            open_backend("acme://")

    def test_an_extra_may_name_another_one(self, install: Install) -> None:
        install(
            "acme-store",
            "acme = acme_store:Store [all-of-it]",
            source=self.SOURCE,
            requires=(
                "Acme_Store[fast] ; extra == 'all-of-it'",
                "acme-store[all-of-it] ; extra == 'fast'",
                "driver-that-is-nowhere ; extra == 'fast'",
            ),
        )
        with pytest.raises(
            MissingDependency, match=r'needs driver-that-is-nowhere: pip install "acme-store\[all-of-it\]"'
        ):
            open_backend("acme://")

    def test_a_driver_imported_when_the_backend_is_made(self, install: Install) -> None:
        source = BACKEND.replace("store = cls()", "import driver_that_is_nowhere")
        install(
            "acme-store",
            "acme = acme_store:Store [fast]",
            source=source,
            requires=("driver-that-is-nowhere ; extra == 'fast'",),
        )
        with pytest.raises(MissingDependency, match="needs driver-that-is-nowhere"):
            open_backend("acme://")

    def test_a_requirement_for_other_systems_is_none(self, install: Install) -> None:
        requires = ("driver-that-is-nowhere ; extra == 'fast' and python_version < '3'",)
        install("acme-store", "acme = acme_store:Store [fast]", requires=requires)
        assert info_of("acme").status == "ok"


class TestBrokenPlugins:
    @pytest.mark.parametrize(
        ("source", "message"),
        [
            (
                "import driver_that_is_nowhere",
                "ModuleNotFoundError: No module named 'driver_that_is_nowhere'",
            ),
            ("from os import nothing_of_that_name", "ImportError: cannot import name"),
            ("1 / 0", "ZeroDivisionError"),
            ("x = 1", "AttributeError: module 'acme_store' has no attribute 'Store'"),
            ("Store = 5", "is no class with 'options' and 'from_url'"),
            ("class Store: pass", "is no class with 'options' and 'from_url'"),
        ],
    )
    def test_the_distribution_is_named(self, install: Install, source: str, message: str) -> None:
        install("acme-store", "acme = acme_store:Store [fast]", source=source)
        with pytest.raises(ConfigError, match=r"acme-store 1\.0") as raised:
            open_backend("acme://")
        assert message in str(raised.value)
        assert type(raised.value) is ConfigError

    def test_the_traceback_of_the_plug_in_is_kept(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store", source="def build():\n    1 / 0\nbuild()")
        with pytest.raises(ConfigError) as raised:
            open_backend("acme://")
        assert 'acme_store.py", line 2, in build' in "".join(traceback.format_exception(raised.value))

    @pytest.mark.parametrize(
        "value", ["acme_store", "acme_store:", "acme store:Store", "acme_store:Store [x"]
    )
    def test_a_value_that_names_no_class(self, install: Install, value: str) -> None:
        install("acme-store", f"acme = {value}")
        with pytest.raises(ConfigError, match=r"is not 'module:Class \[extra\]'"):
            open_backend("acme://")
        assert info_of("acme").status == "broken"

    def test_entry_points_that_cannot_be_read_are_left_out(
        self, install: Install, caplog: pytest.LogCaptureFixture
    ) -> None:
        install("acme-store", "acme : acme_store")
        with pytest.raises(UnknownScheme):
            open_backend("acme://")
        assert type(open_backend("memory://")) is MemoryBackend
        assert "acme-store" in caplog.text

    def test_the_remains_of_a_distribution_are_left_out(self, install: Install, tmp_path: Path) -> None:
        install("acme-store", "acme = acme_store:Store")
        for name in ("acme_store-0.9", "memory-1.0"):
            (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / "memory-1.0.dist-info" / "entry_points.txt").write_text(
            "[offloadkit.backends]\nmemory = x:Y\n"
        )
        forget_scan()
        assert type(open_backend("acme://")).__name__ == "Store"
        assert type(open_backend("memory://")) is MemoryBackend

    def test_requirements_that_cannot_be_read_prove_nothing(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store [fast]", requires=("!! ; nonsense",))
        assert info_of("acme").status == "ok"
        assert type(open_backend("acme://")).__name__ == "Store"


class TestConflicts:
    def test_both_distributions_are_named(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store")
        install("other-store", "acme = other_store:Store", version="2.0")
        with pytest.raises(BackendConflict) as raised:
            open_backend("acme://")
        assert str(raised.value) == (
            "acme:// is claimed by acme-store 1.0 (acme_store:Store) "
            "and other-store 2.0 (other_store:Store); uninstall one of them, "
            "or choose by the environment variable OFFLOADKIT_PROVIDER_ACME=acme-store"
        )

    def test_ours_are_not_replaced_either(self, install: Install) -> None:
        install("acme-store", "memory = acme_store:Store")
        with pytest.raises(BackendConflict, match=r"acme-store 1.0 .* and offloadkit"):
            open_backend("memory://")

    @pytest.mark.parametrize("named", ["other-store", "Other_Store", "other.store"])
    def test_the_environment_chooses(
        self, install: Install, monkeypatch: pytest.MonkeyPatch, named: str
    ) -> None:
        install("acme-store", "acme = acme_store:Store")
        install("other-store", "acme = other_store:Store")
        monkeypatch.setenv("OFFLOADKIT_PROVIDER_ACME", named)
        assert type(open_backend("acme://")).__module__ == "other_store"
        assert [(info.provider, info.status) for info in available_backends() if info.scheme == "acme"] == [
            ("acme-store", "conflict"),
            ("other-store", "ok"),
        ]

    def test_the_variable_of_a_scheme_with_an_engine(
        self, install: Install, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("acme-store", "other-store"):
            install(name, f"s3+my-own = {name.replace('-', '_')}:Store")
        monkeypatch.setenv("OFFLOADKIT_PROVIDER_S3_MY_OWN", "acme-store")
        assert type(open_backend("s3+my-own://")).__module__ == "acme_store"

    def test_the_environment_must_name_a_claimant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OFFLOADKIT_PROVIDER_MEMORY", "nobody")
        with pytest.raises(ConfigError, match="OFFLOADKIT_PROVIDER_MEMORY='nobody' names no distribution"):
            open_backend("memory://")
        assert info_of("memory").status == "conflict"

    def test_an_empty_variable_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OFFLOADKIT_PROVIDER_MEMORY", "")
        assert type(open_backend("memory://")) is MemoryBackend

    def test_other_schemes_work_on(self, install: Install) -> None:
        install("acme-store", "memory = acme_store:Store\nacme = acme_store:Store")
        assert type(open_backend("acme://")).__name__ == "Store"

    def test_a_distribution_listed_twice_is_one(
        self, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install("acme-store", "acme = acme_store:Store")
        install("Acme.Store", "acme = acme_store:Store", source=None, site="again")
        monkeypatch.syspath_prepend(tmp_path / "again")
        forget_scan()
        assert type(open_backend("acme://")).__name__ == "Store"

    def test_of_two_copies_the_first_on_the_path_counts(
        self, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install("acme-store", "acme = acme_store:Store")
        install("acme-store", "acme = acme_store:Old", source=None, version="0.9", site="later")
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "later")])
        forget_scan()
        assert type(open_backend("acme://")).__name__ == "Store"
        assert info_of("acme").version == "1.0"

    def test_one_entry_point_written_twice_is_one(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store\nacme = acme_store:Store")
        assert type(open_backend("acme://")).__name__ == "Store"

    @pytest.mark.parametrize("case", ["PLUG-01", "PLUG-03"])
    def test_cases(self, install: Install, cases: dict[str, dict[str, Any]], case: str) -> None:
        entry_points = cases[case]["input"]["entry_points"]
        for number, entry in enumerate(entry_points):
            install(f"distribution-{number}", f"{entry['name']} = {entry['value']}", source=None)
        scheme = entry_points[0]["name"]
        listed = [info for info in available_backends() if info.scheme == scheme and not info.builtin]
        assert [(info.provider, info.status) for info in listed] == [
            ("distribution-0", "conflict"),
            ("distribution-1", "conflict"),
        ]
        with pytest.raises(BackendConflict, match=r"distribution-0 1.0 .* and distribution-1 1.0"):
            open_backend(f"{scheme}://")


class TestRegister:
    def test_a_class_of_the_program(self) -> None:
        register("own", Own)
        assert open_backend("own://?size=1KiB").caps.max_object_bytes == 1024
        assert info_of("own") == BackendInfo(
            scheme="own", provider=__name__, version="", builtin=False, status="ok"
        )

    def test_the_same_class_again_is_fine(self) -> None:
        register("own", Own)
        register("own", Own)
        assert info_of("own").status == "ok"

    def test_another_class_is_a_conflict(self) -> None:
        register("own", Own)
        with pytest.raises(BackendConflict, match="pass replace=True"):
            register("own", Another)

    def test_an_installed_backend_is_not_replaced_by_accident(self) -> None:
        with pytest.raises(BackendConflict, match=r"memory:// is served by offloadkit .* pass replace=True"):
            register("memory", Own)
        assert type(open_backend("memory://")) is MemoryBackend

    def test_it_is_replaced_on_purpose(self) -> None:
        register("memory", Own, replace=True)
        assert open_backend("memory://").caps.max_object_bytes == 1
        assert not info_of("memory").builtin

    @pytest.mark.parametrize("scheme", ["", "Own", "1own", "own://", "own+", "own\n"])
    def test_what_is_no_scheme_is_refused(self, scheme: str) -> None:
        with pytest.raises(ConfigError, match="is no URL scheme"):
            register(scheme, Own)

    def test_what_is_no_backend_class_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="is no class with 'options' and 'from_url'"):
            register("own", MemoryBackend())  # type: ignore[arg-type]


class TestListing:
    def test_the_built_in_backends(self) -> None:
        found = info_of("file")
        assert (found.provider, found.builtin, found.status, found.detail) == ("offloadkit", True, "ok", "")
        assert found.version

    def test_it_is_sorted(self) -> None:
        schemes = [info.scheme for info in available_backends()]
        assert schemes == sorted(schemes)

    def test_a_plug_in(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store", version="2.5")
        assert info_of("acme") == BackendInfo(
            scheme="acme", provider="acme-store", version="2.5", builtin=False, status="ok"
        )

    def test_a_missing_driver(self, install: Install) -> None:
        requires = ("driver-that-is-nowhere ; extra == 'fast'",)
        install("acme-store", "acme = acme_store:Store [fast]", requires=requires)
        found = info_of("acme")
        assert (found.status, found.detail) == (
            "missing",
            'needs driver-that-is-nowhere: pip install "acme-store[fast]"',
        )

    def test_a_missing_module(self, install: Install) -> None:
        install("acme-store", "acme = acme_store.inner:Store", source=None)
        found = info_of("acme")
        assert found.status == "broken"
        assert "there is no module 'acme_store.inner'" in found.detail

    def test_no_plug_in_is_imported(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store", source="raise SystemExit")
        assert info_of("acme").status == "ok"
        assert "acme_store" not in sys.modules

    def test_only_the_plug_in_that_is_asked_for_is_imported(self, install: Install) -> None:
        install("acme-store", "acme = acme_store:Store", source="raise SystemExit")
        install("other-store", "other = other_store:Store")
        assert type(open_backend("other://")).__name__ == "Store"
        assert "acme_store" not in sys.modules

    def test_the_metadata_is_scanned_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        available_backends()
        monkeypatch.setattr("importlib.metadata.distributions", lambda: pytest.fail("scanned again"))
        assert type(open_backend("memory://")) is MemoryBackend


def loaded_by(code: str) -> set[str]:
    """Return the modules that a new process has loaded after ``code``."""
    code = f"import sys\n{code}\nprint(*sys.modules)"
    command = [sys.executable, "-c", code]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


class TestImports:
    def test_the_registry_itself_reads_no_metadata(self) -> None:
        loaded = loaded_by("import offloadkit.registry")
        assert not loaded & {"importlib.metadata", "packaging", "offloadkit_memory", "offloadkit_file"}

    def test_listing_loads_no_backend_and_no_driver(self) -> None:
        loaded = loaded_by("from offloadkit.registry import available_backends\navailable_backends()")
        drivers = {
            "redis",
            "sqlalchemy",
            "psycopg",
            "pymysql",
            "fsspec",
            "s3fs",
            "boto3",
            "obstore",
            "aiobotocore",
        }
        assert not {name for name in loaded if name.startswith("offloadkit_")}
        assert not loaded & drivers

    def test_opening_loads_one_backend(self) -> None:
        loaded = loaded_by("from offloadkit.registry import open_backend\nopen_backend('memory://')")
        assert {name for name in loaded if name.startswith("offloadkit_")} == {"offloadkit_memory"}
