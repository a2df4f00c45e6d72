//! One cell of the matrix, as the name of its workload says it.

use crate::workloads::{self, Workload};

/// The axes of the matrix.
pub(crate) const LOADS: [usize; 3] = [1, 2, 4];
pub(crate) const CONNECTIONS: [usize; 5] = [1, 16, 64, 256, 1024];
pub(crate) const NEIGHBOURS: [Neighbours; 4] =
    [Neighbours::None, Neighbours::One, Neighbours::Two, Neighbours::Quota];

/// Who else wants the CPUs of the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Neighbours {
    None,
    /// Processes that burn CPU time.
    One,
    Two,
    /// Nobody, but the server may use one CPU at most.
    Quota,
}

impl Neighbours {
    /// As on the command line and in the names of workloads.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Neighbours::None => "none",
            Neighbours::One => "1",
            Neighbours::Two => "2",
            Neighbours::Quota => "quota",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Neighbours> {
        NEIGHBOURS.into_iter().find(|neighbours| neighbours.name() == name)
    }

    pub(super) fn hogs(self) -> usize {
        match self {
            Neighbours::None | Neighbours::Quota => 0,
            Neighbours::One => 1,
            Neighbours::Two => 2,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Neighbours::None => "quiet",
            Neighbours::One => "1 hog",
            Neighbours::Two => "2 hogs",
            Neighbours::Quota => "quota of 1 CPU",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell<'a> {
    pub(crate) service: &'a str,
    pub(crate) neighbours: Neighbours,
    pub(crate) loads: usize,
    pub(crate) connections: usize,
}

impl<'a> Cell<'a> {
    /// The cell that a workload is; `None` of all others.
    pub(crate) fn of(workload: &'a str) -> Option<Cell<'a>> {
        let mut words = workload.strip_prefix("crowd_")?.split('_');
        let (service, neighbours, shape) = (words.next()?, words.next()?, words.next()?);
        let (loads, connections) = shape.split_once('x')?;
        Some(Cell {
            service,
            neighbours: Neighbours::named(neighbours)?,
            loads: loads.parse().ok()?,
            connections: connections.parse().ok()?,
        })
    }

    /// `None` where there is not even a connection for each load.
    pub(super) fn workload(self) -> Option<&'static Workload> {
        workloads::all().find(|workload| Cell::of(workload.name) == Some(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_whole() {
        for service in ["echo", "http"] {
            for neighbours in NEIGHBOURS {
                for loads in LOADS {
                    for connections in CONNECTIONS {
                        let cell = Cell { service, neighbours, loads, connections };
                        assert_eq!(cell.workload().is_some(), loads <= connections, "{cell:?}");
                    }
                }
            }
        }
        assert_eq!(Cell::of("echo_64"), None);
        assert_eq!(Cell::of("crowd_echo_3_2x16"), None);
    }
}
