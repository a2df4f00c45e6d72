//! The times and limits of a server, each with what it trades.

use std::time::Duration;

/// How long connections may take to end, if nothing is set. Longer lets more requests come to their end; shorter ends
/// sooner. Longer than most requests take, and, with [`LETTING_GO`] and some seconds for the rest of the program, shorter
/// than supervisors wait before they kill a process: Kubernetes 30 seconds, systemd 90. Read by `Drain::serve`.
pub(crate) const DEADLINE: Duration = Duration::from_secs(25);

/// How long a server that ends continues to accept, if nothing is set. Shorter loses handshakes that have begun,
/// longer delays the end: a few round trips within a data centre, one across a continent. Read by `Drain::serve`.
pub(crate) const GRACE: Duration = Duration::from_millis(50);

/// How many connections a server that drains accepts after the grace period, if new ones can still join the queue. It
/// is the number that Linux lets wait by default (`net.core.somaxconn`), so all that were there are accepted, and a
/// stream of later ones does not hold up the end. More serves a longer queue; fewer ends sooner. Read by `Server`.
pub(crate) const LAST_ACCEPTS: usize = 4096;

/// How many errors that are not the OS's a listener may have after the grace period, with a pause after each. More gets at
/// connections behind those that fail; fewer ends sooner beside a listener that fails for good. Chosen: a third of a
/// second. Read by `Server`.
pub(crate) const LAST_FAILURES: usize = 64;

/// The share of the descriptors that connections may take, if no limit is set: numerator and denominator. The rest is
/// for files and connections that handlers open. With a larger share, handlers fail under load; with a smaller one,
/// clients wait that could be served. Read by `default_limit`.
const FOR_CONNECTIONS: (usize, usize) = (3, 4);

/// The first and the longest pause after an error of `accept`. Shorter pauses burn CPU time while no descriptor is
/// free; longer ones make clients wait although some are free again. The end of a connection cuts a pause short. Read
/// by `Server`.
pub(crate) const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// The shortest time between two reports of errors of `accept`. Shorter floods a log while descriptors have run out,
/// longer leaves out errors of other kinds. Chosen. Read by `AcceptErrors`.
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// How long aborted tasks may take to drop what they own. Those that take longer are stuck in a poll, and are left to
/// the report of the runtime's shutdown. Read by `Server`.
pub(crate) const LETTING_GO: Duration = Duration::from_secs(1);

/// Requests to end the process that arrive within this time are one: a shell or a supervisor may pass on a signal that
/// the process has received already. Shorter takes those for a second request, longer ignores an impatient person.
/// Read by `Triggers`.
pub(crate) const SAME_REQUEST: Duration = Duration::from_millis(500);

/// Returns the number of connections that may be open, given how many descriptors may be.
pub(crate) fn default_limit(descriptors: Option<usize>) -> usize {
    let (numerator, denominator) = FOR_CONNECTIONS;
    match descriptors {
        Some(descriptors) => (descriptors / denominator * numerator).max(1),
        None => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::default_limit;

    #[test]
    fn a_quarter_of_the_descriptors_is_left_to_handlers() {
        assert_eq!(default_limit(Some(1024)), 768);
        assert_eq!(default_limit(Some(20_000)), 15_000);
        assert_eq!(default_limit(Some(3)), 1, "it serves somebody");
        assert_eq!(default_limit(Some(usize::MAX)), usize::MAX / 4 * 3);
        assert_eq!(default_limit(None), usize::MAX);
    }
}
