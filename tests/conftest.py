"""Settings for all tests."""

import os

from hypothesis import settings

# A busy machine is no finding: examples have no time limit. In CI hypothesis' own profile adds fixed seeds.
settings.register_profile("beliefbase", deadline=None)
if "CI" not in os.environ:
    settings.load_profile("beliefbase")
