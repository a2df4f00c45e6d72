"""The mutations of scripts/mutants: changes that break a protocol, each with the model that has to notice."""

from typing import NamedTuple


class Mutation(NamedTuple):
    name: str
    file: str
    search: str
    replace: str
    # File and name of the model that must notice.
    tests: str
    model: str
    # One of ten of which `--quick` takes five: models that notice within seconds, one of each kind.
    quick: bool = False
    # What else is broken with it, where the code has two ways to the same end: file, search, replace.
    also: tuple = ()

    def changes(self):
        """Returns all that it changes: file, search, replace."""
        return ((self.file, self.search, self.replace), *self.also)


from . import fork, poller, pool, sched, sync, task, timer

MUTATIONS = [
    mutation
    for area in (poller, sched, pool, fork, task, timer, sync)
    for mutation in area.MUTATIONS
]

# Models that say what they fail with and have no mutation here, with the reason.
WITHOUT = {
    ("fork_offer", "two_joins_in_a_row_are_stolen"): "it fails with what is right, for loom's sake: see loom_itself",
}
