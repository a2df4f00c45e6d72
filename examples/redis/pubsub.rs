//! Channels, and their subscribers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass::channel::{self, Receiver, Sender};

/// The number of messages that may wait for a subscriber. A slower subscriber is disconnected.
const WAITING: usize = 1024;

/// The subscribers of a channel.
type Listeners = Vec<Sender<Arc<[u8]>>>;

/// All channels, by name.
#[derive(Default)]
pub(crate) struct Channels(Mutex<HashMap<Box<[u8]>, Listeners>>);

impl Channels {
    fn lock(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Listeners>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message to all subscribers, and returns their number.
    pub(crate) fn publish(&self, channel: &[u8], message: &Arc<[u8]>) -> usize {
        let mut channels = self.lock();
        let Some(listeners) = channels.get_mut(channel) else { return 0 };
        listeners.retain(|listener| {
            let sent = listener.try_send(message.clone()).is_ok();
            // The subscriber's connection ends with its channel.
            sent || !listener.close()
        });
        listeners.len()
    }
}

/// A connection's subscriptions, which end with it.
pub(crate) struct Subscriptions<'a> {
    channels: &'a Channels,
    names: Vec<Box<[u8]>>,
    sender: Sender<Arc<[u8]>>,
    receiver: Receiver<Arc<[u8]>>,
}

impl<'a> Subscriptions<'a> {
    pub(crate) fn new(channels: &'a Channels) -> Self {
        let (sender, receiver) = channel::bounded(WAITING);
        Self { channels, names: Vec::new(), sender, receiver }
    }

    /// Subscribes to a channel, and returns the number of subscriptions.
    pub(crate) fn add(&mut self, name: &[u8]) -> usize {
        if !self.names.iter().any(|other| **other == *name) {
            self.names.push(name.into());
            self.channels.lock().entry(name.into()).or_default().push(self.sender.clone());
        }
        self.names.len()
    }

    /// Ends a subscription, and returns the number of those left.
    pub(crate) fn remove(&mut self, name: &[u8]) -> usize {
        self.names.retain(|other| **other != *name);
        let mut channels = self.channels.lock();
        if let Some(listeners) = channels.get_mut(name) {
            listeners.retain(|listener| !listener.same_channel(&self.sender));
            if listeners.is_empty() {
                channels.remove(name);
            }
        }
        self.names.len()
    }

    pub(crate) fn names(&self) -> Vec<Box<[u8]>> {
        self.names.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the next message in the format of the wire, or `None` if the connection was too slow.
    pub(crate) async fn next(&self) -> Option<Arc<[u8]>> {
        self.receiver.recv().await.ok()
    }
}

impl Drop for Subscriptions<'_> {
    fn drop(&mut self) {
        for name in self.names() {
            self.remove(&name);
        }
    }
}
