"""The attacks use the sandbox's fixtures."""

from tests.sandbox.conftest import rig as rig
from tests.sandbox.conftest import walls as walls
