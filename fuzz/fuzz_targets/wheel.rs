//! The timer wheel against a sorted list: arming, cancelling, resetting and firing in any order.
#![no_main]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

use libfuzzer_sys::fuzz_target;
use windlass_fuzz::Input;
use windlass_timer::{Key, Wheel};

struct Note(u64, Arc<Mutex<Vec<u64>>>);

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let mut wheel = Wheel::new();
    let log = Arc::new(Mutex::new(Vec::new()));
    // By deadline, then by number.
    let mut list: BTreeMap<(u64, u64), Key> = BTreeMap::new();
    let (mut number, mut now) = (0, 0_u64);
    while let Some(step) = input.step() {
        match step % 5 {
            0 | 1 => {
                let deadline = now.saturating_add(input.number());
                let waker = Waker::from(Arc::new(Note(number, log.clone())));
                list.insert((deadline, number), wheel.insert(deadline, waker));
                number += 1;
            }
            2 if !list.is_empty() => {
                let at = *list.keys().nth(input.below(list.len())).unwrap();
                let key = list.remove(&at).unwrap();
                assert!(wheel.is_armed(&key));
                assert!(wheel.remove(key).is_some());
            }
            3 if !list.is_empty() => {
                let at = *list.keys().nth(input.below(list.len())).unwrap();
                let key = list.remove(&at).unwrap();
                let deadline = now.saturating_add(input.number());
                assert!(wheel.reset(&key, deadline).is_some());
                list.insert((deadline, at.1), key);
            }
            _ => {
                now = now.saturating_add(input.number());
                let mut fired = Vec::new();
                wheel.advance(now, &mut fired);
                fired.into_iter().for_each(Waker::wake);
                let mut due = Vec::new();
                while let Some(first) = list.first_entry().filter(|first| first.key().0 <= now) {
                    due.push((first.key().1, first.remove()));
                }
                let mut seen = std::mem::take(&mut *log.lock().unwrap());
                seen.sort_unstable();
                let mut expected: Vec<u64> = due.iter().map(|(number, _)| *number).collect();
                expected.sort_unstable();
                assert_eq!(seen, expected, "at {now}");
                for (_, key) in due {
                    assert!(!wheel.is_armed(&key));
                    // Its place may be used again.
                    assert!(wheel.remove(key).is_none());
                }
            }
        }
        assert_eq!(wheel.is_empty(), list.is_empty());
        assert_eq!(wheel.earliest(), list.keys().next().map(|at| at.0));
        if let Some(next) = wheel.next_deadline() {
            assert!(list.keys().next().is_some_and(|at| next <= at.0), "a timer would be late");
        }
    }
    for (_, key) in list {
        assert!(wheel.remove(key).is_some());
    }
});
