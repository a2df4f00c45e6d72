//! Whose turn it is: one thread of a model runs at a time, and random numbers decide which.
//!
//! Each thread has a condition variable of its own, on which it waits for its turn. It passes the turn on when it waits
//! for something, when it ends, and now and then in between. A thread that waits is made ready again by the thread that
//! does what it waits for.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// A model without an end is given up after this many steps. Models that end take some hundred to some thousand steps.
const MOST_STEPS: usize = 300_000;

thread_local! {
    /// The model that this thread is a part of, and its number there.
    static CURRENT: RefCell<Option<(Arc<Run>, usize)>> = const { RefCell::new(None) };
}

/// Returns the model that the current thread is a part of, and its number there.
pub(super) fn current() -> Option<(Arc<Run>, usize)> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// Takes a step of the current thread: another may run in its place.
pub(super) fn step() {
    if let Some((run, thread)) = current() {
        run.step(thread);
    }
}

/// The thing that a thread waits for, by address or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Lock(usize),
    Condvar(usize),
    End(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ready,
    Waits(On),
    Ended,
}

/// One run of a model.
pub(super) struct Run {
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    threads: Vec<(Status, Arc<Condvar>)>,
    turn: usize,
    random: u64,
    /// One step in this many may change threads.
    rarity: u64,
    steps: usize,
    digest: u64,
    failure: Option<String>,
}

impl State {
    /// Returns the next random number (xorshift64*).
    fn random(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Returns a random thread that is in this state, other than `but`.
    fn any(&mut self, status: Status, but: Option<usize>) -> Option<usize> {
        let all = self.threads.iter().enumerate();
        let fit: Vec<usize> =
            all.filter(|(i, t)| t.0 == status && Some(*i) != but).map(|(i, _)| i).collect();
        let chosen = self.random();
        (!fit.is_empty()).then(|| fit[chosen as usize % fit.len()])
    }

    fn has_ended(&self) -> bool {
        self.threads.iter().all(|thread| thread.0 == Status::Ended)
    }
}

impl Run {
    pub(super) fn new(seed: u64) -> Arc<Self> {
        let mut state = State {
            threads: Vec::new(),
            turn: 0,
            random: seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            rarity: 1,
            steps: 0,
            digest: 0,
            failure: None,
        };
        state.random();
        // Some faults need many switches, and some that a thread runs far ahead of the others.
        state.rarity = 1 << (state.random() % 7);
        Arc::new(Self { state: Mutex::new(state), over: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds a thread, which is ready. Returns its number.
    pub(super) fn add(&self) -> usize {
        let mut state = self.lock();
        state.threads.push((Status::Ready, Arc::default()));
        state.threads.len() - 1
    }

    /// Begins the current thread, which has this number. Returns when it is its turn.
    pub(super) fn begin(self: &Arc<Self>, thread: usize) {
        CURRENT.with(|current| *current.borrow_mut() = Some((self.clone(), thread)));
        drop(self.wait_for_turn(self.lock(), thread));
    }

    /// Ends the current thread.
    pub(super) fn end(&self, thread: usize) {
        CURRENT.with(|current| *current.borrow_mut() = None);
        let mut state = self.lock();
        state.threads[thread].0 = Status::Ended;
        Self::ready_all(&mut state, On::End(thread));
        if state.has_ended() {
            self.over.notify_all();
        } else if let Some(next) = state.any(Status::Ready, None) {
            Self::pass_turn(&mut state, next);
        } else {
            self.note_deadlock(&mut state);
        }
    }

    pub(super) fn has_thread_ended(&self, thread: usize) -> bool {
        self.lock().threads[thread].0 == Status::Ended
    }

    /// May let another thread run now.
    fn step(&self, thread: usize) {
        let mut state = self.lock();
        self.count_step(&mut state);
        let next = match state.random() % state.rarity {
            0 => state.any(Status::Ready, None).unwrap_or(thread),
            _ => thread,
        };
        self.run_instead(state, thread, next);
    }

    /// Lets another thread run now, if one is ready.
    pub(super) fn yield_now(&self, thread: usize) {
        let mut state = self.lock();
        self.count_step(&mut state);
        let next = state.any(Status::Ready, Some(thread)).unwrap_or(thread);
        self.run_instead(state, thread, next);
    }

    /// Waits until another thread makes this one ready.
    pub(super) fn wait(&self, thread: usize, on: On) {
        let mut state = self.lock();
        self.count_step(&mut state);
        state.threads[thread].0 = Status::Waits(on);
        match state.any(Status::Ready, None) {
            Some(next) => self.run_instead(state, thread, next),
            None => {
                self.note_deadlock(&mut state);
                drop(self.wait_for_turn(state, thread));
            }
        }
    }

    /// Marks all threads that wait for this as ready.
    pub(super) fn wake_all(&self, on: On) {
        Self::ready_all(&mut self.lock(), on);
    }

    /// Marks a random thread that waits for this as ready.
    pub(super) fn wake_one(&self, on: On) {
        let mut state = self.lock();
        if let Some(chosen) = state.any(Status::Waits(on), None) {
            state.threads[chosen].0 = Status::Ready;
        }
    }

    /// Notes that the model has failed in the current thread, which stops at its next step.
    pub(super) fn fail(&self, message: &str) {
        self.note_failure(&mut self.lock(), message);
    }

    /// Waits until the model has ended. Returns its steps, or what went wrong.
    pub(super) fn wait_for_end(&self) -> Result<(usize, u64), String> {
        let mut state = self.lock();
        loop {
            if let Some(message) = &state.failure {
                return Err(message.clone());
            }
            if !state.threads.is_empty() && state.has_ended() {
                return Ok((state.steps, state.digest));
            }
            state = self.over.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn count_step(&self, state: &mut State) {
        state.steps += 1;
        if state.steps == MOST_STEPS {
            self.note_failure(state, "the model has no end");
        }
    }

    fn ready_all(state: &mut State, on: On) {
        for thread in &mut state.threads {
            if thread.0 == Status::Waits(on) {
                thread.0 = Status::Ready;
            }
        }
    }

    fn pass_turn(state: &mut State, next: usize) {
        state.turn = next;
        state.digest = state.digest.rotate_left(5) ^ (next as u64 + 1);
        state.threads[next].1.notify_one();
    }

    fn run_instead(&self, mut state: MutexGuard<'_, State>, thread: usize, next: usize) {
        if next != thread {
            Self::pass_turn(&mut state, next);
        }
        drop(self.wait_for_turn(state, thread));
    }

    fn wait_for_turn<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        thread: usize,
    ) -> MutexGuard<'a, State> {
        if state.turn == thread && state.failure.is_none() {
            return state;
        }
        let mine = state.threads[thread].1.clone();
        // Once the model has failed, no thread gets another turn.
        while state.turn != thread || state.failure.is_some() {
            state = mine.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state
    }

    fn note_deadlock(&self, state: &mut State) {
        let waiting: Vec<_> = state.threads.iter().map(|thread| thread.0).collect();
        self.note_failure(state, &format!("no thread can go on: {waiting:?}"));
    }

    fn note_failure(&self, state: &mut State, message: &str) {
        state.failure.get_or_insert_with(|| message.to_owned());
        self.over.notify_all();
    }
}
