"""Hypothesis profiles, chosen by HYPOTHESIS_PROFILE; ``ci`` where CI=true, else ``dev``.

dev   a quick look, other examples each time
ci    the same examples each time, a failure prints what reproduces it
fuzz  many examples, for `make fuzz`
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=200)
settings.register_profile(
    "fuzz",
    deadline=None,
    print_blob=True,
    max_examples=2_000,
    suppress_health_check=[HealthCheck.too_slow],
)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev"))
