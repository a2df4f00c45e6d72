//! Spawn sites: the places in the source at which tasks are spawned, numbered once for the process.
//!
//! A task holds the number of its site, which is smaller than a pointer to a place and a name, and is an index for
//! code that counts by site. A thread remembers the numbers of the sites it has used lately, so a spawn takes no lock
//! and hashes nothing. The number of sites is bounded; nothing is ever removed.
//!
//! The lock is `std`'s, also in models: the data behind it depends only on the source, so no order matters.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::{LazyLock, OnceLock, RwLock};

use super::policy::{CHUNK_SITES, REMEMBERED_SITES, SITE_CHUNKS, SITE_NAMES};
use crate::primitives::plain::{AtomicBool, Ordering};

/// A place at which tasks are spawned, and the name of those tasks.
pub(crate) struct Site {
    pub(crate) location: &'static Location<'static>,
    pub(crate) name: Option<Box<str>>,
    computes: AtomicBool,
}

impl Site {
    /// Notes that the tasks spawned here compute, and take long on purpose.
    pub(crate) fn set_computes(&self) {
        // Read first: callers at the same place share the cache line.
        if !self.computes() {
            self.computes.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if what is spawned here computes.
    pub(crate) fn computes(&self) -> bool {
        self.computes.load(Ordering::Relaxed)
    }
}

/// The number of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteId(u16);

/// A place in the source, by its content, because the same place may have several addresses.
#[derive(PartialEq, Eq, Hash)]
struct LocationKey {
    file: &'static str,
    line: u32,
    column: u32,
}

#[derive(Default)]
struct Known {
    /// The sites of each place: one for each name, and one for tasks without a name.
    places: HashMap<LocationKey, HashMap<Option<&'static str>, SiteId>>,
    count: usize,
}

type SiteChunk = Box<[OnceLock<Site>]>;

static SITES: [OnceLock<SiteChunk>; SITE_CHUNKS] = [const { OnceLock::new() }; SITE_CHUNKS];
static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(|| {
    let mut known = Known::default();
    known.add(Location::caller(), None);
    RwLock::new(known)
});

thread_local! {
    /// By the address of the place. Nothing is at address 0.
    static LATELY: [Cell<(usize, SiteId)>; REMEMBERED_SITES] =
        const { [const { Cell::new((0, SiteId(0))) }; REMEMBERED_SITES] };
    /// The same for sites with a name, by place and name.
    static LATELY_NAMED: [Cell<(usize, SiteId)>; REMEMBERED_SITES] =
        const { [const { Cell::new((0, SiteId(0))) }; REMEMBERED_SITES] };
}

impl SiteId {
    /// Returns the site of a task that is being spawned.
    #[inline]
    pub(crate) fn of(location: &'static Location<'static>, name: Option<&str>) -> Self {
        let address = std::ptr::from_ref(location).addr();
        if let Some(name) = name {
            return Self::of_named(location, address, name);
        }
        // Places are 24 bytes and lie side by side.
        LATELY.with(|lately| {
            let cell = &lately[(address >> 3) % REMEMBERED_SITES];
            let (known, id) = cell.get();
            if known == address {
                return id;
            }
            let id = Self::look_up(location, None);
            cell.set((address, id));
            id
        })
    }

    #[inline(never)]
    fn of_named(location: &'static Location<'static>, address: usize, name: &str) -> Self {
        // Names that are used together mostly differ in their length or their end.
        let mix = |sum: usize, &byte: &u8| sum.wrapping_mul(31).wrapping_add(byte.into());
        let hash = name.as_bytes().iter().rev().take(8).fold(name.len(), mix);
        LATELY_NAMED.with(|lately| {
            let cell = &lately[(address >> 3).wrapping_add(hash) % REMEMBERED_SITES];
            let (known, id) = cell.get();
            if known == address && id.get().name.as_deref() == Some(name) {
                return id;
            }
            let id = Self::look_up(location, Some(name));
            cell.set((address, id));
            id
        })
    }

    #[cold]
    #[inline(never)]
    fn look_up(location: &'static Location<'static>, name: Option<&str>) -> Self {
        #[cfg(test)]
        LOOK_UPS.set(LOOK_UPS.get() + 1);
        let known = KNOWN.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(id) = known.find(location, name) {
            return id;
        }
        drop(known);
        let mut known = KNOWN.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        // Another thread may have added it meanwhile.
        known.find(location, name).unwrap_or_else(|| known.add(location, name))
    }

    /// Returns the site.
    pub(crate) fn get(self) -> &'static Site {
        let index = self.index();
        let site =
            || SITES[index / CHUNK_SITES].get().and_then(|chunk| chunk[index % CHUNK_SITES].get());
        site().unwrap_or_else(|| {
            // The number came in a way that orders nothing. The lock does, because the site was stored under it.
            drop(KNOWN.read());
            site().expect("a site is stored before its number is known")
        })
    }

    /// Returns the number.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }

    /// Returns the number of a site that was made by [`of`](Self::of).
    pub(crate) fn from_index(index: usize) -> Self {
        Self(index as u16)
    }

    /// Returns the number of sites. Site 0 stands for those for which there was no room.
    pub(crate) fn count() -> usize {
        KNOWN.read().unwrap_or_else(|poisoned| poisoned.into_inner()).count
    }
}

impl LocationKey {
    fn new(location: &'static Location<'static>) -> Self {
        Self { file: location.file(), line: location.line(), column: location.column() }
    }
}

impl Known {
    fn find(&self, location: &'static Location<'static>, name: Option<&str>) -> Option<SiteId> {
        let sites = self.places.get(&LocationKey::new(location))?;
        let named = |name: Option<&str>| sites.get(&name).copied();
        named(name).or_else(|| if sites.len() < SITE_NAMES { None } else { named(None) })
    }

