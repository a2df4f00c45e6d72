//! A set of tasks that are awaited in the order in which they end.

mod spawns;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::ended::EndedSlots;
use super::state::JoinStep;
use super::waits::Waits;
use super::{AbortHandle, Id, JoinError, JoinHandle, waker};
use crate::coop;

/// A set of tasks with the same output type. Dropping the set **aborts** its tasks; [`detach_all`](Self::detach_all)
/// detaches them instead.
///
/// # Examples
///
/// ```
/// use windlass::task::JoinSet;
///
/// let mut squares = windlass::block_on(async {
///     let mut set = JoinSet::new();
///     for i in 1..=3 {
///         set.spawn(async move { i * i });
///     }
///     set.join_all().await
/// });
/// squares.sort();
/// assert_eq!(squares, [1, 4, 9]);
/// ```
pub struct JoinSet<T> {
    slots: Vec<Option<JoinHandle<T>>>,
    vacant: Vec<usize>,
    /// The sum of the indices of all slots that are not vacant. Of a single one it is the index.
    taken: usize,
    ended: Arc<EndedSlots>,
}

impl<T> JoinSet<T> {
    /// Creates an empty set.
    ///
    /// # Examples
    ///
    /// ```
    /// let set = windlass::task::JoinSet::<()>::new();
    /// assert!(set.is_empty());
    /// ```
    pub fn new() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), taken: 0, ended: Arc::default() }
    }

    /// Returns the number of tasks in the set, including those that have ended and whose result was not taken.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set: windlass::task::JoinSet<i32> = [1, 2].map(|i| async move { i }).into_iter().collect();
    /// assert_eq!(set.len(), 2);
    /// set.join_next().await;
    /// assert_eq!(set.len(), 1);
    /// # });
    /// ```
    pub fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// Returns true if the set holds no task.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn(async {});
    /// assert!(!set.is_empty());
    /// set.join_next().await;
    /// assert!(set.is_empty());
    /// # });
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.taken = self.taken.wrapping_add(slot);
        let step = handle.register(&self.ended.waker_for(slot));
        self.slots[slot] = Some(handle);
        if step == JoinStep::Complete {
            self.ended.push(slot);
        }
        abort
    }

    /// Waits for the next task to end and returns its result, or `None` if the set is empty.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no result out of the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn(async { 42 });
    /// while let Some(result) = set.join_next().await {
    ///     assert_eq!(result.unwrap(), 42);
    /// }
    /// # });
    /// ```
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        std::future::poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// Waits for the next task to end and returns its id and its result, or `None` if the set is empty. Dropping the
    /// future takes no result out of the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// let task = set.spawn(async { 42 });
    /// assert_eq!(set.join_next_with_id().await.unwrap().unwrap(), (task.id(), 42));
    /// # });
    /// ```
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        std::future::poll_fn(|cx| self.poll_next_with_id(cx)).await
    }

    /// Polls for the next task to end; see [`join_next`](Self::join_next).
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn(async { 7 });
    /// let next = std::future::poll_fn(|cx| set.poll_join_next(cx)).await;
    /// assert_eq!(next.unwrap().unwrap(), 7);
    /// # });
    /// ```
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_next_with_id(cx).map(|next| next.map(|result| result.map(|(_, output)| output)))
    }

    fn poll_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.is_empty() {
            return Poll::Ready(None);
        }
        std::task::ready!(coop::poll_proceed(cx));
        match self.ended.pop_or_wait(cx) {
            Some(slot) => {
                coop::spend();
                Poll::Ready(Some(self.take(slot)))
            }
            None => {
                self.note_wait();
                Poll::Pending
            }
        }
    }

    /// Notes that the task that this thread polls waits for the next task of the set. Which one that is, is known only
    /// if there is a single one.
    fn note_wait(&self) {
        match (self.len(), self.slots.get(self.taken)) {
            (1, Some(Some(only))) => only.note_wait(),
            (tasks, _) => waker::note_wait(Waits::JoinSet(tasks.try_into().unwrap_or(u32::MAX))),
        }
    }

    /// Returns the result of a task that has already ended, if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// assert!(set.try_join_next().is_none());
    /// # });
    /// ```
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(|result| result.map(|(_, output)| output))
    }

    /// Returns the id and the result of a task that has already ended, if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// let task = set.spawn(async { 7 });
    /// let ended = loop {
    ///     match set.try_join_next_with_id() {
    ///         Some(ended) => break ended,
    ///         None => windlass::yield_now().await,
    ///     }
    /// };
    /// assert_eq!(ended.unwrap(), (task.id(), 7));
    /// # });
    /// ```
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let slot = self.ended.pop()?;
        Some(self.take(slot))
    }

    /// Takes the result out of a slot whose task has ended.
    fn take(&mut self, slot: usize) -> Result<(Id, T), JoinError> {
        let mut handle = self.slots[slot].take().expect("a slot ends once");
        self.vacant.push(slot);
        self.taken = self.taken.wrapping_sub(slot);
        let id = handle.id();
        let polled =
            coop::uncounted(|| Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop())));
        match polled {
            Poll::Ready(result) => result.map(|output| (id, output)),
            Poll::Pending => unreachable!("a slot that ended has its output"),
        }
    }

    /// Waits for all tasks and returns their outputs, in the order in which they ended. Dropping the future aborts the
    /// remaining tasks.
    ///
    /// # Panics
    ///
    /// Panics with a task's payload if the task panicked. Panics also if a task was cancelled.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let set: windlass::task::JoinSet<i32> = [1, 2].map(|i| async move { i }).into_iter().collect();
    /// assert_eq!(set.join_all().await.iter().sum::<i32>(), 3);
    /// # });
    /// ```
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(result) = self.join_next().await {
            match result {
                Ok(output) => outputs.push(output),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => panic!("{error}"),
            }
        }
        outputs
    }

    /// Aborts all tasks. They stay in the set, and [`join_next`](Self::join_next) returns the result of each.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.abort_all();
    /// assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort_all(&self) {
        self.slots.iter().flatten().for_each(JoinHandle::abort);
    }

    /// Aborts all tasks and waits until they have ended. If the future is dropped, they are aborted nevertheless, and
    /// results not yet discarded stay in the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.shutdown().await;
    /// assert!(set.is_empty());
    /// # });
    /// ```
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Detaches all tasks and empties the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// let task = set.spawn(std::future::pending::<()>());
    /// set.detach_all();
    /// assert!(set.is_empty() && !task.is_finished());
    /// # task.abort();
    /// # });
    /// ```
    pub fn detach_all(&mut self) {
        self.slots.clear();
        self.vacant.clear();
        self.taken = 0;
        // Wakers of the detached tasks still point to the old list.
        self.ended = Arc::default();
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<T: Send + 'static, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = Self::new();
        // A loop and not a closure, so that the tasks are spawned at the caller's location.
        for future in futures {
            set.spawn(future);
        }
        set
    }
}
