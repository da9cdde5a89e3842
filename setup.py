"""Where the packages are: the folders app, worker and storage are installed as groupwise.app, groupwise.worker and
groupwise.storage. Everything else is in pyproject.toml."""

from setuptools import find_packages, setup

ROOMS = ("app", "worker", "storage")

setup(
    packages=[f"groupwise.{name}" for room in ROOMS for name in find_packages(include=[room, f"{room}.*"])],
    package_dir={f"groupwise.{room}": room for room in ROOMS},
)
