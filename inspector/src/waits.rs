//! The graph of tasks that wait for each other: chains of joins, and circles, which will never end.

use std::collections::{HashMap, HashSet};

use crate::model::{State, Task};
use crate::policy::{CIRCLES, EDGES, MEMBERS};

/// The graph of tasks that wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Graph<'a> {
    /// How many idle tasks wait for each kind of thing, the largest number first.
    pub(crate) kinds: Vec<(&'static str, usize)>,
    /// Pairs of a task and the one that it joins. Pairs in circles come first, then those that have waited longest. If
    /// a circle is not reported whole, its other members are left out.
    pub(crate) joins: Vec<(&'a Task, &'a Task)>,
    /// The number of all joins, including those that are not reported.
    pub(crate) all_joins: usize,
    /// Tasks that wait for each other in a circle.
    pub(crate) circles: Vec<Circle>,
}

/// Tasks each of which waits for the end of the next, and the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Circle {
    /// Starts with the smallest id. There may be more than are reported.
    pub(crate) members: Vec<u64>,
    /// The number of all members.
    pub(crate) total: usize,
}

impl<'a> Graph<'a> {
    pub(crate) fn of(tasks: &'a [Task]) -> Self {
        let mut kinds: HashMap<&'static str, usize> = HashMap::new();
        for task in tasks.iter().filter(|task| task.state == State::Idle) {
            *kinds.entry(task.waits.kind).or_default() += 1;
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_unstable_by_key(|&(kind, count)| (std::cmp::Reverse(count), kind));

        let waiting: HashMap<u64, u64> =
            tasks.iter().filter_map(|task| Some((task.id, task.waits.joins?))).collect();
        let all_circles = circles(&waiting);
        let in_circle: HashSet<u64> = all_circles.iter().flatten().copied().collect();
        let circles: Vec<_> = all_circles.into_iter().map(Circle::cut).collect();
        let reported: HashSet<u64> = circles.iter().flat_map(|it| &it.members).copied().collect();
        // Only joined tasks are looked up by id, out of perhaps 100,000.
        let wanted: HashSet<u64> = waiting.values().copied().collect();
        let found: HashMap<u64, &Task> = tasks
            .iter()
            .filter(|task| wanted.contains(&task.id))
            .map(|task| (task.id, task))
            .collect();
        let mut joins: Vec<_> =
            tasks.iter().filter_map(|task| Some((task, *found.get(&task.waits.joins?)?))).collect();
        let all_joins = joins.len();
        joins.retain(|(task, _)| !in_circle.contains(&task.id) || reported.contains(&task.id));
        joins.sort_by_cached_key(|(task, _)| {
            (!reported.contains(&task.id), std::cmp::Reverse(task.since), task.id)
        });
        joins.truncate(EDGES);
        Self { kinds, joins, all_joins, circles }
    }
}

impl Circle {
    fn cut(mut members: Vec<u64>) -> Self {
        let total = members.len();
        members.truncate(MEMBERS);
        Self { members, total }
    }
}

/// Returns the circles of a graph in which each node has at most one successor. Each starts with its smallest id.
fn circles(next: &HashMap<u64, u64>) -> Vec<Vec<u64>> {
    // The walk in which a node was visited first.
    let mut visited: HashMap<u64, u64> = HashMap::new();
    let mut circles = Vec::new();
    let mut starts: Vec<u64> = next.keys().copied().collect();
    starts.sort_unstable();
    for start in starts {
        let mut at = start;
        while !visited.contains_key(&at) {
            visited.insert(at, start);
            match next.get(&at) {
                Some(&after) => at = after,
                None => break,
            }
        }
        // The walk has met itself, not a node that leads nowhere.
        if visited[&at] != start || !next.contains_key(&at) {
            continue;
        }
        let mut circle = vec![at];
        let mut other = next[&at];
        while other != at {
            circle.push(other);
            other = next[&other];
        }
        let smallest = (0..circle.len()).min_by_key(|&index| circle[index]).unwrap_or(0);
        circle.rotate_left(smallest);
        circles.push(circle);
        if circles.len() == CIRCLES {
            break;
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Waits;

    fn task(id: u64, joins: Option<u64>) -> Task {
        let waits = Waits {
            kind: if joins.is_some() { "join" } else { "timer" },
            joins,
            ..Waits::default()
        };
        Task { id, waits, ..Task::default() }
    }

    #[test]
    fn circles_are_found_and_chains_are_none() {
        // A circle of three with a tail, one that waits for itself, a chain, and one that waits for
        // a task that is gone.
        let joins = [(1, 2), (2, 3), (3, 1), (9, 2), (4, 4), (5, 6), (6, 7), (8, 100)];
        let mut tasks: Vec<_> = joins.iter().map(|&(from, to)| task(from, Some(to))).collect();
        tasks.push(task(7, None));
        let graph = Graph::of(&tasks);
        assert_eq!(graph.circles, [vec![1, 2, 3], vec![4]].map(Circle::cut));
        assert_eq!(graph.all_joins, 7, "the task that is gone is not shown");
        let first: Vec<_> = graph.joins.iter().take(4).map(|(from, to)| (from.id, to.id)).collect();
        assert_eq!(first, [(1, 2), (2, 3), (3, 1), (4, 4)]);
        assert_eq!(graph.kinds, [("join", 8), ("timer", 1)]);
    }

    /// All members used to be searched for each join, and all were sent.
    #[test]
    fn a_large_circle_is_found_in_a_moment_and_cut_short() {
        const TASKS: u64 = 100_000;
        let tasks: Vec<_> = (0..TASKS).map(|id| task(id, Some((id + 1) % TASKS))).collect();
        let mut graph = Graph::of(&tasks);
        let circle = graph.circles.pop().expect("a circle");
        assert!(graph.circles.is_empty());
        assert_eq!(circle.total, 100_000);
        assert_eq!(circle.members, (0..MEMBERS as u64).collect::<Vec<_>>());
        assert_eq!((graph.joins.len(), graph.all_joins), (MEMBERS, 100_000));
    }

    #[test]
    fn a_long_chain_takes_no_stack_and_is_cut_short() {
        let tasks: Vec<_> = (0..100_000).map(|id| task(id, Some(id + 1))).collect();
        let graph = Graph::of(&tasks);
        assert!(graph.circles.is_empty());
        assert_eq!(graph.joins.len(), EDGES);
        assert_eq!(graph.all_joins, 99_999);
    }
}
