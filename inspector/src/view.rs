//! The choice of one client: which tasks it wants to see, how many, and in which order.

use std::cmp::Ordering;

use crate::http::Request;
use crate::model::Task;
use crate::policy::{FILTER_LIMIT, ROWS};

/// A column of the table of tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Column {
    Id,
    Name,
    Site,
    Kind,
    State,
    Since,
    Age,
    Polls,
    #[default]
    Busy,
    Waits,
}

impl Column {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "id" => Self::Id,
            "name" => Self::Name,
            "site" => Self::Site,
            "kind" => Self::Kind,
            "state" => Self::State,
            "since" => Self::Since,
            "age" => Self::Age,
            "polls" => Self::Polls,
            "busy" => Self::Busy,
            "waits" => Self::Waits,
            _ => return None,
        })
    }

    fn compare(self, one: &Task, other: &Task) -> Ordering {
        match self {
            Self::Id => one.id.cmp(&other.id),
            Self::Name => one.name.cmp(&other.name),
            Self::Site => one.site.cmp(&other.site),
            Self::Kind => one.kind.cmp(&other.kind),
            Self::State => one.state.cmp(&other.state).then(one.since.cmp(&other.since)),
            Self::Since => one.since.cmp(&other.since),
            Self::Age => one.age.cmp(&other.age),
            Self::Polls => one.polls.cmp(&other.polls),
            Self::Busy => one.busy.cmp(&other.busy),
            Self::Waits => {
                (one.waits.kind, &one.waits.detail).cmp(&(other.waits.kind, &other.waits.detail))
            }
        }
    }
}

/// The choice of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    rows: usize,
    column: Column,
    descending: bool,
    /// In lower case.
    filter: String,
}

impl Default for View {
    fn default() -> Self {
        Self { rows: ROWS.0, column: Column::default(), descending: true, filter: String::new() }
    }
}

impl View {
    /// Reads `n`, `sort`, `order` and `filter` from a request's query. Invalid values are ignored in favour of the
    /// defaults.
    pub(crate) fn of(request: &Request) -> Self {
        let usual = Self::default();
        let mut filter = request.query("filter").unwrap_or_default().to_lowercase();
        if filter.len() > FILTER_LIMIT {
            filter.truncate(
                (0..=FILTER_LIMIT).rev().find(|&at| filter.is_char_boundary(at)).unwrap_or(0),
            );
        }
        Self {
            rows: request.query("n").and_then(|n| n.parse().ok()).unwrap_or(usual.rows).min(ROWS.1),
            column: request.query("sort").and_then(Column::named).unwrap_or_default(),
            descending: request.query("order") != Some("up"),
            filter,
        }
    }

    /// Returns the rows to show, in order, and the number of tasks that pass the filter.
    pub(crate) fn select<'a>(&self, tasks: &'a [Task]) -> (Vec<&'a Task>, usize) {
        let mut rows: Vec<&Task> = tasks.iter().filter(|task| self.passes(task)).collect();
        let matching = rows.len();
        let compare = |one: &&Task, other: &&Task| {
            let order = self.column.compare(one, other);
            // Equal rows keep their places from one frame to the next.
            (if self.descending { order.reverse() } else { order }).then(one.id.cmp(&other.id))
        };
        if matching > self.rows {
            if self.rows > 0 {
                rows.select_nth_unstable_by(self.rows - 1, compare);
            }
            rows.truncate(self.rows);
        }
        rows.sort_unstable_by(compare);
        (rows, matching)
    }

    fn passes(&self, task: &Task) -> bool {
        let has = |text: &str| text.to_lowercase().contains(&self.filter);
        self.filter.is_empty()
            || task.name.as_deref().is_some_and(has)
            || has(&task.site)
            || has(task.kind.word())
            || has(task.state.word())
            || has(task.waits.kind)
            || has(&task.waits.detail)
            || task.id.to_string() == self.filter
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::State;

    fn view(query: &str) -> View {
        let text = format!("GET /events?{query} HTTP/1.1\r\n\r\n");
        View::of(&Request::parse(text.as_bytes()).unwrap().unwrap())
    }

    fn tasks() -> Vec<Task> {
        let task = |id: u64| Task {
            id,
            name: (id % 3 == 0).then(|| format!("Third {id}")),
            site: format!("src/a.rs:{}", id % 7).into(),
            state: if id == 5 { State::Running(1) } else { State::Idle },
            busy: Duration::from_nanos(id * 31 % 1_009),
            ..Task::default()
        };
        (0..1_009).map(task).collect()
    }

    fn ids(query: &str) -> Vec<u64> {
        view(query).select(&tasks()).0.iter().map(|task| task.id).collect()
    }

    #[test]
    fn the_top_rows_are_those_of_a_whole_sort() {
        let mut all = tasks();
        all.sort_by_key(|task| std::cmp::Reverse((task.busy, task.id)));
        let expected: Vec<_> = all.iter().take(10).map(|task| task.id).collect();
        assert_eq!(ids("n=10&sort=busy"), expected);
        assert_eq!(ids("n=3&sort=id&order=up"), [0, 1, 2]);
        assert_eq!(ids("n=1&sort=state"), [5]);
    }

    #[test]
    fn every_column_sorts() {
        for column in ["id", "name", "site", "state", "since", "age", "polls", "busy", "waits"] {
            assert!(Column::named(column).is_some(), "{column}");
            assert_eq!(ids(&format!("n=500&sort={column}")).len(), 500);
        }
    }

    #[test]
    fn the_number_of_rows_is_bounded() {
        assert_eq!(ids("n=100000").len(), 500);
        assert_eq!(ids("n=-1").len(), 100);
        assert_eq!(ids("n=0").len(), 0);
    }

    #[test]
    fn a_filter_looks_at_all_text_whatever_its_case() {
        let tasks = tasks();
        let (rows, matching) = view("filter=tHIRD+9&n=2").select(&tasks);
        assert_eq!(rows.len(), 2);
        let third =
            |task: &&Task| task.name.as_deref().is_some_and(|name| name.starts_with("Third 9"));
        assert_eq!(matching, tasks.iter().filter(third).count());
        assert_eq!(ids("filter=running"), [5]);
        assert!(ids("filter=17").contains(&17));
        assert!(view(&format!("filter={}", "%C3%A9".repeat(300))).filter.len() <= FILTER_LIMIT);
    }
}
