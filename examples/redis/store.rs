//! Keys and values, some of which expire.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Many, so that threads rarely contend for a lock.
const SHARDS: usize = 64;

type Shard = HashMap<Box<[u8]>, Value>;

/// All keys.
pub(crate) struct Store {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    /// The shard that is swept next.
    turn: AtomicUsize,
}

struct Value {
    bytes: Box<[u8]>,
    expires: Option<Instant>,
}

impl Value {
    fn is_alive(&self) -> bool {
        self.expires.is_none_or(|expires| Instant::now() < expires)
    }
}

/// Whether a key must or must not exist to be set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    IfAbsent,
    IfPresent,
}

impl Default for Store {
    fn default() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, hasher: RandomState::new(), turn: AtomicUsize::new(0) }
    }
}

impl Store {
    fn shard(&self, key: &[u8]) -> MutexGuard<'_, Shard> {
        let index = self.hasher.hash_one(key) as usize % SHARDS;
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a value to `read`, if the key exists.
    pub(crate) fn get<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let shard = self.shard(key);
        shard.get(key).filter(|value| value.is_alive()).map(|value| read(&value.bytes))
    }

    /// Sets a key. Returns false if the condition is not met.
    pub(crate) fn set(
        &self,
        key: &[u8],
        bytes: &[u8],
        expires: Option<Instant>,
        condition: Condition,
    ) -> bool {
        let mut shard = self.shard(key);
        let present = shard.get_mut(key);
        let is_alive = present.as_ref().is_some_and(|value| value.is_alive());
        let refused = if is_alive { Condition::IfAbsent } else { Condition::IfPresent };
        if condition == refused {
            return false;
        }
        match present {
            // Caches often write the same length again and again.
            Some(value) if value.bytes.len() == bytes.len() => {
                value.bytes.copy_from_slice(bytes);
                value.expires = expires;
            }
            Some(value) => *value = Value { bytes: bytes.into(), expires },
            None => {
                shard.insert(key.into(), Value { bytes: bytes.into(), expires });
            }
        }
        true
    }

    /// Adds to a number. Returns `None` if the value is not a number.
    pub(crate) fn add(&self, key: &[u8], amount: i64) -> Option<i64> {
        let mut shard = self.shard(key);
        let value = shard.get_mut(key).filter(|value| value.is_alive());
        let before = match &value {
            Some(value) => std::str::from_utf8(&value.bytes).ok()?.parse().ok()?,
            None => 0,
        };
        let sum = i64::checked_add(before, amount)?;
        let bytes = sum.to_string().into_bytes().into();
        match value {
            Some(value) => value.bytes = bytes,
            None => drop(shard.insert(key.into(), Value { bytes, expires: None })),
        }
        Some(sum)
    }

    /// Removes a key. Returns true if it existed.
    pub(crate) fn remove(&self, key: &[u8]) -> bool {
        self.shard(key).remove(key).is_some_and(|value| value.is_alive())
    }

    /// Returns when a key expires: `None` if it does not exist, `Some(None)` if it never expires.
    pub(crate) fn expires(&self, key: &[u8]) -> Option<Option<Instant>> {
        self.shard(key).get(key).filter(|value| value.is_alive()).map(|value| value.expires)
    }

    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().map_or(0, |shard| shard.len())).sum()
    }

    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            shard.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// Removes expired keys from one shard, the next one at each call.
    pub(crate) fn sweep_one(&self) {
        let index = self.turn.fetch_add(1, Ordering::Relaxed) % SHARDS;
        let mut shard = self.shards[index].lock().unwrap_or_else(PoisonError::into_inner);
        shard.retain(|_, value| value.is_alive());
    }
}