    fn add(&mut self, location: &'static Location<'static>, name: Option<&str>) -> SiteId {
        let index = self.count;
        if index == CHUNK_SITES * SITE_CHUNKS {
            return SiteId(0);
        }
        let sites = self.places.entry(LocationKey::new(location)).or_default();
        let name = name.filter(|_| sites.len() < SITE_NAMES);
        let chunk = SITES[index / CHUNK_SITES]
            .get_or_init(|| (0..CHUNK_SITES).map(|_| OnceLock::new()).collect::<Vec<_>>().into());
        let site = chunk[index % CHUNK_SITES].get_or_init(|| Site {
            location,
            name: name.map(Into::into),
            computes: AtomicBool::new(false),
        });
        let id = SiteId(index as u16);
        sites.insert(site.name.as_deref(), id);
        self.count += 1;
        id
    }
}

#[cfg(test)]
thread_local! {
    /// How often this thread has asked the table.
    static LOOK_UPS: Cell<usize> = const { Cell::new(0) };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[track_caller]
    fn here(name: Option<&str>) -> SiteId {
        SiteId::of(Location::caller(), name)
    }

    #[test]
    fn a_place_has_one_number_on_all_threads_and_each_of_its_names_another() {
        let number = |name: Option<&'static str>| here(name);
        let plain = number(None);
        assert_eq!(plain, number(None));
        assert_eq!(plain, std::thread::spawn(move || number(None)).join().unwrap());
        let named = number(Some("a"));
        assert_ne!(plain, named);
        assert_eq!(named, number(Some("a")));
        assert_eq!(named.get().name.as_deref(), Some("a"));
        assert_eq!(named.get().location, plain.get().location);
        assert_ne!(plain, here(None), "another place");
    }

    /// Each spawn with a name took the lock of the table, which all threads share.
    #[test]
    fn a_name_is_looked_up_once() {
        let before = LOOK_UPS.get();
        let names = ["request", "session", "flush"];
        let spawn = |name: &str| here(Some(name));
        let ids = names.map(spawn);
        for _ in 0..1_000 {
            assert_eq!(names.map(spawn), ids);
        }
        let look_ups = LOOK_UPS.get() - before;
        assert!(look_ups <= names.len(), "{look_ups} of {} names", names.len());
        assert_ne!(here(Some("request")), ids[0], "another place");
    }

    #[test]
    fn names_without_end_make_no_sites_without_end() {
        let name = |index: usize| format!("connection {index}");
        let before = SiteId::count();
        let ids: Vec<_> = (0..10 * SITE_NAMES).map(|index| here(Some(&name(index)))).collect();
        let last = ids.last().unwrap();
        assert_eq!(last.get().name, None, "it counts for its place");
        assert_eq!(last, &ids[ids.len() - 2]);
        assert_eq!(last.get().location.file(), file!());
        assert_eq!(ids[1].get().name.as_deref(), Some("connection 1"), "the first names are kept");
        assert!(SiteId::count() <= before + 2 * SITE_NAMES);
    }
}
