"""A whole pool, on the scheduler of scripts/seeded."""

from . import Mutation

MUTATIONS = [
    Mutation(
        "a worker announces its sleep and does not look once more",
        "runtime/src/sched/search.rs",
        "        fence(Ordering::SeqCst);\n        self.look_once_more(place);",
        "        fence(Ordering::SeqCst);",
        "seeded_pool",
        "everything_ends",
        quick=True,
    ),
    Mutation(
        "waking a worker in the seat does not kick it",
        "runtime/src/sched/pool.rs",
        "            self.poller.kick_seat();\n",
        "",
        "seeded_pool",
        "everything_ends",
        quick=True,
    ),
    Mutation(
        "a task is bound to a list that is closed",
        "runtime/src/task/owned.rs",
        "        if list.closed {\n            return false;\n        }\n        count();",
        "        count();",
        "seeded_pool",
        "everything_is_cancelled",
        quick=True,
    ),
    Mutation(
        "a joiner is not called when its job has ended",
        "runtime/src/fork/wait.rs",
        "        fence(Ordering::SeqCst);\n        self.pool.wake_joiner(from);",
        "        fence(Ordering::SeqCst);\n        let _ = from;",
        "seeded_pool",
        "computations_split_beside_tasks",
        quick=True,
    ),
    Mutation(
        "a slot is claimed although its last spare was not told to leave",
        "runtime/src/sched/status.rs",
        "now.must_retire().then_some(",
        "Some(",
        "seeded_pool",
        "a_spare_is_sent_for_another_while_the_worker_comes_back",
    ),
]
