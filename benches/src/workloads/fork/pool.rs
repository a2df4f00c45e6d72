//! The fork-join peers, behind one trait that adds nothing to what they do.

use std::num::NonZero;

use crate::peers::WORKERS;

/// A pool for fork-join. chili and forte hand a scope down through all calls; the others need none.
pub(crate) trait ForkPeer: 'static {
    const NAME: &'static str;
    type Scope<'s>;

    /// Starts a pool, and runs `f` on it.
    fn run<R: Send>(f: impl FnOnce(&mut Self::Scope<'_>) -> R + Send) -> R;

    fn join<A, B, RA, RB>(scope: &mut Self::Scope<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Self::Scope<'_>) -> RA + Send,
        B: FnOnce(&mut Self::Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send;
}

/// One after the other, on the calling thread.
pub(crate) struct Sequential;

impl ForkPeer for Sequential {
    const NAME: &'static str = "sequential";
    type Scope<'s> = ();

    fn run<R: Send>(f: impl FnOnce(&mut ()) -> R + Send) -> R {
        f(&mut ())
    }

    #[inline(always)]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        (a(&mut ()), b(&mut ()))
    }
}

pub(crate) struct Rayon;

impl Rayon {
    pub(crate) fn pool() -> rayon::ThreadPool {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(WORKERS);
        builder.build().expect("rayon starts")
    }
}

impl ForkPeer for Rayon {
    const NAME: &'static str = "rayon";
    type Scope<'s> = ();

    fn run<R: Send>(f: impl FnOnce(&mut ()) -> R + Send) -> R {
        Rayon::pool().install(|| f(&mut ()))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }
}

pub(crate) struct Chili;

impl ForkPeer for Chili {
    const NAME: &'static str = "chili";
    type Scope<'s> = chili::Scope<'s>;

    fn run<R: Send>(f: impl FnOnce(&mut chili::Scope<'_>) -> R + Send) -> R {
        // The thread that calls works along.
        let threads = NonZero::new(WORKERS);
        let config = chili::Config { thread_count: threads, ..chili::Config::default() };
        f(&mut chili::ThreadPool::with_config(config).scope())
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(scope: &mut chili::Scope<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut chili::Scope<'_>) -> RA + Send,
        B: FnOnce(&mut chili::Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        scope.join(a, b)
    }
}

pub(crate) struct Forte;

/// Its pools have to live for ever.
static FORTE: forte::ThreadPool = forte::ThreadPool::new();

impl ForkPeer for Forte {
    const NAME: &'static str = "forte";
    type Scope<'s> = &'s forte::Worker;

    fn run<R: Send>(f: impl FnOnce(&mut &forte::Worker) -> R + Send) -> R {
        // The thread that calls works along.
        FORTE.resize_to(WORKERS - 1);
        FORTE.with_worker(|mut worker| f(&mut worker))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(scope: &mut &forte::Worker, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut &forte::Worker) -> RA + Send,
        B: FnOnce(&mut &forte::Worker) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        scope.join(|mut worker| a(&mut worker), |mut worker| b(&mut worker))
    }
}

pub(crate) struct ForksOn<const OBSERVED: bool>;

pub(crate) type Forks = ForksOn<true>;
/// Without observation, to see what that costs.
pub(crate) type Unobserved = ForksOn<false>;

impl<const OBSERVED: bool> ForkPeer for ForksOn<OBSERVED> {
    const NAME: &'static str = if OBSERVED { "windlass" } else { "windlass-unobserved" };
    type Scope<'s> = ();

    fn run<R: Send>(f: impl FnOnce(&mut ()) -> R + Send) -> R {
        let builder = windlass::Builder::new().workers(WORKERS).observe(OBSERVED);
        let runtime = builder.build().expect("windlass starts");
        runtime.handle().install(|| f(&mut ()))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        windlass::join(|| a(&mut ()), || b(&mut ()))
    }
}
